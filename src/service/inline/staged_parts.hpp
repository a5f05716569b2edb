// Service inline: the parts that wait for a collective call, in packed copies or in the model's
// arrays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/segment.hpp"
#include "service/inline/collective_writer.hpp"

namespace thalweg::detail {

/// Memory from which blocks are taken one after another. They do not move, and are all returned
/// together.
class StagingMemory {
public:
    /// @param spare  memory left by an earlier file, used first; receives the largest piece at the
    /// end
    explicit StagingMemory(std::unique_ptr<Memory>& spare) : spare_(spare) {}
    ~StagingMemory();
    StagingMemory(const StagingMemory&) = delete;
    StagingMemory& operator=(const StagingMemory&) = delete;

    /// Sets the expected sum of the bytes that will be taken.
    void expect(std::int64_t bytes) { expected_ = bytes; }
    /// Takes a block. @return null if there is no memory for it
    char* take(std::int64_t bytes);
    void give_back() { piece_ = at_ = 0; }
    /// Returns the bytes allocated from the system.
    std::int64_t bytes() const { return bytes_; }

private:
    std::unique_ptr<Memory>& spare_;
    std::vector<std::unique_ptr<Memory>> pieces_;
    std::size_t piece_ = 0, at_ = 0;  ///< index of the piece of the next block, and offset in it
    std::int64_t bytes_ = 0, expected_ = 0;
};

class StagedParts {
public:
    StagedParts(FileContext& file, Batch& batch, Order order);

    /// Sets the expected bytes of the puts of a step.
    void expect(std::int64_t bytes) { step_copies_.expect(bytes); }
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
        if (batch_.waiting == 0) copies_.give_back();
    }
    /// Returns the bytes allocated for copies.
    std::int64_t bytes() const { return step_copies_.bytes() + copies_.bytes(); }

private:
    Status stage(const Part& part, bool deferred, bool borrowed, StagingMemory& memory, char*& copy,
                 WaitingPart& waiting);
    std::int64_t needed_for(const Part& part) const;
    WaitingPart* replaced_by(const Part& part);

    FileContext& file_;
    Batch& batch_;
    Order order_;
    /// Memory for copies of tw_put, one per variable, kept between steps.
    StagingMemory step_copies_;
    StagingMemory copies_;        ///< memory for copies of other parts, until they are written
    std::vector<char*> copy_of_;  ///< copy of each variable in step_copies_; null: none yet
};

}  // namespace thalweg::detail
