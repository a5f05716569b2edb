// What a layout comes to, seen at some of its writers and some pieces of each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "planning/blocks.hpp"

namespace thalweg::planning {

/// What was seen of a writer's share.
struct Look {
    double bytes = 0;
    double calls = 0;     ///< writes
    double seen = 0;      ///< bytes of the pieces that were looked at
    double local = 0;     ///< of these, held on the writer's node
    double sources = 0;   ///< other nodes that a piece comes from, on average
    std::set<int> met{};  ///< other nodes that hold some of them
    double locked = 0;    ///< blocks of the share that go from one node to another
};

/// All ranks go through the pieces together. What the busiest one does of a few pieces at a time,
/// of all pieces; as much as an average one does, where all have the same part of those.
struct Unevenness {
    double packed = 0;    ///< bytes, of a rank
    double received = 1;  ///< from other nodes, of a writer: times the average
};

class Looks {
public:
    Looks(const Run& run, const Holders& holders, const RecordSpace& record, const Blocks& blocks)
        : run_(run), holders_(holders), record_(record), blocks_(blocks) {}

    /// Other nodes that may hold some of a writer's share, whatever the record.
    double nodes_met(const Laid& laid, int writer, std::int64_t piece) const;
    Look at(const Laid& laid, int writer, std::int64_t piece) const;
    /// How unevenly the work of a few pieces at a time is spread.
    /// @param busy    writers that have something, spread over all of them
    /// @param active  writers that write at a time, which follow one another in the file
    Unevenness unevenness(const Laid& laid, const std::vector<int>& busy, std::int64_t piece,
                          double active) const;

private:
    struct Lanes;
    Lanes lanes_of(const Laid& laid, const std::vector<int>& writers, std::int64_t piece) const;
    std::vector<double> received_in(const Lanes& lanes, std::int64_t window, std::int64_t piece,
                                    std::vector<std::pair<std::size_t, detail::Box>>& boxes) const;
    void at_piece(const Laid& laid, const detail::Share& share, detail::Extent piece, int node,
                  Look& look, std::set<int>& sources, std::set<std::int64_t>& blocks) const;
    std::vector<double> packed_by_ranks(
        const std::vector<std::pair<std::size_t, detail::Box>>& boxes, int node) const;

    const Run& run_;
    const Holders& holders_;
    const RecordSpace& record_;
    const Blocks& blocks_;
};

/// Runs in the file of a box of an array.
double runs_of(std::span<const std::int64_t> box, std::span<const std::int64_t> whole);

/// Writes of some runs of equal length. @param bytes  of all
double calls_of(double runs, double bytes, double piece);

}  // namespace thalweg::planning
