// The unit of work that a rank has open: data queued since it last published, by tw_put and as
// boxes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "service/batch.hpp"
#include "service/queue/publisher.hpp"

namespace thalweg::detail {

class OpenUnit {
public:
    OpenUnit(const FileContext& file, Batch& batch, Publisher& publisher);

    /// Returns the room in the queue for this rank's part of a variable: the same room until it is
    /// published. Null for the reasons of UnitQueue::take().
    char* room_for(int variable, std::int64_t bytes);

    void add_box(UnitPart::Entry entry, std::int64_t bytes, std::int64_t description);
    bool has_boxes() const { return !boxes_.empty(); }
    /// Tests if nothing is queued.
    bool empty() const;
    /// Returns the bytes of the boxes and their descriptions.
    std::int64_t box_bytes() const { return box_bytes_; }
    /// Returns the most bytes that the unit's descriptor needs so far.
    std::int64_t descriptor_bytes() const;
    /// Returns the same, including a part that is published before it.
    std::int64_t descriptor_bytes_with_part() const;

    /// Publishes a step, or the unit that tw_sync or tw_close ends: boxes and fixed-size variables.
    /// @return false as UnitQueue::publish()
    bool publish(UnitKind kind);
    /// Publishes the queued data in the middle of a step.
    /// @note Collective where publishing is
    void publish_early();
    /// Publishes a range of a variable as a unit of its own.
    /// @param at  data of the range, null if there are none
    void publish_part(int variable, ElementRange range, const char* at);
    /// Moves open data to the start of the queue, after all ranks have met and the queue is empty.
    /// At their old place nothing behind them would become free before the step ends, and the syncs
    /// of a long step would fill the queue.
    void gather();

    /// Publishes a request for fill values in elements of fixed-size variables that were not put,
    /// between steps. Open data stay open.
    void publish_fill(std::span<const int> variables);
    void next_step() { ++steps_; }
    /// Notes that the ranks have met.
    void meet() { steps_ = 0; }

private:
    struct Queued {
        char* at = nullptr;
        std::int64_t bytes = 0, mark = 0;
    };
    std::int64_t plain_descriptor_bytes() const;
    UnitPart unit_part(UnitKind kind) const;
    UnitPart make_unit_part(UnitKind kind) const;
    void describe(UnitPart& unit_part, UnitKind kind) const;
    std::int64_t first_that_stays() const;

    const FileContext& file_;
    Batch& batch_;
    Publisher& publisher_;
    std::vector<Queued> queued_;  ///< by variable, for tw_put
    std::vector<UnitPart::Entry> boxes_;
    std::int64_t box_bytes_ = 0;
    std::int64_t description_ = 0;  ///< bytes of it that describe boxes
    std::int64_t boxes_mark_ = 0;   ///< place of the first box in the queue
    std::int64_t steps_ = 0;        ///< steps ended since the ranks met
};

}  // namespace thalweg::detail
