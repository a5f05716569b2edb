// Copies of what the program has put, until the library has taken it: a program may change its
// arrays when PIOc_write_darray returns. The memory is kept for the next batch and the next file,
// because memory that is new costs as much as the copy.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace thalweg::pio {

class Copies {
public:
    Copies() = default;
    ~Copies() { give_back(); }
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;

    // Memory that stays where it is until all is given back. Throws std::bad_alloc.
    char* take(std::size_t bytes);
    // The last one that was taken was not needed.
    void undo(const char* taken) { used_ = static_cast<std::size_t>(taken - blocks_.back().get()); }
    void give_back();

private:
    struct Block {
        std::unique_ptr<char[]> bytes;
        std::size_t size = 0;
        char* get() const { return bytes.get(); }
    };

    std::vector<Block> blocks_;  // the last one is being filled
    std::size_t used_ = 0;       // of the last one

    static std::vector<Block>& spare();
    static Block block_of(std::size_t bytes);
};

}  // namespace thalweg::pio
