// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/data/file_types.hpp"

#include <netcdf.h>

#include <utility>

#include "pnetcdf/engine/codes.hpp"

namespace thalweg::pnetcdf::engine {

using nc::Index;

TypeContents::TypeContents(MPI_Datatype type) {
    int numbers = 0, addresses = 0, types = 0;
    MPI_Type_get_envelope(type, &numbers, &addresses, &types, &combiner);
    if (predefined()) return;
    n.resize(static_cast<std::size_t>(numbers));
    at.resize(static_cast<std::size_t>(addresses));
    inner.resize(static_cast<std::size_t>(types));
    MPI_Type_get_contents(type, numbers, addresses, types, n.data(), at.data(), inner.data());
}

TypeContents::~TypeContents() {
    for (MPI_Datatype& type : inner) {
        int numbers = 0, addresses = 0, types = 0, how = 0;
        MPI_Type_get_envelope(type, &numbers, &addresses, &types, &how);
        if (how != MPI_COMBINER_NAMED) MPI_Type_free(&type);
    }
}

int type_of(MPI_Datatype datatype) {
    struct Pair {
        MPI_Datatype datatype;
        int type;
    };
    const Pair pairs[] = {{MPI_CHAR, NC_CHAR},
                          {MPI_CHARACTER, NC_CHAR},
                          {MPI_SIGNED_CHAR, NC_BYTE},
                          {MPI_INTEGER1, NC_BYTE},
                          {MPI_UNSIGNED_CHAR, NC_UBYTE},
                          {MPI_BYTE, NC_UBYTE},
                          {MPI_SHORT, NC_SHORT},
                          {MPI_INTEGER2, NC_SHORT},
                          {MPI_UNSIGNED_SHORT, NC_USHORT},
                          {MPI_INT, NC_INT},
                          {MPI_INTEGER, NC_INT},
                          {MPI_INTEGER4, NC_INT},
                          {MPI_UNSIGNED, NC_UINT},
                          {MPI_LONG, NC_INT64},
                          {MPI_INTEGER8, NC_INT64},
                          {MPI_LONG_LONG_INT, NC_INT64},
                          {MPI_UNSIGNED_LONG, NC_UINT64},
                          {MPI_UNSIGNED_LONG_LONG, NC_UINT64},
                          {MPI_FLOAT, NC_FLOAT},
                          {MPI_REAL, NC_FLOAT},
                          {MPI_REAL4, NC_FLOAT},
                          {MPI_DOUBLE, NC_DOUBLE},
                          {MPI_DOUBLE_PRECISION, NC_DOUBLE},
                          {MPI_REAL8, NC_DOUBLE}};
    for (const Pair& p : pairs)
        if (p.datatype == datatype) return p.type;
    return NC_NAT;
}

int element_of(MPI_Datatype datatype) {
    const auto refuse = [](int code, const char* why) { throw nc::Error{code, why}; };
    const TypeContents c(datatype);
    int found = type_of(datatype);
    if (c.predefined()) {
        if (found == NC_NAT) refuse(NC_EUNSPTETYPE, "an MPI datatype that PnetCDF does not know");
        return found;
    }
    if (c.combiner == MPI_COMBINER_F90_INTEGER || c.combiner == MPI_COMBINER_F90_REAL ||
        c.combiner == MPI_COMBINER_F90_COMPLEX)
        refuse(NC_EUNSPTETYPE, "an MPI datatype of Fortran's kinds");
    for (const MPI_Datatype inner : c.inner) {
        const int type = element_of(inner);
        if (found != NC_NAT && type != found)
            refuse(NC_EMULTITYPES, "an MPI datatype with elements of several types");
        found = type;
    }
    if (found == NC_NAT) refuse(NC_EUNSPTETYPE, "an MPI datatype without elements");
    return found;
}

namespace {

Index size_of_type(MPI_Datatype type) {
    MPI_Count bytes = 0;
    MPI_Type_size_x(type, &bytes);
    return bytes;
}

Index extent_of(MPI_Datatype type) {
    MPI_Count low = 0, extent = 0;
    MPI_Type_get_extent_x(type, &low, &extent);
    return extent;
}

class Flattening {
public:
    void add(MPI_Datatype type, Index offset) {
        const TypeContents c(type);
        if (c.predefined()) return add_run(offset, size_of_type(type));
        const MPI_Datatype inner = c.inner.front();
        const Index extent = extent_of(inner);
        const auto n = [&](std::size_t i) { return Index{c.n[i]}; };
        const auto several = [&](Index blocks, auto length, auto place) {
            for (Index i = 0; i < blocks; i++) add_block(inner, length(i), offset + place(i));
        };
        const auto numbered = [&](Index first) {
            return [&c, first](Index i) { return Index{c.n[static_cast<std::size_t>(first + i)]}; };
        };
        const auto addressed = [&](Index i) { return Index{c.at[static_cast<std::size_t>(i)]}; };
        const auto length = [&](std::size_t i) { return [&, i](Index) { return n(i); }; };
        switch (c.combiner) {
            case MPI_COMBINER_DUP:
            case MPI_COMBINER_RESIZED: return add(inner, offset);
            case MPI_COMBINER_CONTIGUOUS: return add_block(inner, n(0), offset);
            case MPI_COMBINER_VECTOR:
                return several(n(0), length(1), [&](Index i) { return i * n(2) * extent; });
            case MPI_COMBINER_HVECTOR:
                return several(n(0), length(1), [&](Index i) { return i * Index{c.at[0]}; });
            case MPI_COMBINER_INDEXED:
                return several(n(0), numbered(1),
                               [&](Index i) { return numbered(1 + n(0))(i) * extent; });
            case MPI_COMBINER_HINDEXED: return several(n(0), numbered(1), addressed);
            case MPI_COMBINER_INDEXED_BLOCK:
                return several(n(0), length(1), [&](Index i) { return numbered(2)(i) * extent; });
            case MPI_COMBINER_HINDEXED_BLOCK: return several(n(0), length(1), addressed);
            case MPI_COMBINER_STRUCT:
                for (Index i = 0; i < n(0); i++)
                    add_block(c.inner[static_cast<std::size_t>(i)], numbered(1)(i),
                              offset + addressed(i));
                return;
            case MPI_COMBINER_SUBARRAY: return add_subarray(c, offset, extent);
            default:
                throw nc::Error{NC_ENOTSUPPORT, "an MPI datatype of a kind that is not supported"};
        }
    }

    std::vector<Run> runs;

private:
    void add_run(Index offset, Index bytes) {
        if (bytes == 0) return;
        if (!runs.empty() && runs.back().offset + runs.back().bytes == offset)
            runs.back().bytes += bytes;
        else
            runs.push_back({offset, bytes});
    }

    void add_block(MPI_Datatype type, Index n, Index offset) {
        const Index size = size_of_type(type), extent = extent_of(type);
        if (size == extent && TypeContents(type).predefined()) return add_run(offset, n * size);
        for (Index i = 0; i < n; i++) add(type, offset + i * extent);
    }

    // Adds the rows of a subarray. `c.n` has the number of dimensions; then, for all dimensions,
    // the lengths of the array, the lengths of the part, and the start of the part; and the order
    // of the dimensions.
    void add_subarray(const TypeContents& c, Index offset, Index extent) {
        const auto dims = static_cast<std::size_t>(c.n[0]);
        const bool slowest_first = c.n[1 + 3 * dims] == MPI_ORDER_C;
        const auto number = [&](std::size_t list, std::size_t d) {  // d = 0: fastest dimension
            return Index{c.n[1 + list * dims + (slowest_first ? dims - 1 - d : d)]};
        };
        Index rows = 1;
        for (std::size_t d = 0; d < dims; d++) {
            if (number(1, d) == 0) return;
            if (d > 0) rows *= number(1, d);
        }
        for (Index row = 0; row < rows; row++) {
            Index rest = row, at = number(2, 0), step = number(0, 0);
            for (std::size_t d = 1; d < dims; d++) {
                at += (number(2, d) + rest % number(1, d)) * step;
                rest /= number(1, d);
                step *= number(0, d);
            }
            add_block(c.inner.front(), number(1, 0), offset + at * extent);
        }
    }
};

}  // namespace

std::vector<Run> runs_of(MPI_Datatype datatype) {
    Flattening all;
    all.add(datatype, 0);
    return std::move(all.runs);
}

}  // namespace thalweg::pnetcdf::engine
