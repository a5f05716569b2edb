// Service inline: what one rank puts as boxes, or as records by a decomposition. Records wait, as
// copies or in the model's memory, for the ranks to meet; boxes, and what follows boxes, go to a
// queue. All of it is local.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <utility>

#include "service/inline/finish_write.hpp"
#include "service/inline/staging.hpp"
#include "service/queue/queue_service.hpp"

namespace thalweg::detail {

class RecordPuts {
public:
    /// @param progress  of the file, as far as this rank knows
    RecordPuts(FileContext& file, Target& target, Batch& batch, const Progress& progress);

    Status check_room(int variable, std::span<const HeldBox> held, std::int64_t records);
    Status check_record_room(const RecordPut& put);
    Status put_box(const BoxPart& part);
    Status put_record(const RecordPut& put);
    Status take_misfits();
    /// The first of them since this was last called.
    Status last_misfit() { return std::exchange(misfit_, {}); }

    /// What waits moves to the queue, but for the records that `stays` names.
    template <class Stays>
    Status queue_waiting(Stays&& stays) {
        for (RecordPart& p : batch_.staged)
            if (!stays(p.placed->variable, p.record))
                if (Status s = queue_part(p); !s.ok()) return s;
        return {};
    }
    /// All of it is written, or in the queue.
    void forget();

    /// Made on a rank that has boxes, or on all; null before.
    QueueService* queue() const { return queue_.get(); }
    Status make_queue();
    /// What it knows of the file gets old where the ranks write without it: one that was made for a
    /// box that was refused goes.
    void drop_queue() { queue_.reset(); }
    std::int64_t copied_bytes() const { return copies_.bytes(); }

private:
    RecordPart* waiting(int variable, std::int64_t record);
    bool goes_by_queue(const RecordPut& put) const;
    Status stage(const RecordPut& put, RecordPart& part);
    Status queue_record(const RecordPut& put);
    Status queue_part(RecordPart& part);
    Status settle(int variable, std::int64_t record);

    FileContext& file_;
    Target& target_;
    Batch& batch_;
    const Progress& progress_;
    StagingMemory copies_;  ///< of batch_.staged
    std::unique_ptr<QueueService> queue_;
    std::int64_t queue_bytes_ = 0;                  ///< that it has, or would have
    std::set<std::pair<int, std::int64_t>> boxed_;  ///< variables and records that are in it
    Status misfit_;  ///< of this rank, until all ranks have learnt of it
};

}  // namespace thalweg::detail
