// Service inline: the parts that wait for a collective call, in packed copies or in the model's
// arrays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "service/inline/collective_writer.hpp"
#include "service/node_copies.hpp"

namespace thalweg::detail {

class StagedParts {
public:
    StagedParts(FileContext& file, Batch& batch, Order order, NodeCopies& copies);

    /// Adds a part of the open step, which replaces an earlier one of the variable.
    Status add_put(const Part& part, bool deferred);
    /// Checks that there is room for a part, and for similar parts in `records` records.
    Status check_room(const Part& part, std::int64_t records);
    /// Adds a part. It replaces an earlier one of the same record by the same decomposition.
    Status add(const Part& part, bool deferred, bool borrowed);
    /// Packs deferred parts of the unit that ends which are not written together.
    /// @param rest     receives all parts of this rank and unit that are not written together
    /// @param records  raised to the number of records that these parts need; a collective put
    ///                 needs none, as its step ends later
    Status pack_rest(const CollectiveWriter& collective, const Agreed& agreed, Ends ends,
                     std::vector<Part>& rest, std::int64_t& records);
    /// Forgets the parts that are not from tw_put, after they were written.
    void drop();
    /// Reuses the memory of packed copies if no part waits in it.
    void reuse() {
        if (batch_.waiting == 0) copies_.parts.give_back();
    }
    /// Returns the bytes allocated for copies.
    std::int64_t bytes() const { return copies_.step.bytes() + copies_.parts.bytes(); }

private:
    Status stage(const Part& part, bool deferred, bool borrowed, StagingMemory& memory, char*& copy,
                 WaitingPart& waiting);
    std::int64_t needed_for(const Part& part) const;
    WaitingPart* replaced_by(const Part& part);

    FileContext& file_;
    Batch& batch_;
    Order order_;
    NodeCopies& copies_;
    std::vector<char*> copy_of_;  ///< copy of each variable in copies_.step; null: none yet
};

}  // namespace thalweg::detail
