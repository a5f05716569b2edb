// Services with units: a model rank publishes the data that it has put, and writers write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "comm/team.hpp"
#include "service/queue/rank/unit_queue.hpp"
#include "service/queue/service_plan.hpp"
#include "service/spare_queues.hpp"
#include "storage/file_sections.hpp"

namespace thalweg::detail {

/// The connection of a model rank to the writers of a service.
class Publisher {
public:
    virtual ~Publisher() {
        if (closed_) spares_.keep(unit_queue_->memory().release());
    }

    UnitQueue& unit_queue() { return *unit_queue_; }
    /// Returns the memory of the node from which the writers take values; null if there is none.
    const Memory* copies() const { return plan_.copies; }
    /// Publishes the open unit; see UnitQueue::publish.
    /// @note Collective if collective() is true
    virtual bool publish(UnitPart& unit_part, std::int64_t keep = -1) = 0;
    /// Reports an error of this rank to the writers, who inform all ranks.
    virtual void fail(const Status& status) { unit_queue_->region().fail(status); }
    /// Returns an error of the file if this rank knows of one already.
    virtual Status known_failure() { return unit_queue_->region().failure(); }
    /// Notes that this rank enters a collective call; see UnitQueue::note_call.
    virtual void note_call() { unit_queue_->note_call(); }
    /// Tests if ranks exchange messages when they publish. If so, they must agree beforehand.
    virtual bool collective() const { return false; }
    /// Waits until everything that all ranks have published is in the file and its records are
    /// counted.
    /// @param durable  sync the data to the disk
    /// @param records  receives the records of the file, if this rank knows them; some rank does
    /// @return the same on every rank
    /// @note Collective
    virtual Status finish(bool durable, std::int64_t& records) = 0;
    /// Completes the file under its present name, after finish().
    /// @return the same on every rank
    /// @note Collective
    virtual Status close(bool good, const LateAttributes& late) = 0;
    /// Returns the counts of this rank's writer, or the sum of its servers.
    virtual WriteCounts counts() const = 0;
    virtual int writers() const = 0;

protected:
    /// @param spares  memories of queues; one is used, and receives it when the file is closed
    Publisher(Team& team, const ServicePlan& plan, SpareQueues& spares)
        : team_(team), plan_(plan), layout_(make_layout(plan.layout)), spares_(spares) {}
    /// Makes the queue of this rank. Local.
    /// @param writers    number of writers on this node
    /// @param doorbell  word on which they sleep
    /// @param setting   name of the setting that limits their number
    Status make_queue(std::size_t writers, Futex& doorbell, const char* setting) {
        if (writers > Region::max_writers)
            return failure(TW_ESETTING,
                           "{}: {} writers on a node; with a service at most {} are possible: "
                           "reduce the setting {}",
                           plan_.path, writers, Region::max_writers, setting);
        Status status;
        const auto make = [&](std::unique_ptr<Segment> spare) {
            status = {};
            return QueueMemory::make(plan_.queue.bytes, *plan_.boxes, status, plan_.queue.grows,
                                     std::move(spare));
        };
        auto memory = make(spares_.take(Region::data_at + plan_.queue.bytes));
        if (!memory) {  // the spare ones may have what it lacks
            spares_.clear();
            memory = make(nullptr);
        }
        if (!memory) return status;
        unit_queue_ = std::make_unique<UnitQueue>(std::move(memory), static_cast<int>(writers),
                                                  doorbell, team_.world(), plan_.queue.grows);
        unit_queue_->memory().limit(plan_.queue.limit);
        return {};
    }

    Team& team_;
    ServicePlan plan_;
    std::unique_ptr<Layout> layout_;
    std::unique_ptr<UnitQueue> unit_queue_;
    FileSections sections_;
    bool closed_ = false;  ///< no writer of the node reads this rank's queue any more

private:
    SpareQueues& spares_;
};

}  // namespace thalweg::detail
