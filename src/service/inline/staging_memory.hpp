// Service inline: memory for packed copies of data that are put, until a collective call
// writes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/segment.hpp"

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

}  // namespace thalweg::detail
