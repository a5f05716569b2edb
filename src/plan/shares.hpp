// The work of an output step by method: how the library would lay it out, asked of some writers and
// some pieces of each, for any number of ranks in one process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "comm/team.hpp"
#include "layout/grid.hpp"
#include "plan/run.hpp"

namespace thalweg::planning {

/// How a step is written.
struct Way {
    std::string method;
    bool own_files = false;  ///< of tiles
    std::string writers;     ///< "N" or "N/node"; with servers it is not looked at
    int servers = 0;         ///< 0: the model's ranks write
};

class Shares {
public:
    explicit Shares(const Run& run);
    Shares(const Shares&) = delete;
    Shares& operator=(const Shares&) = delete;

    double bytes() const { return static_cast<double>(space_.bytes); }
    int variables() const { return static_cast<int>(space_.places.size()); }
    /// Writers that the library chooses for this file system, and the alignment of their shares.
    const detail::WayOfWriting& chosen() const { return chosen_; }

    detail::Work work_of(const Way& way) const;
    /// Of reading a step back by as many readers as the library takes.
    detail::Work reading() const;

private:
    struct Laid;
    struct Look;
    Laid lay_out(const Way& way) const;
    void lay_out_grid(const Way& way, int available, int spread,
                      detail::LayoutChoice& layout) const;
    int node_of_server(int server) const { return server % run_.nodes; }
    int node_of_part(const detail::Grid& grid, int part) const;
    std::vector<std::int64_t> starts_of(int dim) const;
    Look look_at(const detail::Share& share, int node) const;
    void look_at_piece(const detail::Share& share, detail::Extent piece, int node,
                       Look& look) const;
    std::int64_t part_along(std::size_t axis, std::int64_t index) const;
    double shared_blocks(double runs, const detail::Place& whole) const;
    bool listed(const detail::Place& place) const;
    double held_on_node(const detail::Place& place, const detail::Box& box, int node) const;
    void mark_nodes(const detail::Place& place, const detail::Box& box, Look& look) const;
    detail::Box block_of(const detail::Place& place, int rank) const;
    void add_direct(detail::Work& work) const;

    const Run& run_;
    detail::Topology topology_;
    detail::Space space_;  ///< a record
    detail::WayOfWriting chosen_;
    int x_ = -1, y_ = -1;  ///< the horizontal dimensions, as `rows` and the like take them
};

}  // namespace thalweg::planning
