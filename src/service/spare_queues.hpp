// The memories of queues of this rank that no file uses: touching new memory costs more than the
// copies into it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "comm/segment.hpp"

namespace thalweg::detail {

class SpareQueues {
public:
    /// Takes the smallest memory of at least `bytes` bytes. @return null if there is none
    std::unique_ptr<Segment> take(std::size_t bytes) {
        std::unique_ptr<Segment>* best = nullptr;
        for (auto& s : kept_)
            if (s && s->size() >= bytes && (best == nullptr || s->size() < (*best)->size()))
                best = &s;
        return best != nullptr ? std::move(*best) : nullptr;
    }
    /// Keeps a memory for a later file. Frees the ones that were kept first if there are too many,
    /// as the system cannot take back pages of shared memory while the model computes.
    void keep(std::unique_ptr<Segment> memory) {
        constexpr std::size_t most = std::size_t(256) << 20;  // bytes
        std::rotate(kept_.begin(), kept_.end() - 1, kept_.end());
        kept_.front() = std::move(memory);
        std::size_t bytes = kept_.front()->size();
        for (auto s = kept_.begin() + 1; s != kept_.end(); ++s) {
            if (*s) bytes += (*s)->size();
            if (bytes > most) s->reset();
        }
    }
    void clear() { kept_ = {}; }

private:
    std::array<std::unique_ptr<Segment>, 16> kept_;  ///< the one that was kept last is the first
};

}  // namespace thalweg::detail
