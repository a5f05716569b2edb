// The section that a call selects.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "nc/queue/puts.hpp"
#include "pnetcdf/engine/data/arrays.hpp"
#include "pnetcdf/engine/layout.hpp"

namespace thalweg::pnetcdf::engine {

using namespace nc;

// The part of a variable that a call selects, and the array for it.
struct Selection {
    int varid = 0;
    std::vector<Entry> parts;  // without values; the parts follow each other in the array
    Index elements = 0;
    Array array;

    // Tests if the selection is a single part of the call's own variable.
    bool is_one() const { return parts.size() == 1 && parts.front().varid == varid; }
};

// Finds what calls select, with PnetCDF's checks in its order.
class Selector {
public:
    Selector(Definitions& definitions, Puts& puts, const Layout& layout)
        : definitions_(definitions), table_(definitions.table), puts_(puts), layout_(layout) {}

    Selection select(const DataCall& call);

private:
    // Boxes of varn calls, of any variable and record.
    struct KnownPieces {
        Key key{};
        Entry part;
    };

    Definitions& definitions_;
    Table& table_;
    Puts& puts_;
    const Layout& layout_;
    std::vector<KnownPieces> known_pieces_;
    // A start index must lie in the dimension even if the count is 0 (PNETCDF_RELAX_COORD_BOUND).
    const bool strict_bounds_ = is_strict();
    Shape numbers_;  // lengths, starts and counts of the last such call

    static bool is_strict();
    void add_section(const Variable& v, const DataCall& call, Selection& s);
    void add_pieces(const Variable& v, const DataCall& call, Selection& s);
    void add_new_pieces(const Variable& v, const DataCall& call, Selection& s);
    Key key_of_pieces(const Variable& v, const DataCall& call);
    void add_places(const Variable& v, const DataCall& call, Selection& s);
    Shape lengths_for(const Variable& v, bool reading);
    // @param lengths  the variable's lengths, see lengths_for()
    void check_bounds(const Variable& v, const Shape& lengths, bool reading, bool whole,
                      const MPI_Offset* start, const MPI_Offset* count,
                      const MPI_Offset* stride) const;
};

// Returns a variable by its id. Throws a separate error for NC_GLOBAL.
Variable& variable_of(Definitions& definitions, int varid);

}  // namespace thalweg::pnetcdf::engine
