// What a writer's queue is told, and what it asks of the thread or server that it belongs to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "service/queue/share_writer.hpp"

namespace thalweg::detail {

struct DeskOptions {
    std::string path;  ///< for messages
    std::int64_t piece = 2 << 20;
    bool durable = false;
    int rank = 0;           ///< of this writer, for messages
    int agent = 0;          ///< number of this writer on its node
    int node_agents = 1;    ///< writers of this node
    bool own_file = false;  ///< it counts its own records
    Existing existing = {};
    std::vector<char> whole = {};  ///< of each variable: the ranks hold every element
    Wording wording = {};
};

class DeskHost : public BetweenPieces {
public:
    /// Whether this desk sends on what its node's ranks have for other nodes' writers, and whether
    /// it may now.
    virtual bool forwards() const { return false; }
    virtual bool may_forward() { return true; }
    /// All of the node's ranks have published a unit.
    virtual void forward(std::span<const Parcel> parcels) { (void)parcels; }
    /// This writer's state changed: units done, failures.
    virtual void report() {}
    /// A feeder's message has been used.
    virtual void accepted(int feeder) { (void)feeder; }
};

}  // namespace thalweg::detail
