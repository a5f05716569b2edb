// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/header_writer_index.hpp"

#include <algorithm>
#include <utility>

#include "base/system/ignore_sigxfsz.hpp"
#include "storage/netcdf4/index/page.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t index_room = 64 << 10;

}  // namespace

// ---- opening ------------------------------------------------------------------------------------

Room HeaderWriterIndex::room_at_end(std::int64_t bytes) {
    bytes = std::max(bytes, index_room);
    const std::int64_t at = placer_.take_room(bytes);
    return {at, at + bytes};
}

Status HeaderWriterIndex::open(NextRoom next_room) {
    Status status;
    index_ =
        Netcdf4Index::open(path_, definitions_, layout_.chunks.grids, std::move(next_room), status);
    return status;
}

Status HeaderWriterIndex::open_new() {
    const bool known = !layout_.chunks.any_whole();
    Status status = open([this, known, n = std::int64_t(0)](std::int64_t bytes) mutable -> Room {
        if (known || n == 0) return layout_.rooms.room(layout_.map, layout_.definitions_bytes, n++);
        // Begin this space at a page boundary: object headers in the same page are written
        // together.
        const Room room = room_at_end(bytes + page);
        return {rounded(room.begin, page), room.end};
    });
    bool placed = false;
    for (std::size_t i = 0; i < layout_.chunks.grids.size() && status.ok(); ++i) {
        if (layout_.chunks.grids[i].chunked) continue;
        status = index_->place(i, layout_.map.offset[i]);
        placed = true;
    }
    // Commit now, so that readers find the fixed-size variables even before the file has records.
    return status.ok() && placed ? index_->commit(false) : status;
}

Status HeaderWriterIndex::open_existing(std::int64_t kept, const std::vector<int>& unwritten,
                                        std::int64_t size, std::vector<PlacedChunk>& chunks) {
    kept_ = known_ = kept;
    Status status = open([this](std::int64_t bytes) { return room_at_end(bytes); });
    if (!status.ok()) return status;
    // Place chunks from the end on that the index knows: data that a killed run left beyond may be
    // overwritten, but not what fills the unwritten variables.
    placer_.set_end(unwritten.empty() ? index_->end() : std::max(size, index_->end()));
    for (const int i : unwritten)
        if (status.ok()) status = index_->place(i, layout_.map.offset[i]);
    if (status.ok() && !unwritten.empty()) status = index_->commit(always_);
    if (status.ok() && index_->records() > kept_) status = drop_records();
    for (std::size_t v = 0; v < layout_.chunks.grids.size() && status.ok(); ++v)
        status = find_chunks(v, chunks);
    return status;
}

Status HeaderWriterIndex::find_chunks(int variable, std::vector<PlacedChunk>& chunks) {
    return index_->for_chunks(variable, kept_, [&](const PlacedChunk& c) { chunks.push_back(c); });
}

Status HeaderWriterIndex::drop_records() {
    std::vector<PlacedChunk> chunks;
    Status status;
    const std::size_t n = definitions_.variables.size();
    for (std::size_t v = 0; v < n && status.ok(); ++v)
        if (layout_.chunks.grids[v].records > 1) status = find_chunks(v, chunks);
    if (status.ok()) status = store_.know(chunks);
    for (std::size_t v = 0; v < n && status.ok(); ++v)
        if (definitions_.variables[v].record && index_->records(v) > kept_)
            status = store_.cut(v, kept_);
    if (status.ok()) status = index_->drop_records(kept_);
    if (!status.ok()) return status;
    for (const PlacedChunk& c : store_.take_placed(kept_))
        if (status = index_->add(c); !status.ok()) return status;
    status = index_->commit_together(always_, true);
    placer_.set_end(index_->end());
    return status;
}

// ---- counting -----------------------------------------------------------------------------------

void HeaderWriterIndex::count(std::int64_t records, bool durable, bool all) {
    const std::lock_guard lock(mutex_);
    const std::int64_t in_chunks = all ? records : layout_.chunks.in_chunks(records);
    if (in_chunks < records) records = std::clamp(shown_, in_chunks, records);
    records = shown_ = std::max(records, kept_);
    const bool starts = later_ && !log_ && std::this_thread::get_id() != model_thread_;
    if (!counted_) counted_.emplace();
    std::vector<PlacedChunk>& chunks = counted_->chunks;
    const std::size_t before = starts ? 0 : chunks.size();
    if (starts) log_.emplace(path_, definitions_);
    counted_->records = records;
    counted_->durable = durable || always_;
    for (; known_ < records; ++known_) layout_.add_known(definitions_, known_, chunks);
    const std::vector<PlacedChunk> placed = store_.take_placed(records);
    chunks.insert(chunks.end(), placed.begin(), placed.end());
    if (log_) log_->add({records, {chunks.begin() + before, chunks.end()}}, durable);
}

Status HeaderWriterIndex::enter() {
    std::optional<Counted> counted;
    {
        const std::lock_guard lock(mutex_);
        if (!index_) return {};
        counted.swap(counted_);
    }
    if (!counted) return {};
    // Puts call this, after which the file must not go on without these chunks.
    Status status = catch_errors([&] { return enter_counted(*counted); });
    if (!status.ok()) index_.reset();
    const std::lock_guard lock(mutex_);
    if (log_ && status.ok() && !counted_) log_->clear();
    return status;
}

Status HeaderWriterIndex::enter_counted(const Counted& counted) {
    IgnoreSigxfsz guard;
    Status status = index_->set_records(counted.records);
    for (const PlacedChunk& c : counted.chunks)
        if (status.ok()) status = index_->add(c);
    return status.ok() ? index_->commit(counted.durable) : status;
}

Status HeaderWriterIndex::close(std::int64_t records, const LateAttributes& late) {
    if (!index_) return {};
    count(records, false, false);
    Status status = enter();
    if (!index_) return status;
    if (status.ok() && !late.empty()) {
        status = index_->set_attributes(late);
        if (status.ok()) status = index_->commit_together(always_, false);
    }
    Status closed = index_->close(always_);
    if (status.ok()) status = std::move(closed);
    index_.reset();
    if (status.ok() && log_) log_->remove();
    return status;
}

}  // namespace thalweg::detail
