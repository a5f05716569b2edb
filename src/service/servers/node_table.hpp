// The memory that the ranks of a node share with its servers, for all files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "comm/segment.hpp"
#include "comm/wait.hpp"

namespace thalweg::detail {

/// Shared memory with the word on which the servers of a node sleep, and with the names of the
/// ranks' regions for the file being created. No rank creates another file before all servers have
/// answered.
class NodeTable {
public:
    static std::size_t bytes(int ranks) { return slot_at(ranks); }
    /// @param memory  zeroed; must outlive this object
    explicit NodeTable(const Memory& memory) : memory_(memory.data()) {}

    Futex& doorbell() const { return *reinterpret_cast<Futex*>(memory_); }
    /// Writes the name of the region of a rank, given by its place in the node, before the servers
    /// learn of the file.
    void write(int place, std::int64_t file, const SegmentName& name) const {
        Slot& slot = slot_of(place);
        slot.name = name;
        slot.file.store(file, std::memory_order_release);
    }
    /// Reads a rank's name, on a server. @return false if that rank has written none for the file
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
