// Service inline: all ranks pack what was put straight into the writers' slots while these write,
// in the calls in which they meet. What only some ranks have of a record, and boxes, go by a queue
// and messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "service/queue/queue_service.hpp"
#include "service/service.hpp"
#include "service/space_writer.hpp"
#include "service/staging.hpp"
#include "service/whole_puts.hpp"

namespace thalweg::detail {

class InlineService final : public Service {
public:
    InlineService(FileContext& file, Target& target, Batch& batch);

    /// Plans the exchange. @note Collective; the status is the same on every rank
    Status begin();

    Status put(Status checked, int variable, ArrayView view, bool deferred) override;
    Status allow_boxes(int variable) const override;
    Status check_room(int variable, std::span<const HeldBox> held, std::int64_t records) override;
    Status put_box(const BoxPart& part) override;
    Status check_record_room(const RecordPut& put) override;
    Status put_record(const RecordPut& put) override;
    Status take_misfits() override;
    Status poll() override { return boxes_ ? boxes_->poll() : Status{}; }
    Status agree_to_close(Agreed& agreed) override;
    Status end_step() override;
    Status sync(bool durable) override;
    Status write_rest(const Agreed& agreed) override;
    Status finish(bool durable) override { return joined_ ? boxes_->finish(durable) : Status{}; }
    Status close(bool good) override;
    bool is_at_rest() const override;
    Status end_at_rest(std::int64_t& records) override;
    void add_figures(FileFigures& figures) const override;

private:
    static constexpr std::int64_t none = -1;  ///< records that are to be counted
    /// What a meeting ends.
    enum class Ends { step, sync, file };

    Status agree(Call call, int variable, const Status& mine, Agreed& agreed);
    Status put_now(Status checked, int variable, const ArrayView& view);
    void skip_all(const Space& space);
    Status write_space(bool records);
    Status write_fixed(const Agreed& agreed, bool last);
    Status publish_records(std::int64_t records, bool durable);
    Status finish_write(Status mine, const Status& misfit, std::int64_t records, bool durable);

    // Once some rank has put boxes, or records by a decomposition (inline_batch.cpp).
    RecordPart* waiting(int variable, std::int64_t record);
    bool goes_by_queue(const RecordPut& put) const;
    Status stage(const RecordPut& put, RecordPart& part);
    Status queue_part(RecordPart& part);
    Status settle(int variable, std::int64_t record);
    Status make_boxes();
    Status turn_to_boxes();
    Status write_batch(const Agreed& agreed, Ends ends, bool durable);
    void add_puts(const Agreed& agreed, Ends ends);
    bool is_safe(const WholePut& put) const;
    bool keep_writable();
    bool is_put(int variable, std::int64_t record) const;
    Status queue_rest(Ends ends);
    std::int64_t records_after(const Agreed& agreed, Ends ends) const;
    Status write_puts(std::int64_t records, bool fill_fixed);
    Status write_puts_of(bool records, std::int64_t record, bool fill);
    void drop_written();
    Status end_queued(const Agreed& agreed, Ends ends, bool durable, Status mine);
    Status end_written(Ends ends, std::int64_t records, bool durable, Status mine);

    FileContext& file_;
    Target& target_;
    Batch& batch_;
    Staging staging_;
    SpaceWriter writer_;
    std::vector<char> filled_;  ///< fixed variables that were written, or are there
    bool immediate_ = false;    ///< a step exceeds the staging budget: puts are collective

    bool turned_ = false;          ///< the file has boxes, or records by a decomposition
    std::int64_t records_ = 0;     ///< of the file, complete; once turned
    StagingMemory copies_;         ///< of batch_.staged
    std::vector<WholePut> puts_;   ///< that the ranks write together
    std::vector<Action> actions_;  ///< of each place of the space that is written
    std::vector<const ArrayView*> arrays_;
    std::vector<SpaceWriter::Chosen> chosen_;
    std::unique_ptr<QueueService> boxes_;           ///< made on a rank that has boxes, or on all
    bool joined_ = false;                           ///< on all
    std::int64_t queue_bytes_ = 0;                  ///< that it has, or would have
    std::set<std::pair<int, std::int64_t>> boxed_;  ///< variables and records of boxes in the queue
    Status misfit_;  ///< of this rank, until all ranks have learnt of it
};

}  // namespace thalweg::detail
