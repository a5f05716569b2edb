// Computes which ranks of a run hold which elements, for any rank or node, without a list of all
// ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "comm/team.hpp"
#include "layout/layout.hpp"
#include "plan/shares/run.hpp"

namespace thalweg::planning {

class Holders {
public:
    explicit Holders(const Run& run);
    Holders(const Holders&) = delete;
    Holders& operator=(const Holders&) = delete;

    const detail::Topology& topology() const { return topology_; }

    // A kind is the number of a group of variables that have the same decomposition.

    /// Tests if ranks hold lists of indices. The model then assumes that the runs of a list are
    /// distributed evenly over all ranks.
    bool listed(int kind) const { return kinds_[kind].run > 0; }
    /// Returns the mean number of elements in a run of a list.
    double run_of(int kind) const { return kinds_[kind].run; }
    /// Returns the block that a rank holds, if ranks hold no lists. If an axis of the process grid
    /// divides no dimension of the variable, the ranks along it would hold the same block; they
    /// divide it among them.
    detail::Box block_of(int kind, int rank) const;
    /// Returns the number of elements of the rank that holds most.
    double most_held(int kind) const;
    /// Returns the number of elements of a box that a rank holds.
    double held_by_rank(int kind, const detail::Box& box, int rank) const;
    double held_on_node(int kind, const detail::Box& box, int node) const;
    /// Adds the nodes whose ranks hold elements of a box.
    void add_nodes(int kind, const detail::Box& box, std::set<int>& nodes) const;
    /// Returns the first index of each part of a dimension.
    std::vector<std::int64_t> starts_of(int dim) const;

private:
    /// An axis of the process grid, as it concerns one variable.
    struct Axis {
        int at = -1;  ///< dimension of the variable that the axis divides; -1: none
        std::int64_t parts = 1;
        /// Several ranks have the same part, as they differ only along axes that the variable
        /// lacks; they divide it.
        bool shared = false;
    };
    struct Kind {
        std::vector<std::int64_t> shape;
        std::vector<Axis> axes;  ///< axes, in the order of the run's process grid
        std::int64_t spare = 1;  ///< number of ranks that divide a block among them
        /// Mean number of elements in a run of a list; 0 if ranks hold boxes.
        double run = 0;
    };

    const Run& run_;
    detail::Topology topology_;
    std::vector<Kind> kinds_;
};

}  // namespace thalweg::planning
