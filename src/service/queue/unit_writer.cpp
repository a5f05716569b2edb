// SPDX-License-Identifier: Apache-2.0
#include "service/queue/unit_writer.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "service/queue/check_units.hpp"

namespace thalweg::detail {

UnitWriter::UnitWriter(ServicePlan plan, const Spaces& spaces, int writer, Storage& storage,
                       UnitWriterHost& host)
    : plan_(std::move(plan)),
      layout_(make_layout(plan_.layout)),
      storage_(storage),
      host_(host),
      sources_(*plan_.definitions, plan_.agent),
      composer_(*plan_.definitions, plan_.whole, spaces, *layout_, writer, storage, plan_.piece,
                &host, plan_.options.existing),
      rounds_(storage, plan_, sources_, host, writer == 0 || plan_.layout.grid.own_files,
              composer_.records()),
      state_(plan_.rank, sources_, host) {}

Status UnitWriter::add_region(std::unique_ptr<Segment> memory) try {
    sources_.add_region(std::move(memory));
    return {};
} catch (const std::bad_alloc&) {
    return failure(TW_ENOMEM, "{}: no memory for what the ranks hold (rank {})", OfFile{plan_.path},
                   OfRank{plan_.rank});
}

void UnitWriter::take(UnitSource& source) {
    if (sources_.take(source)) host_.accepted(source.rank);
}

bool UnitWriter::work() {
    const std::lock_guard lock(working_);
    return !retired_ && work_locked();
}

void UnitWriter::retire() {
    const std::lock_guard lock(working_);
    retired_ = true;
}

/// Does some work. An exception becomes the file's error, as no caller could catch it.
bool UnitWriter::work_locked() try {
    if (!state_.stopped().ok()) {
        const bool any = discard();
        return advance() || any;
    }
    const Status heard = state_.failure();
    const TraceFile file(plan_.path);
    Span span("write unit");
    const double begin = now();
    bool worked = take_boxes() || end_apart() || work_units();
    worked |= advance();
    if (worked) {
        state_.note_counts(storage_.counts(), now() - begin);
        return true;
    }
    span.forget();
    if (heard.ok()) return false;
    state_.fail(heard);  // everything that all ranks have published is written
    return discard();
} catch (const std::exception&) {
    const Status status = exception_status();
    state_.fail(failure(status.code, "{}: {} (rank {})", OfFile{plan_.path}, status.text,
                        OfRank{plan_.rank}));
    return true;
}

/// Discards units after an error: nothing is written, and no rank waits for another.
bool UnitWriter::discard() {
    bool any = false;
    for (UnitSource& s : sources_)
        for (; sources_.next_kind(s); any = true) take(s);
    return any;
}

/// Takes units of boxes, which no other rank has to publish, and writes them. The boxes of one rank
/// may be parts of rows, which would have to be read and written again. So the units of this node's
/// ranks wait for each other unless a rank needs room in its queue.
/// @return true if there were any
bool UnitWriter::take_boxes() {
    const auto is_boxes = [&](const UnitSource& s) {
        return sources_.next_kind(s) == UnitKind::boxes;
    };
    bool complete = true, pressed = false;
    for (const UnitSource& s : sources_) {
        if (!s.region) continue;
        complete &= sources_.next_kind(s) || !s.ended.empty();
        pressed |= is_boxes(s) && s.ahead();
    }
    std::vector<UnitSource*> taken;
    std::vector<UnitPart> unit_parts;
    if ((complete || pressed) && (!host_.forwards() || host_.may_forward()))
        for (UnitSource& s : sources_) {
            if (!s.region || !is_boxes(s) || (!pressed && !s.ended.empty())) continue;
            taken.push_back(&s);
            sources_.open(s, unit_parts);
        }
    const std::size_t own = unit_parts.size();
    for (UnitSource& s : sources_) {
        if (s.region || !is_boxes(s)) continue;
        taken.push_back(&s);
        sources_.open(s, unit_parts);
        if (unit_parts.back().head.ends) s.ended.push_back(unit_parts.back().head.records);
    }
    if (taken.empty()) return false;
    finish_write(composer_.write(unit_parts));
    unit_parts.resize(own);
    for (std::size_t i = 0; i < own; ++i)
        if (UnitHead& head = unit_parts[i].head; std::exchange(head.ends, false))
            taken[i]->ended.push_back(head.records);
    const auto has_any = [](const UnitPart& p) { return !p.entries.empty(); };
    if (host_.forwards() && std::any_of(unit_parts.begin(), unit_parts.end(), has_any))
        host_.forward(unit_parts);
    for (UnitSource* s : taken) take(*s);
    return true;
}

/// Ends a step that ranks end apart from each other, once each rank has ended it or waits for the
/// others. A node informs the others when its ranks have ended it.
/// @return true if anything was done
bool UnitWriter::end_apart() {
    bool all = true, near = true, any = false;
    UnitPart own;
    own.head.kind = UnitKind::boxes;
    std::int64_t records = 0;
    for (const UnitSource& s : sources_) {
        if (!s.ended.empty()) {
            any = true;
            records = std::max(records, s.ended.front());
            own.head.ends |= s.region != nullptr;
        } else if (sources_.next_kind(s).value_or(UnitKind::boxes) == UnitKind::boxes) {
            all = false;
            near &= !s.region;
        }
    }
    if (!any) return false;
    bool worked = false;
    if (near && own.head.ends && host_.forwards() && !sent_apart_) {
        if (!host_.may_forward()) return false;
        own.head.records = records;
        host_.forward({&own, 1});
        sent_apart_ = worked = true;
    }
    if (!all) return worked;
    for (UnitSource& s : sources_)
        if (!s.ended.empty()) s.ended.pop_front();
    sent_apart_ = false;
    Status status = composer_.end_records(records);
    if (status.ok()) status = storage_.end_unit(composer_.records(), false);
    finish_write(std::move(status));
    finish_round(false);
    return true;
}

/// Forwards the next unit once all ranks of this node have published it, and writes it once all
/// ranks have.
/// @return true if anything was done
bool UnitWriter::work_units() {
    const UnitWriterSources::Presence there = sources_.look();
    if (!there.near) return false;
    std::vector<UnitPart> unit_parts;
    for (const UnitSource& s : sources_)
        if (s.region) sources_.open(s, unit_parts);
    bool worked = false;
    if (host_.forwards() && !sent_) {
        if (!host_.may_forward()) return false;
        host_.forward(unit_parts);
        sent_ = worked = true;
    }
    if (!there.all) return worked;
    for (const UnitSource& s : sources_)
        if (!s.region) sources_.open(s, unit_parts);
    write_units(unit_parts);
    const bool mark = !unit_parts.empty() && is_mark(unit_parts.front().head.kind);
    sent_ = false;
    for (UnitSource& s : sources_) take(s);
    finish_round(mark);
    return true;
}

void UnitWriter::write_units(std::span<const UnitPart> unit_parts) {
    if (unit_parts.empty()) return;
    if (Status status = check_units(unit_parts, plan_.definitions->variables, plan_.path,
                                    plan_.options.wording);
        !status.ok())
        return state_.fail(status);
    Status status = composer_.write(unit_parts);
    const bool mark = composer_.boxed() && is_mark(unit_parts.front().head.kind);
    if (status.ok()) status = storage_.end_unit(composer_.records(), mark);
    finish_write(std::move(status));
}

/// Syncs what was written if the file is durable; stops after an error. Data that wait for places
/// are not in the file yet, and are not synced.
void UnitWriter::finish_write(Status status) {
    if (status.ok() && plan_.options.durable && storage_.placement() == nullptr)
        status = storage_.sync();
    if (!status.ok()) state_.fail_here(std::move(status));
}

void UnitWriter::finish_round(bool mark) {
    // After an error the round is incomplete.
    if (state_.stopped().ok()) rounds_.add(composer_.records(), mark);
}

/// Advances the rounds of the file. After an error, which is kept, only counts what is written.
/// @return true if there was something to do
bool UnitWriter::advance() {
    bool any = false;
    const bool stopped = !state_.stopped().ok();
    Status status = alone([&] { return rounds_.advance(any); });
    if (!status.ok() && !stopped) state_.fail_here(std::move(status));
    return any && (status.ok() || !stopped);
}

bool UnitWriter::settle_all() {
    (void)advance();
    return !rounds_.any_open() || !state_.stopped().ok();
}

bool UnitWriter::count_written() {
    const std::lock_guard lock(working_);
    return advance();
}

Status UnitWriter::commit_all(bool durable) {
    const std::lock_guard lock(working_);
    if (Status status = state_.failure(); !status.ok()) return status;
    return rounds_.commit_all(composer_.records(), durable);
}

}  // namespace thalweg::detail
