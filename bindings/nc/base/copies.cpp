// SPDX-License-Identifier: Apache-2.0
#include "nc/base/copies.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/work.hpp"
#include "nc/base/session.hpp"

namespace thalweg::nc {

namespace {

constexpr std::size_t usual = 4 << 20;  // size in bytes of a normal block

std::mutex& spare_mutex() {
    static auto* const mutex = new std::mutex;
    return *mutex;
}

}  // namespace

// Returns the list of unused blocks. It is never destroyed, because files that are open when the
// program ends return their blocks later.
std::vector<Copies::Block>& Copies::spare() {
    static auto* const all = new std::vector<Block>;
    return *all;
}

// Returns the smallest unused block that is large enough, or a new one.
Copies::Block Copies::block_of(std::size_t bytes) {
    const std::lock_guard lock(spare_mutex());
    std::vector<Block>& all = spare();
    auto best = all.end();
    for (auto it = all.begin(); it != all.end(); it++)
        if (it->size >= bytes && (best == all.end() || it->size < best->size)) best = it;
    const std::size_t size = std::max(bytes, usual);
    if (best == all.end()) return {std::unique_ptr<char[]>(new char[size]), size};
    Block found = std::move(*best);
    all.erase(best);
    return found;
}

char* Copies::take(std::size_t bytes, std::size_t alignment) {
    used_ = (used_ + alignment - 1) / alignment * alignment;
    if (blocks_.empty() || used_ + bytes > blocks_.back().size) {
        blocks_.reserve(blocks_.size() + 1);
        blocks_.push_back(block_of(bytes));
        used_ = 0;
    }
    detail::charge_bytes(static_cast<std::int64_t>(bytes));
    char* const taken = blocks_.back().get() + used_;
    used_ += bytes;
    return taken;
}

// Keeps as many unused blocks as one file may need.
void Copies::give_back() {
    const std::lock_guard lock(spare_mutex());
    std::vector<Block>& all = spare();
    std::size_t kept = 0;
    for (const Block& b : all) kept += b.size;
    const auto most = static_cast<std::size_t>(staging_limit());
    try {
        all.reserve(all.size() + blocks_.size());
        for (Block& b : blocks_) {
            kept += b.size;
            if (kept > most) break;
            all.push_back(std::move(b));
        }
    } catch (const std::bad_alloc&) {  // without memory for the list, the blocks are freed
    }
    blocks_.clear();
    used_ = 0;
}

}  // namespace thalweg::nc
