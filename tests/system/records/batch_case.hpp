// Random batches: puts of each rank, their records, and their order; in a new file, or in one of an
// earlier run.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "support/parts.hpp"
#include "thalweg/thalweg.h"

namespace batches {

constexpr double fill_value = 99;  // which no operation puts

struct Variable {
    std::string name, dims;
    tw_type type;
    bool record;
    std::vector<std::int64_t> shape;  // lengths without the record dimension
    int declared = -1;                // number of the variable's decomposition; -1: none
    std::string settings;
    // Storage in a netCDF-4 file that netCDF-C makes:
    std::vector<std::size_t> chunk;  // chunk length in each dimension; empty: netCDF-C's default
    int deflate = 0;
    bool shuffle = false, sum = false;

    std::int64_t elements() const {
        return std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>());
    }
};

enum class Kind { put, deferred, record, record_deferred, whole, box, part };
struct Op {
    Kind kind;
    int variable;
    int cells;
    std::int64_t record;
    int reach = 1;        // number of records, from `record` on, that a box may touch
    int version = 0;      // of the values, where a record is put twice in a step
    int who = -1;         // rank that alone puts the record, or alone does not; -1: all ranks do
    bool others = false;  // all ranks but `who` put the record

    bool is_box() const { return kind >= Kind::box; }
    bool puts(int rank) const { return who < 0 || (rank == who) != others; }
};
struct Step {
    std::vector<Op> ops;
    bool sync;
    int sync_before = -1;  // call tw_sync before this operation; -1: never
    bool reopen = false;   // close the file before this step, and continue it
    bool open = false;     // the step is not ended
};

struct Case {
    std::uint64_t seed = 0;
    std::int64_t nz, ny, nx;
    std::string format, tiles;  // tiles: MxN for a set of files; empty: one file
    int parts = 1;              // number of files
    bool plain = false;         // all operations are tw_put
    std::vector<Variable> variables;
    std::vector<parts::Decomposition> cells;  // of "z y x"
    std::vector<Step> steps;
    std::string file;

    std::shared_ptr<const Case> before;  // the run that has made the file; null: it is new
    int ranks_before = 0;                // ranks of that run; 0: netCDF-C has made the file
    std::int64_t first = -1;             // tw_set_record is called with this record; -1: it is not
    bool drop = false;
    std::size_t pad = 4096, align = 4, between = 0;  // spaces in a file of netCDF-C

    bool netcdf4() const { return format.starts_with("netcdf4"); }
};

// A rank's box: some of its own rows, or the inner part of them, in one record or several, possibly
// with strides; or a part of its first box of a decomposition.
struct BoxOf {
    std::int64_t records, record_step = 1, z0, z1, y0, y1, x0, x1, y_step = 1, x_step = 1;

    bool empty() const { return records == 0 || z1 == z0 || y1 == y0 || x1 == x0; }
    std::int64_t rows() const { return (y1 - y0 + y_step - 1) / y_step; }
    std::int64_t columns() const { return (x1 - x0 + x_step - 1) / x_step; }
};

/// Limits for random cases.
struct Bounds {
    std::int64_t steps = 6;
    std::int64_t nx = 1500;
    bool packed = false;  ///< the file is netCDF-4 with compressed chunks
    int tiles = 0;        ///< most files of a set of tiles; 0: no sets, and no earlier runs
    bool again = false;  ///< ranks put records again, or only some ranks do, or steps are too large
};
/// @param nodes  there are several nodes
Case make_case(std::uint64_t seed, int ranks, const std::string& service, bool nodes,
               const Bounds& bounds = {});

/// Returns the value that an operation puts in an element of a record (z, y, x).
double value(const Case& c, std::size_t step, const Op& op, std::int64_t element);
/// Returns the number of an element of a record, given its index in a decomposition.
std::int64_t element_of(const Case& c, const parts::Decomposition& cells,
                        const std::vector<std::int64_t>& index);
BoxOf box_of(const Case& c, const Op& op, std::size_t step, int rank, int ranks);

/// Calls visit(record, element of the record, value) for each element of a box, in memory order.
template <class Visit>
void for_box(const Case& c, const BoxOf& b, Op op, std::size_t step, Visit&& visit) {
    for (std::int64_t r = 0; r < b.records; ++r, op.record += b.record_step)
        for (std::int64_t z = b.z0; z < b.z1; ++z)
            for (std::int64_t y = b.y0; y < b.y1; y += b.y_step)
                for (std::int64_t x = b.x0; x < b.x1; x += b.x_step) {
                    const std::int64_t element = (z * c.ny + y) * c.nx + x;
                    visit(op.record, element, value(c, step, op, element));
                }
}

}  // namespace batches
