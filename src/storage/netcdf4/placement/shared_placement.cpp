// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/placement/shared_placement.hpp"

#include <algorithm>

#include "comm/wait.hpp"

namespace thalweg::detail {

struct SharedPlacement::Head {
    alignas(64) std::atomic<std::int64_t> end;
    std::int64_t writers;
};

/// Memory in which a writer passes chunks to the header writer. The writer fills it, and the header
/// writer empties it.
struct SharedPlacement::Slot {
    static constexpr std::size_t most = 400;  ///< chunks
    alignas(64) Futex full;
    std::int64_t n;
    PlacedChunk chunks[most];
};

SharedPlacement::Head& SharedPlacement::head() const {
    return *reinterpret_cast<Head*>(memory_->data());
}

SharedPlacement::Slot& SharedPlacement::slot(int n) const {
    return reinterpret_cast<Slot*>(memory_->data() + sizeof(Head))[n];
}

std::unique_ptr<SharedPlacement> SharedPlacement::make(int writers, std::int64_t end,
                                                       Status& status) {
    auto memory = Segment::make(sizeof(Head) + writers * sizeof(Slot), true, status);
    if (!memory) return nullptr;
    std::unique_ptr<SharedPlacement> made(new SharedPlacement(std::move(memory), -1));
    made->head().end.store(end, std::memory_order_relaxed);
    made->head().writers = writers;
    return made;
}

std::unique_ptr<SharedPlacement> SharedPlacement::map(const SegmentName& name, int n,
                                                      Status& status) {
    auto memory = Segment::map(name, status);
    if (!memory) return nullptr;
    return std::unique_ptr<SharedPlacement>(new SharedPlacement(std::move(memory), n));
}

std::atomic<std::int64_t>& SharedPlacement::end() const { return head().end; }

std::size_t SharedPlacement::tell(std::span<const PlacedChunk> chunks) {
    Slot& own = slot(own_);
    if (chunks.empty() || own.full.load(std::memory_order_acquire) != 0) return 0;
    const std::size_t n = std::min(chunks.size(), Slot::most);
    std::copy_n(chunks.begin(), n, own.chunks);
    own.n = n;
    own.full.store(1, std::memory_order_release);
    return n;
}

bool SharedPlacement::hear(std::vector<PlacedChunk>& chunks) {
    bool any = false;
    for (int i = 0; i < head().writers; ++i) {
        Slot& s = slot(i);
        if (s.full.load(std::memory_order_acquire) == 0) continue;
        chunks.insert(chunks.end(), s.chunks, s.chunks + s.n);
        s.full.store(0, std::memory_order_release);
        any = true;
    }
    return any;
}

}  // namespace thalweg::detail
