// The services with units: data are put into the queue, and steps are published.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "service/queue/rank/open_unit.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

class QueueService final : public Service {
public:
    /// @param holds_step  every rank's queue has room for a step; otherwise, variables are put as
    ///                    boxes
    QueueService(FileContext& file, Batch& batch, Order order, std::unique_ptr<Publisher> publisher,
                 bool holds_step);
    ~QueueService() override;

    Status put(const Status& checked, const PartsToPut& put) override;
    Status end_step() override;
    Status sync(bool durable) override;
    Status fill(std::span<const int> variables) override;
    Status hand_over(Agreed& agreed) override;
    Status close(bool all, bool good) override;
    bool finished() const override { return publisher_->unit_queue().drained(); }
    void add_figures(FileFigures& figures) const override;

private:
    Status agree(Call call, int variable, const Status& mine, Agreed& agreed);
    Status put_in_step(const Part& part, bool deferred);
    Status put_parts(const PartsToPut& put);
    Status drain(bool durable);
    void finish_steps();
    Status queue_deferred(bool records);
    Status queue_rest(UnitKind kind);
    Status mismatch(Call call, int variable);
    Status agree_on_misfits(Status mine);

    FileContext& file_;
    Batch& batch_;
    std::unique_ptr<Publisher> publisher_;
    OpenUnit unit_;
    bool holds_step_;
    bool has_records_ = false;
    double drain_ = 0;  ///< seconds spent waiting for published data to be written
};

}  // namespace thalweg::detail
