// The file that a service writes, as its writers need to know it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layout/grid.hpp"
#include "service/queue/packed_boxes.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// The size of a queue.
struct QueuePlan {
    std::int64_t bytes = 0;          ///< bytes per rank
    std::int64_t limit = INT64_MAX;  ///< bytes of published units above which a new one waits
    bool grows = false;              ///< memory is allocated on first use
    /// False: a step does not fit, and variables are put as boxes.
    bool holds_step = true;
    bool replaces = false;  ///< tw_put replaces values, also by fill values
};

/// The description of a file for the writers of a service. Refers to the file's definitions.
struct ServicePlan {
    /// Path of the file, for messages, and of its data while it is written.
    std::string path, data_path;
    int serial = 0;  ///< number of the file in its session
    const Definitions* definitions = nullptr;
    /// For each variable: the ranks together hold every element.
    std::vector<char> whole;
    std::shared_ptr<const PackedBoxes> boxes;  ///< boxes of this rank
    /// Memory of the node in which an interface packs values, and from which writers take them;
    /// null: ranks pack all values into their queues.
    Memory* copies = nullptr;
    LayoutChoice layout;
    std::string storage;
    StorageOptions options;
    FileMap map;  ///< offsets in an existing file
    std::int64_t piece = 2 << 20;
    QueuePlan queue;
    // For one writer:
    int rank = 0;          ///< its rank, for messages
    int local_writer = 0;  ///< its number among the writers of its node
    int node_writers = 1;  ///< number of writers on this node
};

/// Describes a file for a server.
std::vector<char> describe_file(const ServicePlan& plan);
/// Reads a description. @param plan  does not receive its pointer to the definitions
void read_file(const std::vector<char>& bytes, ServicePlan& plan, Definitions& definitions);

}  // namespace thalweg::detail
