// The memory in which a rank passes its unit parts of one file to the writers of its node, and in
// which they report back. Explains who runs where, and who waits for whom.
//
// Folder `rank` runs in the calls of a rank that puts: OpenUnit packs the values into the queue
// (QueueMemory), or refers to those that an interface has packed in memory of the node
// (NodeCopies), and UnitQueue publishes the unit when the step ends, in tw_sync and tw_close (a
// mark), and in the middle of a step if boxes fill the queue. Folder `writer` runs on a thread of a
// rank (background) or on a server: UnitWriter takes units of all ranks (UnitWriterSources) in the
// order in which they were published, RecordWriter writes this writer's share of them, and
// FileRounds counts the records that all writers have written. Both sides use only the memory of
// this header; unit parts of ranks on other nodes reach a writer as messages.
//
// A rank waits in UnitQueue for writers only: for room, until all writers of its node are done with
// its oldest unit; while max_units units are published; and in tw_sync and tw_close. A writer
// waits for nothing: UnitWriter::work() returns if there is nothing to do. It writes a unit once
// all ranks have published their parts; one of boxes once all ranks of its node have a next unit,
// or a rank with boxes waits for room.
//
// Consider the first unit that some writer has not written. A rank that has not published it has
// room in its queue, so it is in the model, or waits for the others in a collective call. In the
// second case the ranks are in different calls, and a rank that waits for room would wait forever.
// Writers find this state (Deadlock) and set `stuck`; the rank then joins the call, which fails on
// all ranks. Once all ranks have published the unit, its writers need nothing else. After a
// failure, writers discard units, and no server makes a call that waits for a model rank.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/status.hpp"
#include "comm/segment.hpp"
#include "comm/wait.hpp"

namespace thalweg::detail {

/// Returns a count from its lower half, given a number near it.
inline std::int64_t whole_count(std::uint32_t word, std::int64_t about) {
    return about + static_cast<std::int32_t>(word - static_cast<std::uint32_t>(about));
}

/// The head of a rank's queue in shared memory; the data follow.
struct Region {
    static constexpr int max_writers = 256;  ///< most writers per node
    static constexpr int max_units = 256;    ///< most units that are published and not yet written

    // The words below are counts that wrap around; see whole_count().
    Futex published;          ///< units that the rank has published
    Futex done[max_writers];  ///< units that a writer is done with
    /// For each writer of the node: units whose parts from all ranks it has written.
    Futex rounds[max_writers];
    Futex waiting;  ///< the rank waits for room
    Futex calls;    ///< collective calls that the rank has entered
    /// Number of the collective call that this rank must enter before its queue can get room.
    Futex stuck;
    Futex failed;    ///< state of the error text: 0: none; 1: being written; 2: complete
    tw_status code;  ///< code of the first error
    std::size_t error_bytes;
    char error[9216];    ///< the first error, encoded by packed()
    std::int64_t queue;  ///< bytes of the data. The rank's holdings follow the data
    std::atomic<std::int64_t> unit_at[max_units];  ///< places of the descriptors of units

    static constexpr std::size_t data_at = 16384;

    static Region& of(const Memory& memory) { return *reinterpret_cast<Region*>(memory.data()); }
    static char* data(const Memory& memory) { return memory.data() + data_at; }
    static std::int64_t* holdings(const Memory& memory) {
        return reinterpret_cast<std::int64_t*>(data(memory) + of(memory).queue);
    }

    bool has_failed() const { return failed.load(std::memory_order_acquire) == 2; }
    Status failure() const {
        return has_failed() ? unpacked(code, {error, error_bytes}) : Status{};
    }
    /// Keeps the first error of any process.
    void fail(const Status& status) {
        const std::string bytes = packed(status);
        std::uint32_t none = 0;
        if (!failed.compare_exchange_strong(none, 1, std::memory_order_acq_rel)) return;
        code = status.code;
        error_bytes = std::min(bytes.size(), sizeof error);
        std::memcpy(error, bytes.data(), error_bytes);
        failed.store(2, std::memory_order_release);
    }
};
static_assert(sizeof(Region) <= Region::data_at);

}  // namespace thalweg::detail
