// The thread or server that a writer's queue belongs to: receives its events, and answers its
// questions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "service/queue/composer.hpp"

namespace thalweg::detail {

struct UnitWriterOptions {
    std::string path;  ///< path of the file, for messages
    std::int64_t piece = 2 << 20;
    bool durable = false;
    int rank = 0;           ///< rank of this writer, for messages
    int agent = 0;          ///< number of this writer among those of its node
    int node_agents = 1;    ///< writers on this node
    bool own_file = false;  ///< the writer has a file of its own, and counts its records
    Existing existing = {};
    std::vector<char> whole = {};  ///< for each variable: the ranks together hold every element
    Wording wording = {};
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
