// Unpacked chunks, the latest ones within a budget.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <vector>

namespace thalweg::detail {

class ChunkCache {
public:
    struct Key {
        std::int64_t variable = -1, record = 0, number = 0;  ///< of its grid of chunks
        bool operator==(const Key&) const = default;
    };

    /// @param budget  bytes; one chunk is kept, whatever it takes
    explicit ChunkCache(std::int64_t budget) : budget_(budget) {}

    /// Null if it is not there.
    const char* find(Key key) {
        for (auto it = chunks_.begin(); it != chunks_.end(); ++it)
            if (it->key == key) {
                chunks_.splice(chunks_.begin(), chunks_, it);
                return it->data.data();
            }
        return nullptr;
    }

    /// Memory for a chunk that will have so many bytes: that of an old one, where there is no more.
    std::vector<char> take(std::int64_t bytes) {
        std::vector<char> memory;
        while (!chunks_.empty() && bytes_ + bytes > budget_) {
            bytes_ -= static_cast<std::int64_t>(chunks_.back().data.size());
            memory = std::move(chunks_.back().data);
            chunks_.pop_back();
        }
        return memory;
    }

    const char* add(Key key, std::vector<char> data) {
        bytes_ += static_cast<std::int64_t>(data.size());
        chunks_.push_front({key, std::move(data)});
        return chunks_.front().data.data();
    }

    void clear() {
        chunks_.clear();
        bytes_ = 0;
    }

private:
    struct Entry {
        Key key;
        std::vector<char> data;
    };
    std::int64_t budget_, bytes_ = 0;
    std::list<Entry> chunks_;
};

}  // namespace thalweg::detail
