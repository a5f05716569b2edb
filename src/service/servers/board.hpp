// The memory that the ranks of a node share with its servers, whatever the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include "comm/segment.hpp"
#include "comm/wait.hpp"

namespace thalweg::detail {

/// On which the servers of a node sleep, and where its ranks write down by which name their region
/// of the file that is being created is found. No rank creates another file before all servers have
/// answered.
class Board {
public:
    static std::size_t bytes(int ranks) { return slot_at(ranks); }
    /// @param memory  zero; outlives this
    explicit Board(const Memory& memory) : memory_(memory.data()) {}

    Word& doorbell() const { return *reinterpret_cast<Word*>(memory_); }
    /// By the rank of a place in the node, before the servers are told of the file.
    void write(int place, std::int64_t file, const SegmentName& name) const {
        Slot& slot = slot_of(place);
        slot.name = name;
        slot.file.store(file, std::memory_order_release);
    }
    /// By a server. @return false: that rank has written nothing for the file
    bool read(int place, std::int64_t file, SegmentName& name) const {
        const Slot& slot = slot_of(place);
        if (slot.file.load(std::memory_order_acquire) != file) return false;
        name = slot.name;
        return true;
    }

private:
    struct alignas(64) Slot {
        std::atomic<std::int64_t> file;
        SegmentName name;
    };
    static std::size_t slot_at(int place) { return sizeof(Slot) * (place + std::size_t(1)); }
    Slot& slot_of(int place) const { return *reinterpret_cast<Slot*>(memory_ + slot_at(place)); }

    char* memory_;
};

}  // namespace thalweg::detail
