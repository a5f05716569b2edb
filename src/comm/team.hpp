// Node topology, and agreements between all ranks that sleep instead of spinning.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "comm/comm.hpp"
#include "comm/topology.hpp"
#include "comm/wait.hpp"

namespace thalweg::detail {

class Team {
public:
    /**
     * Makes a team of all ranks of a communicator.
     * @param node_size  0: the actual nodes; otherwise, these are divided into nodes of at most
     *                   this number of ranks
     * @param mine       this rank's own failure so far
     * @return null with an error, the same on every rank
     * @note Collective
     */
    static std::unique_ptr<Team> make(std::unique_ptr<Comm> world, int node_size, Status& status,
                                      Status mine = {});

    Comm& world() { return *world_; }
    Comm& node() { return node_ ? *node_ : *world_; }
    const Topology& topology() const { return topology_; }
    int rank() const { return world_->rank(); }
    int size() const { return world_->size(); }

    /// Combines words over all ranks of the team: a few by one wait in shared memory per node, and
    /// one reduction over the nodes; many by MPI, which sends them in parts.
    /// @note Collective
    void all_reduce(std::span<std::int64_t> values, Reduce op);
    /// A function that uses the combined words, and may change them. It must not throw.
    using Act = std::function<void(std::span<std::int64_t>)>;
    /// Combines words over the ranks of this node, without MPI. @note Collective over the node
    void reduce_on_node(std::span<std::int64_t> values, Reduce op);
    void barrier_on_node();
    /// Allocates memory that the ranks of this node share, without MPI. The number of bytes is that
    /// of the node's first rank.
    /// @return null, on all of them alike, if there is not enough
    /// @note Collective over the node
    std::unique_ptr<Memory> share_on_node(std::size_t bytes);
    /**
     * Combines words, and lets one rank change the result before any other rank gets it. Costs no
     * more than a reduction and a broadcast if that rank is the first of its node.
     * @param values  at most row_words
     * @param act     called on rank `actor` only; pass it by std::ref, which takes no memory
     * @note Collective
     */
    void all_reduce(std::span<std::int64_t> values, Reduce op, int actor, const Act& act);
    void barrier();
    /// Sleeps while a word in the node's memory has the given value; see detail::wait_while().
    void wait_while(Futex& word, std::uint32_t value) {
        detail::wait_while(word, value, world_.get(), spin_);
    }
    /// Makes a communicator of the same ranks with separate messages. @note Collective
    std::unique_ptr<Comm> duplicate();
    /// Does the same as agree(Comm&, ...), by one all_reduce if no rank failed. @note Collective
    Status agree(const Status& mine);
    /// Broadcasts rank 0's failure or, if it has none, its bytes; by one all_reduce if they are
    /// few.
    /// @note Collective; the status is the same on every rank
    Status broadcast_outcome(const Status& mine, std::vector<char>& bytes);

    static constexpr int row_words = RowOfWords::size;

private:
    struct Control;
    void reduce_row(std::span<std::int64_t> values, Reduce op, bool several, int actor,
                    const Act* act);
    void reduce_rows(std::span<std::int64_t> values, Reduce op, bool several);
    std::int64_t* row(int place) const;

    std::unique_ptr<Comm> world_;
    std::unique_ptr<Comm> node_;     ///< null if there is only one node, which is the world
    std::unique_ptr<Comm> leaders_;  ///< null except on the leaders, if there are several nodes
    std::unique_ptr<Comm> spare_;    ///< communicator of all ranks, for the next duplicate()
    std::shared_ptr<Memory> memory_;
    Topology topology_;
    double spin_ = 0;  ///< seconds before a wait sleeps
};

}  // namespace thalweg::detail
