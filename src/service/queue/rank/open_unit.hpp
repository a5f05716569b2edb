// The unit of work that a rank has open: the data that it has put since it last published a unit,
// by tw_put or as boxes. Packs them into the rank's queue, and makes room for them. Values that an
// interface has packed in memory of the node stay there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "service/batch.hpp"
#include "service/file_context.hpp"
#include "service/node_copies.hpp"
#include "service/queue/rank/publisher.hpp"
#include "service/queue/rank/unit_queue.hpp"
#include "service/queue/service_plan.hpp"
#include "service/queue/unit_part.hpp"

namespace thalweg::detail {

/// Plans the queue for this rank's holdings. Local; depends only on the file's definitions and
/// options, and on the number of nodes.
QueuePlan plan_queue(const FileContext& file);

/// Returns the bytes that describe a box in a unit part.
std::int64_t description_of(const HeldBox& held);

/// Returns the most bytes that boxes of a variable need in a queue, however they are cut.
std::int64_t room_for_boxes(const Variable& variable, std::span<const HeldBox> boxes,
                            std::int64_t capacity);

/// Tests if a replicated variable does not fit into the queue with the rest of a step, but can be
/// put as boxes. The result is the same on every rank.
bool goes_as_boxes(const FileContext& file, int variable);

class OpenUnit : public ReferringUnits {
public:
    /// @param order     byte order in the file
    /// @param mismatch  function that handles a wait for room which would never end, as other ranks
    ///                  are in a collective call; gets the variable that waits
    OpenUnit(FileContext& file, Batch& batch, Order order, Publisher& publisher,
             std::function<Status(int)> mismatch);
    ~OpenUnit() override;
    OpenUnit(const OpenUnit&) = delete;
    OpenUnit& operator=(const OpenUnit&) = delete;

    /// Keeps an error of the writers that this rank knows already. Returns the file's first error.
    Status poll() {
        (void)file_.keep(publisher_.known_failure());
        return file_.failed;
    }
    /// Packs this rank's part of a variable.
    Status put_whole(const Part& part);
    /// Packs a part box by box.
    Status put_boxes(const Part& part);
    /// Checks that all boxes of a part, and of similar parts in `records` records, fit into the
    /// queue, if units are published only in collective calls.
    Status check_room(const Part& part, std::int64_t records);

    /// Publishes a step, or the unit that tw_sync or tw_close ends: boxes and fixed-size variables.
    /// @return false if UnitQueue::publish() has returned false
    bool publish(UnitKind kind);
    /// Publishes the queued data in the middle of a step, if there are any, so that their room can
    /// be reused. Must not be called if publishing is collective.
    Status make_room();
    /// Publishes, between steps, a request to fill the elements of fixed-size variables that were
    /// not put. Unpublished data stay where they are.
    void publish_fill(std::span<const int> variables);
    /// Moves unpublished data to the start of the queue, after all ranks have met and the queue is
    /// empty. Otherwise the data would block the ring until the step ends, and the syncs of a long
    /// step would fill it.
    void gather();

    bool refers() const override { return refers_; }
    std::int64_t published() const override { return queue().published(); }
    std::int64_t written() const override { return queue().done(); }

private:
    struct Queued {
        char* at = nullptr;
        std::int64_t bytes = 0, mark = 0;
    };
    UnitQueue& queue() const { return publisher_.unit_queue(); }
    std::int64_t position(const char* data) const { return queue().memory().position(data); }
    char* room_for(int variable, std::int64_t bytes);
    bool can_refer(const Part& part) const;
    Status refer(const Part& part, std::size_t number);
    Status put_box(const Part& part, std::size_t number, const Box& box);
    Status limit_boxes(std::int64_t needed);
    void add_box(PackedValues values, std::int64_t bytes, std::int64_t description);
    Status room_for_box(int variable, std::int64_t bytes, std::int64_t description, char*& to);
    Status no_room(int variable);
    Status no_room_for_boxes(int variable) const;
    std::int64_t descriptor_bytes() const;
    UnitPart unit_part(UnitKind kind) const;
    void describe(UnitPart& unit_part, UnitKind kind) const;
    std::int64_t first_mark(bool all) const;
    bool publish_boxes(UnitPart& unit, std::int64_t keep);

    FileContext& file_;
    Batch& batch_;
    Order order_;
    Publisher& publisher_;
    std::function<Status(int)> mismatch_;
    Clips clips_;
    std::vector<Queued> queued_;  ///< queued data of each variable, for tw_put
    std::vector<PackedValues> boxes_;
    std::int64_t box_bytes_ = 0;    ///< bytes of the boxes and their descriptions
    std::int64_t description_ = 0;  ///< bytes of box_bytes_ that describe boxes
    /// Queue position of the first box whose values are in the queue (QueueMemory::mark).
    std::int64_t boxes_mark_ = -1;
    bool refers_ = false;  ///< values of a box are in the memory that the node shares
};

}  // namespace thalweg::detail
