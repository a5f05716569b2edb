// SPDX-License-Identifier: Apache-2.0
#include "service/queue/writer/file_rounds.hpp"

#include <algorithm>

namespace thalweg::detail {

FileRounds::FileRounds(Storage& storage, const ServicePlan& plan, UnitWriterSources& sources,
                       UnitWriterEvents& events, bool counts, Progress& progress)
    : storage_(storage),
      placement_(storage.placement()),
      plan_(plan),
      sources_(sources),
      events_(events),
      counts_(counts),
      progress_(progress) {}

void FileRounds::add(bool mark) {
    open_.push_back({placement_ != nullptr ? placement_->packed() : 0, progress_.records(), mark});
}

bool FileRounds::first_is_in_file() const {
    return !open_.empty() &&
           (placement_ == nullptr || open_.front().packed <= placement_->settled());
}

Status FileRounds::advance(bool& worked) {
    Status status = lost_ ? Status{} : settle(worked);
    lost_ |= !status.ok();
    return status.ok() ? commit(worked) : status;
}

/// Processes data that wait for places, and ends the rounds whose data are all in the file.
Status FileRounds::settle(bool& worked) {
    bool any = false;
    Status status;
    if (placement_ != nullptr) status = placement_->settle(any);
    if (status.ok() && placement_ != nullptr && plan_.options.durable && first_is_in_file())
        status = storage_.sync();
    worked |= any || !status.ok();
    if (!status.ok()) return status;
    // The header writer must learn of the chunks that were just written. If no round ends below,
    // nothing else reports them.
    if (any && !first_is_in_file()) events_.report();
    for (; first_is_in_file(); open_.pop_front(), worked = true) end(open_.front());
    return {};
}

void FileRounds::end(const Round& round) {
    if (counts_) records_after_.push_back(round.records);
    const std::int64_t n = done_.fetch_add(1, std::memory_order_release) + 1;
    if (round.mark) ++marks_;
    sources_.tell_rounds(n);
    events_.report();
}

std::int64_t FileRounds::written_by_all() const {
    std::int64_t all = done();
    if (plan_.layout.grid.own_files) return all;
    all = std::min(all, others_.load(std::memory_order_acquire));
    const auto near = std::find_if(sources_.begin(), sources_.end(),
                                   [](const UnitSource& s) { return s.region != nullptr; });
    for (int a = 0; near != sources_.end() && a < plan_.node_writers; ++a) {
        const Futex& own = Region::of(*near->region).rounds[a];
        all = std::min(all, whole_count(own.load(std::memory_order_acquire), counted_));
    }
    return all;
}

/// Raises the record count to what all writers of the file have written.
Status FileRounds::commit(bool& worked) {
    if (records_after_.empty()) return {};
    const std::int64_t all = written_by_all();
    if (all <= counted_) return {};
    worked = true;
    std::int64_t records = 0;
    for (; counted_ < all; ++counted_) {
        records = records_after_.front();
        records_after_.pop_front();
    }
    return records == progress_.counted() ? Status{} : count(records, plan_.options.durable);
}

Status FileRounds::count(std::int64_t records, bool durable) {
    Status status = storage_.set_records(records, durable);
    if (status.ok()) progress_.note_counted(records);
    return status;
}

Status FileRounds::commit_all(bool durable) {
    records_after_.clear();
    counted_ = done();
    return count(progress_.records(), durable);
}

}  // namespace thalweg::detail
