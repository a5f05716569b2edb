// SPDX-License-Identifier: Apache-2.0
#include "service/queue/unit_writer.hpp"

#include <algorithm>
#include <new>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "service/queue/box_units.hpp"
#include "service/queue/check_units.hpp"

namespace thalweg::detail {

UnitWriter::UnitWriter(const Definitions& definitions, const Spaces& spaces,
                       std::unique_ptr<Layout> layout, int writer, Storage& storage,
                       UnitWriterOptions options, UnitWriterHost& host)
    : definitions_(definitions),
      spaces_(spaces),
      layout_(std::move(layout)),
      storage_(storage),
      placement_(storage.placement()),
      options_(std::move(options)),
      host_(host),
      sources_(definitions, options_.agent),
      composer_(definitions, options_.whole, spaces, *layout_, writer, storage, options_.piece,
                &host, options_.existing),
      rounds_(storage, options_, sources_, host, writer == 0 || options_.own_file,
              composer_.records()) {}

Status UnitWriter::add_region(std::unique_ptr<Segment> memory) try {
    sources_.add_region(std::move(memory));
    return {};
} catch (const std::bad_alloc&) {
    return detail::failure(TW_ENOMEM, "{}: no memory for what the ranks hold (rank {})",
                           OfFile{options_.path}, OfRank{options_.rank});
}

Status UnitWriter::stopped() const {
    const std::lock_guard lock(small_);
    return failed_;
}

Status UnitWriter::failure() const {
    {
        const std::lock_guard lock(small_);
        if (!failed_.ok()) return failed_;
        if (!heard_.ok()) return heard_;
    }
    return sources_.failure();
}

void UnitWriter::hear(const Status& status) {
    {
        const std::lock_guard lock(small_);
        if (heard_.ok()) heard_ = status;
    }
    sources_.fail(status);
    host_.report();
}

void UnitWriter::fail(const Status& status) {
    {
        const std::lock_guard lock(small_);
        if (failed_.ok()) failed_ = status;
    }
    sources_.fail(status);
    host_.report();
}

WriteCounts UnitWriter::counts() const {
    const std::lock_guard lock(small_);
    return counts_;
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
    if (!stopped().ok()) {
        const bool any = discard();
        return end_written() || any;
    }
    const Status heard = failure();
    const TraceFile file(options_.path);
    Span span("write unit");
    const double begin = now();
    bool worked = boxes_next() ? work_boxes() : work_units();
    worked |= settle();
    worked |= commit();
    if (worked) {
        note_counts(now() - begin);
        return true;
    }
    span.forget();
    if (heard.ok()) return false;
    fail(heard);  // everything that all ranks have published is written
    return discard();
} catch (const std::exception&) {
    const Status status = exception_status();
    fail(detail::failure(status.code, "{}: {} (rank {})", OfFile{options_.path}, status.text,
                         OfRank{options_.rank}));
    return true;
}

/// Discards units after an error: nothing is written, and no rank waits for another.
bool UnitWriter::discard() {
    bool any = false;
    for (UnitSource& s : sources_)
        for (; sources_.has_next(s); any = true) take(s);
    return any;
}

/// Sends this node's data of the current round to the other nodes. If the file is written by boxes,
/// a round may end the steps of some ranks while others wait at a mark (tw_sync or tw_close). That
/// all ranks of this node wait at a mark is sent only once: the other nodes remember it until their
/// own ranks wait, too.
/// @return false if the data cannot be sent now
bool UnitWriter::send_on(std::span<const UnitPart> own) {
    const bool marks =
        std::all_of(own.begin(), own.end(), [](const UnitPart& p) { return is_mark(p.head.kind); });
    const bool news = !marks || !marks_sent_;
    if (news && !host_.may_forward()) return false;
    ++forwarded_;
    if (news) host_.forward(own);
    marks_sent_ = marks;
    return true;
}

/// Forwards the next unit once all ranks of this node have published it, and writes it once all
/// ranks have.
/// @return true if anything was done
bool UnitWriter::work_units() {
    const UnitWriterSources::Presence there = sources_.look();
    if (!there.near) return false;
    // Units have arrived since boxes_next() was called, and there may be boxes among them.
    if (boxes_next()) return true;
    std::vector<UnitPart> unit_parts;
    for (UnitSource& s : sources_) {
        if (!s.region) continue;
        auto its = sources_.open(s);
        std::move(its.begin(), its.end(), std::back_inserter(unit_parts));
    }
    bool worked = false;
    if (host_.forwards() && forwarded_ == worked_) {
        if (!send_on(unit_parts)) return false;
        for (UnitSource& s : sources_)
            if (s.region) s.sent = s.next + 1;
        worked = true;
    }
    if (!there.all) return worked;
    for (UnitSource& s : sources_) {
        if (s.region) continue;
        auto its = sources_.open(s);
        std::move(its.begin(), its.end(), std::back_inserter(unit_parts));
    }
    write_units(unit_parts);
    const bool mark = !unit_parts.empty() && is_mark(unit_parts.front().head.kind);
    if (mark) marks_sent_ = false;
    for (UnitSource& s : sources_) take(s);
    finish_round(mark);
    return true;
}

void UnitWriter::write_units(std::span<const UnitPart> unit_parts) {
    if (unit_parts.empty()) return;
    if (Status status =
            check_units(unit_parts, definitions_.variables, options_.path, options_.wording);
        !status.ok())
        return fail(status);
    Status status = composer_.write(unit_parts);
    if (status.ok()) status = storage_.end_unit(composer_.records(), false);
    if (status.ok()) status = sync_where_durable();
    if (!status.ok()) fail_here(std::move(status));
}

/// Syncs after a write if the file is durable. Data that wait for places are not in the file yet,
/// and are not synced.
Status UnitWriter::sync_where_durable() {
    return options_.durable && placement_ == nullptr ? storage_.sync() : Status{};
}

/// Stops with an error, and adds this writer's rank to it.
void UnitWriter::fail_here(Status status) {
    reword(status, "{} (rank {})", status.text, OfRank{options_.rank});
    fail(status);
}

/// @param seconds  duration of the work
void UnitWriter::note_counts(double seconds) {
    const std::lock_guard lock(small_);
    const double busy = counts_.busy + seconds;
    counts_ = storage_.counts();
    counts_.busy = busy;
}

void UnitWriter::finish_round(bool mark) {
    ++worked_;
    // After an error the round is incomplete.
    if (stopped().ok()) rounds_.add(composer_.records(), mark);
    (void)settle();
}

/// @return true if there was something to do
bool UnitWriter::settle() {
    bool any = false;
    if (!stopped().ok()) return false;
    if (Status status = rounds_.settle(any); !status.ok()) {
        lost_ = true;
        fail_here(std::move(status));
    }
    return any;
}

bool UnitWriter::settle_all() {
    (void)settle();
    return !rounds_.any_open() || !stopped().ok();
}

bool UnitWriter::commit() {
    bool any = false;
    if (!stopped().ok()) return false;
    if (Status status = rounds_.commit(any); !status.ok()) fail_here(std::move(status));
    return any;
}

bool UnitWriter::end_written() {
    bool any = false;
    const auto end = [&]() -> Status {
        Status status = lost_ ? Status{} : rounds_.settle(any);
        lost_ |= !status.ok();
        return status.ok() ? rounds_.commit(any) : status;
    };
    return alone(end).ok() && any;
}

bool UnitWriter::count_written() {
    const std::lock_guard lock(working_);
    return end_written();
}

Status UnitWriter::commit_all(bool durable) {
    const std::lock_guard lock(working_);
    if (Status status = failure(); !status.ok()) return status;
    return rounds_.commit_all(composer_.records(), durable);
}

// ---- ranks that write by boxes ------------------------------------------------------------------

/// Tests if the next units are written by boxes (see unit_part.hpp). Then a rank's units do not
/// wait for those of other ranks.
bool UnitWriter::boxes_next() { return composer_.boxed() || sources_.any_boxes(); }

/// Writes boxes that have arrived. A step ends when each rank has ended it or waits at a mark
/// (tw_sync or tw_close).
bool UnitWriter::work_boxes() {
    if (take_boxes()) return true;
    bool worked = false;
    bool all = true, near = true, all_marks = true;
    std::vector<UnitPart> unit_parts, own;
    for (UnitSource& s : sources_) {
        std::vector<UnitPart> its;
        if (!s.ended.empty()) {
            its = s.ended.front();
            all_marks = false;
        } else if (sources_.at_mark(s)) {
            its = sources_.open(s);
        } else {
            all = false;
            near &= !s.region;
        }
        if (s.region) own.insert(own.end(), its.begin(), its.end());
        std::move(its.begin(), its.end(), std::back_inserter(unit_parts));
    }
    if (near && host_.forwards() && forwarded_ == worked_) {
        if (!send_on(own)) return false;
        worked = true;
    }
    if (!all) return worked;
    end_boxes(unit_parts, all_marks);
    if (all_marks) marks_sent_ = false;
    for (UnitSource& s : sources_) {
        if (all_marks)
            take(s);
        else if (!s.ended.empty())
            s.ended.pop_front();
    }
    finish_round(all_marks);
    return true;
}

/// Takes the boxes that have arrived, and writes them. @return true if there were any
bool UnitWriter::take_boxes() {
    const bool alone = std::all_of(sources_.begin(), sources_.end(),
                                   [](const UnitSource& s) { return s.region != nullptr; });
    std::vector<BoxUnit> units =
        alone && !host_.forwards() ? units_together(sources_) : units_as_they_come(sources_, host_);
    if (units.empty()) return false;
    write_boxes(take_unit_parts(units));
    for (BoxUnit& u : units) {
        // The unit was sent before any rank wrote by boxes. Other nodes get the following data in
        // another round, unless this unit has ended the step.
        if (u.sent && !u.ends) forwarded_ = worked_;
        if (u.goes_on) {
            // The other nodes are told of the end of the step when all ranks of this node have
            // ended it.
            for (UnitPart& p : u.unit_parts) {
                if (p.head.kind == UnitKind::step) p.head.kind = UnitKind::boxes;
                p.head.ends = false;
            }
            host_.forward(u.unit_parts);
        }
        if (u.ends) u.source->ended.push_back(std::move(u.ended));
        take(*u.source);
    }
    return true;
}

void UnitWriter::write_boxes(std::span<const UnitPart> unit_parts) {
    if (unit_parts.empty() || !stopped().ok()) return;
    Status status = composer_.boxes().write(unit_parts);
    if (status.ok()) status = sync_where_durable();
    if (!status.ok()) fail_here(std::move(status));
}

/// Ends a step, when each rank has ended it or waits at a mark.
void UnitWriter::end_boxes(std::span<const UnitPart> unit_parts, bool all_marks) {
    std::int64_t records = 0;
    bool marks = false;
    for (const UnitPart& p : unit_parts) {
        records = std::max(records, p.head.records);
        marks |= is_mark(p.head.kind);
        given_ |= p.head.given;
    }
    // In a file that only tw_put writes, each step is a record.
    if (!given_ && !marks && !spaces_.record.places.empty())
        records = std::max(records, unit_parts.front().head.record + 1);
    Status status = stopped();
    if (!status.ok()) return;
    // Check the calls unless only some ranks wait at a mark: these have put nothing into the step
    // that the others end.
    if (all_marks || !marks)
        status = check_units(unit_parts, definitions_.variables, options_.path, options_.wording);
    BoxComposer& boxes = composer_.boxes();
    if (status.ok() && all_marks) status = boxes.write(unit_parts);
    if (status.ok()) status = boxes.end_step(records, all_marks);
    const UnitKind kind = unit_parts.front().head.kind;
    if (status.ok() && all_marks && (kind == UnitKind::last || kind == UnitKind::fill))
        status = boxes.fill_fixed(unit_parts.front());
    if (status.ok()) status = storage_.end_unit(composer_.records(), all_marks);
    if (status.ok()) status = sync_where_durable();
    if (!status.ok()) fail(status);
}

}  // namespace thalweg::detail
