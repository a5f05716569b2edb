// What is read before it is asked for.
// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "dataset/reader.hpp"

namespace thalweg::detail {

/// Memory for what is read ahead, and the thread that reads.
Status Reader::make_shelf() {
    if (!shelf_.memory.empty() || !source_->reads_behind()) return {};
    const std::size_t bytes = Shelf::data_at + options_.staging;
    Status status = share_segments(team_.node(), reads() ? bytes : 0, false, segments_);
    const auto fill = [&]() -> Status {
        for (const auto& segment : segments_)
            shelf_.memory.push_back(segment ? segment->data() : nullptr);
        if (!reads()) return {};
        const std::size_t me = team_.topology().node_rank;
        ahead_ = std::make_unique<ReadAhead>(*source_, shelf_.memory[me] + Shelf::data_at,
                                             options_.staging);
        return ahead_->start();
    };
    if (status.ok()) status = alone(fill);
    if (status = team_.agree(status); !status.ok()) {
        ahead_.reset();
        shelf_.memory.clear();
        segments_.clear();
        return status;
    }
    shelf_.ahead = ahead_.get();
    return {};
}

Status Reader::prefetch() {
    const std::size_t begin = prefetched_.empty() ? 0 : prefetched_.back();
    const auto requests = std::span<const Request>(deferred_).subspan(begin);
    Task task;
    Status status = alone([&]() -> Status {
        task = prepare(requests, true);
        prefetched_.reserve(prefetched_.size() + 1);
        return {};
    });
    status = agree_on(Call::prefetch, requests, status);
    if (!status.ok() || requests.empty()) return status;
    if (status = make_shelf(); !status.ok()) return status;
    const Scatter* scatter = scatter_of(plan_for(task), task, status);
    if (scatter == nullptr) return status;
    prefetched_.push_back(deferred_.size());
    expect(task.selection.sources, *scatter, true, false);
    return {};
}

/// Has it read ahead, as far as there is room and memory.
void Reader::expect(const std::vector<PlaceSource>& sources, const Scatter& scatter, bool asked,
                    bool spare) try {
    if (!ahead_) return;
    const std::int64_t first = ahead_->expect(sources, asked, spare);
    scatter.read_ahead(ahead_->expected(), first, *ahead_);
} catch (const std::bad_alloc&) {  // then it is read when it is wanted
}

/// The same of a later record; nothing if there is none.
std::vector<PlaceSource> Reader::later(std::span<const PlaceSource> sources, int records) const {
    std::vector<PlaceSource> result(sources.begin(), sources.end());
    bool any = false;
    for (PlaceSource& s : result) {
        if (!variable(s.variable).record) continue;
        any = true;
        s.record += records;
        if (s.record >= source_->records() || !source_->check(s.variable, s.record).ok()) return {};
    }
    if (!any) result.clear();
    return result;
}

/// After a read: the next record of the same is likely to be read next. Where nothing else is, the
/// one behind it follows, so that the file system has work while the next one is taken.
void Reader::look_ahead(const Selection& selection, const Scatter& scatter, bool good) try {
    ahead_->release();
    std::vector<PlaceSource> next[2];
    if (options_.read_ahead && good)
        for (int i : {0, 1}) next[i] = later(selection.sources, i + 1);
    ahead_->forget(selection.sources, next);
    for (int i : {0, 1}) {
        if (next[i].empty() || (i == 1 && ahead_->expects_others(selection.sources))) return;
        expect(next[i], scatter, false, i == 1);
    }
} catch (const std::bad_alloc&) {  // then it is not ahead
}

}  // namespace thalweg::detail
