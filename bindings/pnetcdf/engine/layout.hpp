// The addresses of the data in an open file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "nc/state/state.hpp"

namespace thalweg::pnetcdf::engine {

// The addresses of the header and data in a classic file.
struct Places {
    nc::Index header = 0, extent = 0, record_bytes = 0;
    nc::Index fixed_end = 0;       // end of the fixed-size variables
    std::vector<nc::Index> begin;  // address of each variable's data
};

class Layout : public nc::Events {
public:
    // @param placed_by_program  the addresses follow from the definitions
    Layout(const nc::Session& session, nc::Definitions& definitions, bool placed_by_program)
        : session_(session), definitions_(definitions), placed_by_program_(placed_by_program) {}

    // Returns the places of the data. Throws NC_ENOTSUPPORT if a setting makes them unpredictable.
    Places places() const;
    nc::Index header_size() const;
    // Sets the spacing of a new file when its definitions end.
    // @param asked  free bytes and alignments that the program wants; alignments of 0: PnetCDF's
    // @param vars   hint of the program for variables; 0: none
    // @param records  the same for records
    void set(const detail::HeaderPadding& asked, nc::Index vars, nc::Index records);
    // Extends a new file to the end of its fixed-size variables, so that a rank can read them
    // before all ranks have written.
    // @note Collective
    void extend() const;
    // Computes the places of the data, and replaces them by the root's: the file gets the
    // attributes of the root, which may be longer than those of this rank.
    // @note Collective
    void laid_out() override;

private:
    const nc::Session& session_;
    nc::Definitions& definitions_;
    bool placed_by_program_;
    Places places_;  // places in a new file whose header was written

    Places planned() const;
};

}  // namespace thalweg::pnetcdf::engine
