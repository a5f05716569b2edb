// SPDX-License-Identifier: Apache-2.0
#include "reading/read_caches.hpp"

namespace thalweg::detail {

Status ReadCaches::make() {
    if (read_cache() != nullptr) return {};
    const std::int64_t staging = file_.options.staging;
    const std::size_t bytes = ReadCache::data_at + staging;
    Status status = share_segments(file_.team.node(), file_.reads() ? bytes : 0, segments_);
    for (const auto& segment : segments_)
        read_cache_.memory.push_back(segment ? segment->data() : nullptr);
    if (status.ok() && file_.reads()) {
        char* const memory = read_cache_.memory[file_.team.topology().node_rank];
        ahead_ = std::make_unique<ReadAhead>(file_.source->ahead(), memory + ReadCache::data_at,
                                             staging);
        status = ahead_->start();
    }
    if (status = file_.team.agree(status); status.ok())
        read_cache_.ahead = ahead_.get();
    else
        end();
    return status;
}

void ReadCaches::end() {
    ahead_.reset();
    read_cache_ = {};
    segments_.clear();
}

void ReadCaches::expect(const std::vector<PlaceSource>& sources, const Scatter& scatter, bool asked,
                        bool spare) {
    if (!ahead_) return;
    const std::int64_t first = ahead_->expect(sources, asked, spare);
    scatter.read_ahead(ahead_->expected(), first, *ahead_);
}

/// Returns the sources of the same variables in a later record; empty if there is no such record.
std::vector<PlaceSource> ReadCaches::later(const std::vector<PlaceSource>& sources,
                                           int records) const {
    std::vector<PlaceSource> result(sources);
    bool any = false;
    for (PlaceSource& s : result) {
        if (!file_.variable(s.variable).record) continue;
        any = true;
        s.record += records;
        if (s.record >= file_.source->records() || !file_.source->check(s.variable, s.record).ok())
            return {};
    }
    if (!any) result.clear();
    return result;
}

/// Expects that the next record of the same variables will be read next. If nothing else is
/// expected, adds the record after that one, so that the file system has work while the next record
/// is used.
void ReadCaches::look_ahead(const std::vector<PlaceSource>& sources, const Scatter& scatter,
                            bool good) {
    if (!ahead_) return;
    ahead_->release();
    std::vector<PlaceSource> next[2];
    if (file_.options.read_ahead && good)
        for (int i : {0, 1}) next[i] = later(sources, i + 1);
    ahead_->forget(sources, next);
    for (int i : {0, 1}) {
        if (next[i].empty() || (i == 1 && ahead_->expects_others(sources))) return;
        expect(next[i], scatter, false, i == 1);
    }
}

void ReadCaches::add_to(ReadFigures& figures) const {
    if (!ahead_) return;
    figures.ahead = ahead_->counts().taken;
    figures.unused = ahead_->counts().unused;
}

}  // namespace thalweg::detail
