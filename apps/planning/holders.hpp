// Which ranks of a run hold what, by its decomposition: asked of any rank and any node, without
// making lists of all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "comm/team.hpp"
#include "layout/layout.hpp"
#include "planning/run.hpp"

namespace thalweg::planning {

class Holders {
public:
    explicit Holders(const Run& run);
    Holders(const Holders&) = delete;
    Holders& operator=(const Holders&) = delete;

    const detail::Topology& topology() const { return topology_; }

    // A kind is the number of a group of the run's variables, which are all held alike.

    /// Whether the ranks hold lists of them. These are taken to be spread evenly over all ranks,
    /// run by run.
    bool listed(int kind) const { return kinds_[kind].run > 0; }
    /// Elements of a run of their lists.
    double run_of(int kind) const { return kinds_[kind].run; }
    /// What a rank holds of a variable, if no lists. Ranks along an axis of the grid that it does
    /// not have share the block that they would all hold.
    detail::Box block_of(int kind, int rank) const;
    /// Elements that the rank with most of them holds.
    double most_held(int kind) const;
    /// Elements of a box of a variable.
    double held_by_rank(int kind, const detail::Box& box, int rank) const;
    double held_on_node(int kind, const detail::Box& box, int node) const;
    /// Adds the nodes of the ranks that hold some of a box.
    void add_nodes(int kind, const detail::Box& box, std::set<int>& nodes) const;
    /// Where the parts of a dimension begin.
    std::vector<std::int64_t> starts_of(int dim) const;

private:
    /// An axis of the grid as a variable has it.
    struct Axis {
        int at = -1;  ///< the dimension of the variable that it cuts; -1: none
        std::int64_t parts = 1;
        bool shared = false;  ///< its parts are cut again, for the ranks along the axes left out
    };
    struct Kind {
        std::vector<std::int64_t> shape;
        std::vector<Axis> axes;  ///< as the grid of the run
        std::int64_t spare = 1;  ///< ranks that share a block
        double run = 0;          ///< elements of a run of lists; 0: boxes
    };

    const Run& run_;
    detail::Topology topology_;
    std::vector<Kind> kinds_;
};

}  // namespace thalweg::planning
