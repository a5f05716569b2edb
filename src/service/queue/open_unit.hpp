// The unit of work that a rank has open: what it has queued since it last published, by tw_put and
// as boxes.
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

    /// Where the queue has room for what this rank holds of a variable: the same room until it is
    /// published. Null as Outbox::take().
    char* room_for(int variable, std::int64_t bytes);

    void add_box(Parcel::Entry entry, std::int64_t bytes, std::int64_t description);
    bool has_boxes() const { return !boxes_.empty(); }
    /// Whether nothing is queued.
    bool empty() const;
    /// Bytes of the boxes, with what describes them.
    std::int64_t box_bytes() const { return box_bytes_; }
    /// What the descriptor of the unit takes at most, so far.
    std::int64_t descriptor_bytes() const;
    /// The same, and that of a part which is published before it.
    std::int64_t descriptor_bytes_with_part() const;

    /// Publishes a step, or what tw_sync and tw_close end: boxes and fixed-size variables.
    /// @return false as Outbox::publish()
    bool publish(UnitKind kind);
    /// Hands over what is queued in the middle of a step. @note Collective where publishing is
    void publish_early();
    /// A range of a variable in a unit of its own.
    /// @param at  the range's data, null for none
    void publish_part(int variable, ElementRange range, const char* at);
    /// After all ranks have met and the queue is empty: what stays open moves to its start. Where
    /// it lies, nothing after it would become free before the step ends, and the syncs of a long
    /// step would fill the queue.
    void gather();

    /// A step ended.
    /// Asks for fill values where nothing was put of fixed-size variables. What is open stays open.
    void publish_fill(std::span<const int> variables);
    void next_step() { ++steps_; }
    /// The ranks have met.
    void meet() { steps_ = 0; }

private:
    struct Queued {
        char* at = nullptr;
        std::int64_t bytes = 0, mark = 0;
    };
    std::int64_t plain_descriptor_bytes() const;
    Parcel parcel(UnitKind kind) const;
    Parcel make_parcel(UnitKind kind) const;
    void describe(Parcel& parcel, UnitKind kind) const;
    std::int64_t first_that_stays() const;

    const FileContext& file_;
    Batch& batch_;
    Publisher& publisher_;
    std::vector<Queued> queued_;  ///< of each variable, by tw_put
    std::vector<Parcel::Entry> boxes_;
    std::int64_t box_bytes_ = 0;
    std::int64_t description_ = 0;  ///< bytes of it that describe boxes
    std::int64_t boxes_mark_ = 0;   ///< where the first of them lies in the queue
    std::int64_t steps_ = 0;        ///< ended since the ranks met
};

}  // namespace thalweg::detail
