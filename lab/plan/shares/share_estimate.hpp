// Estimates the work of a layout from a sample of its writers and pieces.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "plan/shares/blocks.hpp"

namespace thalweg::planning {

/// An estimate of the work of one writer, from a sample of its share.
struct ShareEstimate {
    double bytes = 0;
    double calls = 0;     ///< number of writes
    double seen = 0;      ///< bytes in the sampled pieces
    double local = 0;     ///< number of these bytes that ranks of the writer's node hold
    double sources = 0;   ///< mean number of other nodes that hold data of a piece
    std::set<int> met{};  ///< other nodes that hold some of the sampled bytes
    double locked = 0;    ///< number of blocks in the share that pass from one node to another
};

/// The imbalance of the work. All ranks go through the pieces together, so each window of a few
/// pieces takes as long as its busiest rank needs.
struct Unevenness {
    double packed = 0;    ///< bytes that are packed by the ranks for which others wait
    double received = 1;  ///< bytes that the busiest writer receives, divided by the mean
};

/// Estimates the work of the shares of a layout.
class ShareEstimator {
public:
    ShareEstimator(const Run& run, const Holders& holders, const RecordSpace& record,
                   const Blocks& blocks)
        : run_(run), holders_(holders), record_(record), blocks_(blocks) {}

    /// Returns the number of other nodes that may hold some of a writer's share, in any record.
    double nodes_met(const MappedLayout& mapped, int writer, std::int64_t piece) const;
    ShareEstimate at(const MappedLayout& mapped, int writer, std::int64_t piece) const;
    /// Measures the imbalance in windows of a few pieces.
    /// @param busy a sample of the writers that own data
    /// @param active number of writers that write at the same time; they are adjacent in the file
    Unevenness unevenness(const MappedLayout& mapped, const std::vector<int>& busy,
                          std::int64_t piece, double active) const;

private:
    struct Lanes;
    Lanes lanes_of(const MappedLayout& mapped, const std::vector<int>& writers,
                   std::int64_t piece) const;
    std::vector<double> received_in(const Lanes& lanes, std::int64_t window, std::int64_t piece,
                                    std::vector<std::pair<std::size_t, detail::Box>>& boxes) const;
    void at_piece(const MappedLayout& mapped, const detail::Share& share, detail::Extent piece,
                  int node, ShareEstimate& estimate, std::set<int>& sources,
                  std::set<std::int64_t>& blocks) const;
    std::vector<double> packed_by_ranks(
        const std::vector<std::pair<std::size_t, detail::Box>>& boxes, int node) const;

    const Run& run_;
    const Holders& holders_;
    const RecordSpace& record_;
    const Blocks& blocks_;
};

/// Returns the number of contiguous runs of a box in an array.
double runs_of(std::span<const std::int64_t> box, std::span<const std::int64_t> whole);

/// Returns the number of writes for runs of equal length.
/// @param bytes  size of all runs together
double calls_of(double runs, double bytes, double piece);

}  // namespace thalweg::planning
