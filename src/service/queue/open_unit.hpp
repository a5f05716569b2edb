// The unit of work that a rank has open: the data that it has put since it last published a unit,
// by tw_put or as boxes.
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

    /// Returns room in the queue for this rank's part of a variable; repeated calls return the same
    /// room until it is published. Null for the reasons of UnitQueue::take().
    char* room_for(int variable, std::int64_t bytes);

    void add_box(UnitPart::Entry entry, std::int64_t bytes, std::int64_t description);
    bool has_boxes() const { return !boxes_.empty(); }
    /// Tests if nothing is queued.
    bool empty() const;
    /// Returns the bytes of the boxes and their descriptions.
    std::int64_t box_bytes() const { return box_bytes_; }
    /// Returns an upper bound for the bytes of the unit's descriptor, as it is now.
    std::int64_t descriptor_bytes() const;
    /// Returns an upper bound for the bytes of two descriptors: that of a part published as a unit
    /// of its own, and that of the open unit after it.
    std::int64_t descriptor_bytes_with_part() const;

    /// Publishes a step, or the unit that tw_sync or tw_close ends: boxes and fixed-size variables.
    /// @return false if UnitQueue::publish() has returned false
    bool publish(UnitKind kind);
    /// Publishes the queued data in the middle of a step.
    /// @param ends  end a step apart from the other ranks
    /// @return false if UnitQueue::publish() returns it
    bool publish_early(bool ends);
    /// Publishes a range of a variable as a unit of its own.
    /// @param at  data of the range; null if this rank has none
    void publish_part(int variable, ElementRange range, const char* at);
    /// Moves unpublished data to the start of the queue, after all ranks have met and the queue is
    /// empty. Otherwise the data would block the ring until the step ends, and the syncs of a long
    /// step would fill it.
    void gather();

    /// Publishes, between steps, a request to fill the elements of fixed-size variables that were
    /// not put. Unpublished data stay where they are.
    void publish_fill(std::span<const int> variables);

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
    std::vector<Queued> queued_;  ///< queued data of each variable, for tw_put
    std::vector<UnitPart::Entry> boxes_;
    std::int64_t box_bytes_ = 0;
    std::int64_t description_ = 0;  ///< bytes of box_bytes_ that describe boxes
    std::int64_t boxes_mark_ = 0;   ///< queue position of the first box (QueueMemory::mark)
};

}  // namespace thalweg::detail
