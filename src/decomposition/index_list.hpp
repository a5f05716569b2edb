// Lists of global indices, compressed: what is a block in truth costs like one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/wording.hpp"
#include "index/box.hpp"

namespace thalweg::detail {

/// Elements that follow one another in the global index space and in memory. 16 bytes.
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

    /// By global index, then by position.
    friend bool operator<(const Run& a, const Run& b) {
        return a.global_ != b.global_ ? a.global_ < b.global_ : a.place_ < b.place_;
    }

private:
    std::int64_t global_ = 0;
    std::uint64_t place_ = 0;  ///< position and length
};
static_assert(sizeof(Run) == 16);

/// Sorted runs, none of which goes beyond its row (of the fastest listed dimension). They share no
/// element, unless all have length 1.
struct IndexList {
    std::vector<Run> runs;
    std::int64_t elements = 0;  ///< holes left out
};

/**
 * Compresses a list; -1 is a hole.
 * @param total   indices are below it
 * @param row     length of the fastest listed dimension
 * @param shared  whether an index may occur more than once
 * @param twice   receives the index that does, if it may not
 * @return TW_EBOUNDS with position and value; TW_EOVERLAP with both positions
 */
Status compress(std::span<const std::int64_t> indices, std::int64_t total, std::int64_t row,
                bool shared, IndexList& list, std::int64_t& twice, Wording wording = {});

/// The first position of an index in a list, -1 if it is not there.
std::int64_t find_position(const IndexList& list, std::int64_t global);

/// Sorts runs, and joins those that continue each other within a row.
void sort_runs(std::vector<Run>& runs, std::int64_t row);

/// An index list over some dimensions of a variable, in the variable's own order of dimensions.
struct Listing {
    std::shared_ptr<const IndexList> list;
    std::vector<int> dims;            ///< the listed dimensions of the variable, ascending
    std::vector<std::int64_t> shape;  ///< their lengths

    bool covers(int dim) const {
        for (const int d : dims)
            if (d == dim) return true;
        return false;
    }

    /// The runs that may meet a box of the variable.
    std::span<const Run> near(const Box& box) const;

    /// Calls visit(part, position, run) for what the list has of a box of the variable, in
    /// ascending order of the indices: a box within one row, where in the list its first element
    /// is, and the run that it is of.
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

    /// Whether nothing of the list is outside a box; false also where that is hard to tell.
    bool is_inside(const Box& box) const;

    /// Positions of the list that lie in a box.
    std::int64_t count(const Box& box) const;

    /// Whether the list has anything of a box.
    bool meets(const Box& box) const;

    /// What the list has of a box, at positions 0, 1, ... in ascending order of the indices.
    std::shared_ptr<const Listing> within(const Box& box) const;

    /// What the list has of a box, in the box's own indices, at its positions of the list.
    std::shared_ptr<const Listing> part(const Box& box) const;

    /// The runs that meet some of the boxes, whole.
    std::shared_ptr<const Listing> touching(std::span<const Box> boxes) const;

    /// Lengths of the array in which what the list has of a box lies dense, in the variable's order
    /// of dimensions: along the fastest listed one the list, along other listed ones 1.
    Index dense_shape(const Box& box) const;
};

/// The same elements once each, in ascending order at positions 0, 1, ...
std::shared_ptr<const Listing> unite(std::span<const std::shared_ptr<const Listing>> listings);

/// The global side of runs, as words of a message: a few bytes a run.
void append_runs(std::vector<std::int64_t>& words, std::span<const Run> runs);
/// The reverse, at positions 0, 1, ...; returns the words behind it.
const std::int64_t* parse_runs(const std::int64_t* words, IndexList& list);

}  // namespace thalweg::detail
