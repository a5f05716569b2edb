// Service inline: all ranks pack what was put straight into the writers' slots while these write,
// in the calls in which they meet. Files with boxes, or with records by a decomposition, are
// written by MixedBatch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/inline/mixed_batch.hpp"

namespace thalweg::detail {

class InlineService final : public Service {
public:
    InlineService(FileContext& file, Target& target, Batch& batch);

    /// Plans the exchange. @note Collective; the status is the same on every rank
    Status begin();

    Status put(Status checked, int variable, ArrayView view, bool deferred) override;
    Status allow_boxes(int variable) const override;
    Status check_room(int variable, std::span<const HeldBox> held, std::int64_t records) override {
        return local_.check_room(variable, held, records);
    }
    Status put_box(const BoxPart& part) override { return local_.put_box(part); }
    Status check_record_room(const RecordPut& put) override {
        return local_.check_record_room(put);
    }
    Status put_record(const RecordPut& put) override {
        mixed_.make_room();
        return local_.put_record(put);
    }
    Status take_misfits() override { return local_.take_misfits(); }
    Status poll() override { return local_.queue() ? local_.queue()->poll() : Status{}; }
    Status agree_to_close(Agreed& agreed) override;
    Status end_step() override;
    Status sync(bool durable) override;
    Status fill(std::span<const int> variables) override;
    std::int64_t records() const override {
        return mixed_.turned() ? progress_.records : batch_.record;
    }
    Status write_rest(const Agreed& agreed) override;
    Status finish(bool durable) override {
        return mixed_.joined() ? local_.queue()->finish(durable) : Status{};
    }
    Status close(bool good) override;
    bool is_at_rest() const override;
    Status end_at_rest(std::int64_t& records) override;
    void add_figures(FileFigures& figures) const override;

private:
    Status agree(Call call, int variable, const Status& mine, Agreed& agreed);
    Status put_now(Status checked, int variable, const ArrayView& view);
    const ArrayView* array_of(int variable) const;
    Status write_fixed(const Agreed* agreed, bool last);
    Status prepare_fills();
    Status write_record(const Agreed& agreed);

    FileContext& file_;
    Target& target_;
    Batch& batch_;
    Progress progress_;
    Staging staging_;
    SpaceWriter writer_;
    RecordPuts local_;
    MixedBatch mixed_;
    bool immediate_ = false;  ///< a step exceeds the staging budget: puts are collective
};

}  // namespace thalweg::detail
