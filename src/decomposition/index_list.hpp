// Lists of global indices, compressed: a list that is really a block costs no more than a block.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/text/index_convention.hpp"
#include "index/box.hpp"

namespace thalweg::detail {

/// A run: elements that are consecutive in the global index space and in memory. It takes 16 bytes.
class Run {
public:
    static constexpr std::int64_t longest = (std::int64_t(1) << 24) - 1;
    static constexpr std::int64_t most_positions = std::int64_t(1) << 40;

    Run() = default;
    Run(std::int64_t global, std::int64_t position, std::int64_t length)
        : global_(global), place_(static_cast<std::uint64_t>(position) << 24 | length) {}

    std::int64_t global() const { return global_; }
    std::int64_t position() const { return place_ >> 24; }
    std::int64_t length() const { return place_ & longest; }
    std::int64_t end() const { return global_ + length(); }

    /// Compares by global index; equal indices by position.
    friend bool operator<(const Run& a, const Run& b) {
        return a.global_ != b.global_ ? a.global_ < b.global_ : a.place_ < b.place_;
    }

private:
    std::int64_t global_ = 0;
    std::uint64_t place_ = 0;  ///< position and length, packed into one number
};
static_assert(sizeof(Run) == 16);

/// A list of indices as sorted runs, none of which extends beyond a row of the fastest listed
/// dimension. Runs are disjoint, unless all have length 1.
struct IndexList {
    std::vector<Run> runs;
    std::int64_t elements = 0;  ///< number of elements, without holes
};

/**
 * Compresses a list of indices, in which -1 is a hole.
 * @param total   number of indices in the space
 * @param row     length of the fastest listed dimension
 * @param shared  indices may occur more than once
 * @param twice   receives an index that occurs twice, if that is an error
 * @return TW_EBOUNDS with position and value; TW_EOVERLAP with both positions
 */
Status compress(std::span<const std::int64_t> indices, std::int64_t total, std::int64_t row,
                bool shared, IndexList& list, std::int64_t& twice, IndexConvention wording = {});

/// Returns the first position of an index in a list; -1 if the list does not contain it.
std::int64_t find_position(const IndexList& list, std::int64_t global);

/// Sorts runs by index, and equal indices by position, in linear time.
void sort_in_place(std::span<Run> runs);

/// Sorts runs, and joins runs that are contiguous within a row.
void sort_runs(std::vector<Run>& runs, std::int64_t row);

/// A list of indices over some dimensions of a variable, in the variable's own order of dimensions.
struct Listing {
    std::shared_ptr<const IndexList> list;
    /// Numbers of the listed dimensions in the variable, ascending.
    std::vector<int> dims;
    std::vector<std::int64_t> shape;  ///< lengths of the listed dimensions

    bool covers(int dim) const { return std::ranges::count(dims, dim) > 0; }

    /// Returns the runs that may have elements in a box of the variable.
    std::span<const Run> near(const Box& box) const;

    /// Calls visit(part, position, run) for the list's elements inside a box of the variable, in
    /// ascending order. `part` is a box inside one row, `position` the position of its first
    /// element in the list, and `run` the run to which it belongs.
    template <class Visit>
    void for_runs(const Box& box, Visit&& visit) const {
        Box part = box;
        const int fastest = dims.back();
        const std::int64_t low = box.low[fastest], high = low + box.count[fastest];
        const std::int64_t row = shape.back();
        std::int64_t row_begin = dims.size() == 1 ? 0 : -row;
        bool inside = true;
        for (const Run& run : near(box)) {
            if (run.global() - row_begin >= row && dims.size() > 1) {
                std::int64_t rest = run.global() / row;
                row_begin = rest * row;
                inside = true;
                for (std::size_t i = dims.size() - 1; i-- > 0;) {
                    const int d = dims[i];
                    part.low[d] = rest % shape[i];
                    part.count[d] = 1;
                    rest /= shape[i];
                    inside &= part.low[d] >= box.low[d] && part.low[d] < box.low[d] + box.count[d];
                }
            }
            if (!inside) continue;
            const std::int64_t at = run.global() - row_begin;
            const std::int64_t begin = at < low ? low : at;
            const std::int64_t end = at + run.length() < high ? at + run.length() : high;
            if (begin >= end) continue;
            part.low[fastest] = begin;
            part.count[fastest] = end - begin;
            visit(std::as_const(part), run.position() + (begin - at), run);
        }
    }

    /// Tests if the whole list is inside a box. May return false where the test would take long.
    bool is_inside(const Box& box) const;

    /// Returns the number of the list's elements inside a box.
    std::int64_t count(const Box& box) const;

    /// Tests if the list has elements inside a box.
    bool meets(const Box& box) const;

    /// Returns the part of the list inside a box. Its positions are 0, 1, ... in ascending order of
    /// the indices.
    std::shared_ptr<const Listing> within(const Box& box) const;

    /// Returns the part of the list inside a box, with indices relative to the box and positions in
    /// this list.
    std::shared_ptr<const Listing> part(const Box& box) const;

    /// Returns all runs, uncut, that have elements inside any of the boxes.
    std::shared_ptr<const Listing> touching(std::span<const Box> boxes) const;

    /// Returns the extents of a dense array for the list's elements inside a box, in the variable's
    /// order of dimensions. The fastest listed dimension has the number of elements, other listed
    /// dimensions have 1.
    Index dense_shape(const Box& box) const;
};

/// Returns a list of the elements of all lists. Each element occurs once, in ascending order, with
/// positions 0, 1, ...
std::shared_ptr<const Listing> unite(std::span<const std::shared_ptr<const Listing>> listings);

/// Appends the global indices of runs to a message, with a few bytes for each run.
void append_runs(std::vector<std::int64_t>& words, std::span<const Run> runs);
/// Reads runs from a message and gives them positions 0, 1, ... Returns the address after them.
const std::int64_t* parse_runs(const std::int64_t* words, IndexList& list);

}  // namespace thalweg::detail
