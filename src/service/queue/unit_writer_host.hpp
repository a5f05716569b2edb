// The file that a writer of a service writes, and the thread or server that its queue belongs to,
// which receives its events and answers its questions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "layout/grid.hpp"
#include "service/queue/composer.hpp"
#include "service/queue/queue_memory.hpp"

namespace thalweg::detail {

/// The description of a file for the writers of a service. Refers to the file's definitions.
struct ServicePlan {
    /// Path of the file, for messages, and of its data while it is written.
    std::string path, data_path;
    int serial = 0;  ///< number of the file in its session
    const Definitions* definitions = nullptr;
    /// For each variable: the ranks together hold every element.
    std::vector<char> whole;
    std::shared_ptr<const PackedBoxes> boxes;  ///< boxes of this rank
    LayoutChoice layout;
    std::string storage;
    StorageOptions options;
    FileMap map;  ///< offsets in an existing file
    std::int64_t piece = 2 << 20;
    QueuePlan queue;
    // For one writer:
    int rank = 0;         ///< its rank, for messages
    int agent = 0;        ///< its number among the writers of its node
    int node_agents = 1;  ///< number of writers on this node
};

class UnitWriterHost : public BetweenPieces {
public:
    /// Tests if this writer sends its node's data to writers of other nodes, and if it may do so
    /// now.
    virtual bool forwards() const { return false; }
    virtual bool may_forward() { return true; }
    /// Called when all ranks of the node have published a unit.
    virtual void forward(std::span<const UnitPart> unit_parts) { (void)unit_parts; }
    /// Called when this writer's state has changed: units done, errors.
    virtual void report() {}
    /// Called when a feeder's message has been used.
    virtual void accepted(int feeder) { (void)feeder; }
};

}  // namespace thalweg::detail
