// Copies of data that the program has put, kept until the library has taken them: a program may
// change its arrays when a put returns. The memory is kept for the next batch and the
// next file, because new memory costs as much as the copy.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace thalweg::nc {

class Copies {
public:
    Copies() = default;
    ~Copies() { give_back(); }
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;

    // Returns memory that stays in place until give_back(). Throws std::bad_alloc.
    char* take(std::size_t bytes, std::size_t alignment = 64);
    // Gives back the memory that was taken last.
    void undo(const char* taken) { used_ = static_cast<std::size_t>(taken - blocks_.back().get()); }
    void give_back();

private:
    struct Block {
        std::unique_ptr<char[]> bytes;
        std::size_t size = 0;
        char* get() const { return bytes.get(); }
    };

    std::vector<Block> blocks_;  // the last block is being filled
    std::size_t used_ = 0;       // number of bytes used in the last block

    static std::vector<Block>& spare();
    static Block block_of(std::size_t bytes);
};

}  // namespace thalweg::nc
