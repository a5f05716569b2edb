// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index_entries.hpp"

#include <utility>

#include "base/size_signal.hpp"

namespace thalweg::detail {

Status IndexEntries::enter(std::unique_ptr<Netcdf4Index>& index) {
    std::int64_t records;
    bool durable;
    std::vector<PlacedChunk> chunks;
    {
        const std::lock_guard lock(mutex_);
        if (!behind_ || !index) return {};
        behind_ = false;
        records = counted_;
        durable = durable_;
        chunks.swap(chunks_);
    }
    const auto enter_all = [&]() -> Status {
        NoSizeSignal guard;
        Status status = index->set_records(records);
        for (const PlacedChunk& c : chunks)
            if (status.ok()) status = index->add(c);
        return status.ok() ? index->commit(durable) : status;
    };
    Status status = alone(enter_all);
    if (!status.ok()) index.reset();
    const std::lock_guard lock(mutex_);
    if (log_ && status.ok() && !behind_) log_->clear();
    return status;
}

}  // namespace thalweg::detail
