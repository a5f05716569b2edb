// Service inline: parts that were put wait in memory, packed, or in the model's arrays; collective
// calls write them. If all ranks have put a part of the same variable and record,
// they write it together: all pack directly into the writers' slots while the writers write. The
// rest goes to the writers in messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "service/inline/merge_exchange.hpp"
#include "service/inline/staged_parts.hpp"

namespace thalweg::detail {

class InlineService final : public Service {
public:
    InlineService(FileContext& file, Target& target, Batch& batch);
    ~InlineService() override {
        if (!file_.copies) NodeCopies::keep(copies_, file_.session);
    }
    InlineService(const InlineService&) = delete;
    InlineService& operator=(const InlineService&) = delete;

    /// Plans the exchange.
    /// @param mine  this rank's own failure so far
    /// @note Collective; the status is the same on every rank
    Status begin(Status mine);

    Status put(const Status& checked, const PartsToPut& put) override;
    Status end_step() override;
    Status sync(bool durable) override;
    Status fill(std::span<const int> variables) override;
    Status hand_over(Agreed& agreed) override;
    Status close(bool all, bool good) override;
    void add_figures(FileFigures& figures) const override;

private:
    Status agree(Call call, int variable, const Status& mine, Agreed& agreed);
    void begin_records();
    void note_written_alone();
    Status write_alone(const Part& part);
    Status put_parts(const PartsToPut& put);
    Status put_now(const Status& checked, const Part& part);
    Status write(const Agreed& agreed, Ends ends, bool durable);
    bool is_complete(const Agreed& agreed) const;
    Status write_parts(const Agreed& agreed, Ends ends, std::int64_t& records);
    Status end_write(Ends ends, std::int64_t records, bool durable, Status mine);

    FileContext& file_;
    Target& target_;
    Batch& batch_;
    Progress progress_;  ///< on all ranks, but only writers know incomplete variables
    std::shared_ptr<NodeCopies> copies_;
    StagedParts staged_;
    SectionWriter writer_;
    CollectiveWriter collective_;
    /// Writes parts that are not written together. Created on all ranks when the first such part is
    /// put.
    std::optional<MergeExchange> merge_;
    bool immediate_ = false;  ///< a step exceeds the staging budget: tw_put is collective
    bool boxed_ = false;      ///< sections or records were put, on some rank
};

}  // namespace thalweg::detail
