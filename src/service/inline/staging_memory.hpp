// Service inline: memory for packed copies of what is put, until the ranks meet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/segment.hpp"

namespace thalweg::detail {

/// Blocks that are taken one after another, and stay where they are until all are given back.
class StagingMemory {
public:
    /// @param spare  memory of an earlier file, used first; receives the largest piece in the end
    explicit StagingMemory(std::unique_ptr<Memory>& spare) : spare_(spare) {}
    ~StagingMemory();
    StagingMemory(const StagingMemory&) = delete;
    StagingMemory& operator=(const StagingMemory&) = delete;

    /// Sets the number of bytes that will be taken in all, as far as it is known.
    void expect(std::int64_t bytes) { expected_ = bytes; }
    /// Takes a block. @return null if there is no memory for it
    char* take(std::int64_t bytes);
    void give_back() { piece_ = at_ = 0; }
    /// Returns the bytes that the system has given.
    std::int64_t bytes() const { return bytes_; }

private:
    std::unique_ptr<Memory>& spare_;
    std::vector<std::unique_ptr<Memory>> pieces_;
    std::size_t piece_ = 0, at_ = 0;  ///< place of the next block
    std::int64_t bytes_ = 0, expected_ = 0;
};

}  // namespace thalweg::detail
