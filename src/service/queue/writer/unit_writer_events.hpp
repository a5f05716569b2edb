// The thread or server that a writer belongs to, which receives its events and answers its
// questions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "service/queue/writer/record_writer.hpp"

namespace thalweg::detail {

class UnitWriterEvents : public BetweenPieces {
public:
    /// Tests if this writer sends its node's data to writers of other nodes, and if it may do so
    /// now.
    virtual bool forwards() const { return false; }
    virtual bool may_forward() { return true; }
    /// Called when all ranks of the node have published a unit.
    virtual void forward(std::span<const UnitPart> unit_parts) { (void)unit_parts; }
    /// Called when this writer's state has changed: units done, errors.
    virtual void report() {}
    /// Called when a sender's message has been used.
    virtual void accepted(int sender) { (void)sender; }
};

}  // namespace thalweg::detail
