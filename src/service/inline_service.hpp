// Service inline: all ranks pack what was put straight into the writers' slots while these write,
// in the calls in which they meet. Boxes go by messages; a file that has some goes on like that.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "exchange/direct.hpp"
#include "exchange/stream.hpp"
#include "service/queue/queue_service.hpp"
#include "service/service.hpp"
#include "service/staging.hpp"

namespace thalweg::detail {

class InlineService final : public Service {
public:
    InlineService(FileContext& file, Target& target, Batch& batch);

    /// Plans the exchange. @note Collective; the status is the same on every rank
    Status begin();

    Status put(Status checked, int variable, ArrayView view, bool deferred) override;
    Status allow_boxes(int variable) const override;
    Status check_room(int variable, std::span<const HeldBox> held, std::int64_t records) override;
    Status put_box(const BoxPart& part) override { return boxes_->put_box(part); }
    Status take_misfits() override { return boxes_ ? boxes_->take_misfits() : Status{}; }
    Status poll() override { return boxes_ ? boxes_->poll() : Status{}; }
    Status agree_to_close(Agreed& agreed) override;
    Status end_step() override;
    Status sync(bool durable) override;
    Status write_rest(const Agreed& agreed) override;
    Status finish(bool durable) override { return turned_ ? boxes_->finish(durable) : Status{}; }
    Status close(bool good) override;
    void add_figures(FileFigures& figures) const override;

private:
    enum class Written { fixed, record, record_complete };

    Status agree(Call call, int variable, const Status& mine, Agreed& agreed);
    Status put_now(Status checked, int variable, const ArrayView& view);
    Status write_space(bool records, const std::vector<Action>& actions);
    Status run_direct(bool records, std::int64_t base, const std::vector<Action>& actions,
                      std::span<const ArrayView* const> arrays);
    Status write_fixed(const Agreed& agreed, bool last);
    Status publish_records(bool durable);
    Status finish_write(Status mine, Written written, bool durable);
    Status make_boxes();
    Status turn_to_boxes();

    FileContext& file_;
    Target& target_;
    Batch& batch_;
    Staging staging_;
    Spaces spaces_;
    std::unique_ptr<Layout> layout_;  ///< with direct: who fills what no rank holds
    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Direct> direct_;
    std::vector<char> filled_;  ///< fixed variables that were written, or are there
    bool stream_used_ = false;  ///< since the last agreement
    bool immediate_ = false;    ///< a step exceeds the staging budget: puts are collective
    std::unique_ptr<QueueService> boxes_;
    bool turned_ = false;  ///< all that is put goes through boxes_
};

}  // namespace thalweg::detail
