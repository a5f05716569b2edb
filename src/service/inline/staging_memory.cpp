// SPDX-License-Identifier: Apache-2.0
#include "service/inline/staging_memory.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::detail {

StagingMemory::~StagingMemory() {
    for (std::unique_ptr<Memory>& piece : pieces_) {
        if (spare_ && spare_->size() >= piece->size()) continue;
        offer(*piece);
        spare_ = std::move(piece);
    }
}

char* StagingMemory::take(std::int64_t bytes) {
    const std::size_t size = (static_cast<std::size_t>(bytes) + 63) / 64 * 64;
    while (piece_ < pieces_.size() && pieces_[piece_]->size() - at_ < size) {
        ++piece_;
        at_ = 0;
    }
    if (piece_ == pieces_.size()) {
        // Pieces grow, so that they are few but little of the last one is unused.
        constexpr std::size_t least = std::size_t(4) << 20, most = std::size_t(64) << 20;
        const std::size_t usual = expected_ > bytes_
                                      ? static_cast<std::size_t>(expected_ - bytes_)
                                      : std::clamp(static_cast<std::size_t>(bytes_), least, most);
        std::unique_ptr<Memory> memory;
        if (spare_ && spare_->size() >= std::max(size, usual)) memory = std::move(spare_);
        if (!memory) memory = make_private_memory(std::max(size, usual));
        if (!memory) return nullptr;
        bytes_ += memory->size();
        pieces_.push_back(std::move(memory));
    }
    char* const to = pieces_[piece_]->data() + at_;
    at_ += size;
    return to;
}

}  // namespace thalweg::detail
