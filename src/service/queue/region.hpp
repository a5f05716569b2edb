// The memory in which a rank hands its parcels of one file to the writers of its node, and in which
// they tell it what became of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "base/status.hpp"
#include "comm/segment.hpp"
#include "comm/wait.hpp"

namespace thalweg::detail {

/// A count of which a word holds the lower half, if it is near `about`.
inline std::int64_t whole_count(std::uint32_t word, std::int64_t about) {
    return about + static_cast<std::int32_t>(word - static_cast<std::uint32_t>(about));
}

/// At the start of a region; the data follow.
struct Region {
    static constexpr int max_agents = 256;  ///< writers of a node
    static constexpr int max_units = 256;   ///< published and not yet done
    static constexpr std::size_t max_text = 4096;

    // Counts go round; see whole_count().
    Word published;           ///< units that the rank has published
    Word done[max_agents];    ///< units that a writer has no more use for
    Word rounds[max_agents];  ///< units of all ranks that a writer wrote
    Word waiting;             ///< whether the rank waits for room
    Word meetings;            ///< calls in which all ranks meet that the rank has entered
    Word stuck;               ///< the meeting before which no room can come, as a writer found
    Word failed;              ///< 0, 1: the text is being written, 2: there
    tw_status code;           ///< of the first failure
    char text[max_text];
    std::int64_t queue;  ///< bytes of the data; behind them the rank tells what it holds
    std::atomic<std::int64_t> unit_at[max_units];  ///< where the descriptors of units are

    static constexpr std::size_t data_at = 16384;

    static Region& of(const Memory& memory) { return *reinterpret_cast<Region*>(memory.data()); }
    static char* data(const Memory& memory) { return memory.data() + data_at; }
    static std::int64_t* told(const Memory& memory) {
        return reinterpret_cast<std::int64_t*>(data(memory) + of(memory).queue);
    }

    bool has_failed() const { return failed.load(std::memory_order_acquire) == 2; }
    Status failure() const;
    /// Keeps the first failure that anyone has.
    void fail(const Status& status);
};
static_assert(sizeof(Region) <= Region::data_at);

}  // namespace thalweg::detail
