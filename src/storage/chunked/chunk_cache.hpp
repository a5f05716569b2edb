// A cache of unpacked chunks: the most recently used ones that fit a budget.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace thalweg::detail {

class ChunkCache {
public:
    struct Key {
        /// `number` is the position of the chunk in the variable's grid of chunks, in row-major
        /// order.
        std::int64_t variable = -1, record = 0, number = 0;
        auto operator<=>(const Key&) const = default;
    };

    /// @param budget  limit in bytes for all cached chunks; one chunk is kept even if it is larger
    explicit ChunkCache(std::int64_t budget) : budget_(budget) {}

    /// Returns the elements of a chunk; null if it is not in the cache.
    const char* find(Key key) {
        const auto found = places_.find(key);
        if (found == places_.end()) return nullptr;
        chunks_.splice(chunks_.begin(), chunks_, found->second);
        return found->second->data.data();
    }

    /// Removes the least recently used chunks until one of `bytes` bytes fits. Returns the memory
    /// of a removed chunk for reuse; its size can differ from `bytes`.
    std::vector<char> take(std::int64_t bytes) {
        std::vector<char> memory;
        while (!chunks_.empty() && bytes_ + bytes > budget_) {
            bytes_ -= bytes_of(chunks_.back());
            places_.erase(chunks_.back().key);
            memory = std::move(chunks_.back().data);
            chunks_.pop_back();
        }
        return memory;
    }

    const char* add(Key key, std::vector<char> data) {
        chunks_.push_front({key, std::move(data)});
        bytes_ += bytes_of(chunks_.front());
        places_[key] = chunks_.begin();
        return chunks_.front().data.data();
    }

    void clear() {
        chunks_.clear();
        places_.clear();
        bytes_ = 0;
    }

private:
    struct Entry {
        Key key;
        std::vector<char> data;
    };
    /// Returns the memory that an entry uses. The added constant limits the number of entries if
    /// the chunks are very small.
    static std::int64_t bytes_of(const Entry& entry) { return std::ssize(entry.data) + 256; }

    std::int64_t budget_, bytes_ = 0;
    std::list<Entry> chunks_;  ///< most recently used first
    std::map<Key, std::list<Entry>::iterator> places_;
};

}  // namespace thalweg::detail
