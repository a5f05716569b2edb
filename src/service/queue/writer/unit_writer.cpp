// SPDX-License-Identifier: Apache-2.0
#include "service/queue/writer/unit_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/bits.hpp"
#include "base/clock.hpp"
#include "base/text/text.hpp"
#include "base/trace.hpp"

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
    if (records == progress_.counted()) return {};
    if (plan_.options.durable) storage_.complete_records();
    return count(records, plan_.options.durable);
}

Status FileRounds::count(std::int64_t records, bool durable) {
    Status status = storage_.set_records(records, durable);
    if (status.ok()) progress_.note_counted(records);
    return status;
}

Status FileRounds::commit_all(bool durable) {
    records_after_.clear();
    counted_ = done();
    storage_.complete_records();
    return count(progress_.records(), durable);
}

/// Sets one of the errors, unless there is one already.
void WriterState::set(Status& error, const Status& status) {
    {
        const std::lock_guard lock(mutex_);
        if (error.ok()) error = status;
    }
    sources_.fail(status);
    events_.report();
}

void WriterState::fail(const Status& status) { set(failed_, status); }

void WriterState::hear(const Status& status) { set(heard_, status); }

void WriterState::fail_here(Status status) {
    reword(status, "{} (rank {})", status.text, OfRank{rank_});
    fail(status);
}

Status WriterState::stopped() const {
    const std::lock_guard lock(mutex_);
    return failed_;
}

Status WriterState::failure() const {
    {
        const std::lock_guard lock(mutex_);
        if (!failed_.ok()) return failed_;
        if (!heard_.ok()) return heard_;
    }
    return sources_.failure();
}

void WriterState::note_counts(const WriteCounts& counts, double seconds) {
    const std::lock_guard lock(mutex_);
    const double busy = counts_.busy + seconds;
    counts_ = counts;
    counts_.busy = busy;
}

WriteCounts WriterState::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

namespace {

/// Returns the ranks whose `mask` contains the variable, in ascending order.
std::vector<int> ranks_with(std::span<const UnitPart> unit_parts, UnitPart::Mask UnitPart::*mask,
                            std::size_t variable) {
    std::vector<int> ranks;
    for (const UnitPart& p : unit_parts)
        if (has_bit(p.*mask, variable)) ranks.push_back(p.head.rank);
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

const char* call_of(const UnitHead& head) {
    static const char* const names[] = {"tw_end_step", "tw_sync", "tw_close", "tw_put_box",
                                        "tw_get"};
    return names[static_cast<std::size_t>(head.kind)];
}

/// Checks that the unit parts of one unit result from the same calls on every rank.
/// @param unit_parts  one per rank, at least one
/// @return TW_OK, TW_EMISMATCH (different calls, or arrays of different forms), TW_EMISSING (a
///     variable that some ranks did not put)
Status check_units(std::span<const UnitPart> unit_parts, const ServicePlan& plan) {
    const std::vector<Variable>& variables = plan.definitions->variables;
    const std::string& path = plan.path;
    const IndexConvention& wording = plan.options.wording;
    const UnitHead& first = unit_parts.front().head;
    for (const UnitPart& p : unit_parts)
        if (p.head.kind != first.kind)
            return failure(TW_EMISMATCH,
                           "{}: the ranks are in different calls: {} on rank {}, {} on rank {}",
                           path, call_of(first), OfRank{first.rank}, call_of(p.head), p.head.rank);
    const auto put = combined(unit_parts, &UnitPart::put),
               lacking = combined(unit_parts, &UnitPart::lacking);
    const auto bare = combined(unit_parts, &UnitPart::bare);
    const auto with_halo = combined(unit_parts, &UnitPart::with_halo);
    for (std::size_t v = 0; v < variables.size(); ++v) {
        if (has_bit(bare, v) && has_bit(with_halo, v))
            return failure(
                TW_EMISMATCH,
                "{}: variable '{}' of record {}: the ranks pass arrays of different forms: without "
                "halo on rank {}, with halo on rank {}. If the boxes share an array of fixed "
                "extents, declare them with tw_pad",
                path, OfVariable{variables[v].name}, OfRecord{wording.index(first.record)},
                OfRank{ranks_with(unit_parts, &UnitPart::bare, v).front()},
                ranks_with(unit_parts, &UnitPart::with_halo, v).front());
        if (has_bit(put, v) && has_bit(lacking, v)) {
            const auto ranks = ranks_with(unit_parts, &UnitPart::lacking, v);
            return about(
                failure(TW_EMISSING,
                        "{}: variable '{}' of record {} was not put on rank {}, but was on others",
                        path, OfVariable{variables[v].name}, OfRecord{wording.index(first.record)},
                        joined(ranks, ", ")),
                OfRank{ranks.front()});
        }
    }
    return {};
}

}  // namespace

UnitWriter::UnitWriter(ServicePlan plan, const FileSections& sections, int writer, Storage& storage,
                       UnitWriterEvents& events)
    : plan_(std::move(plan)),
      layout_(make_layout(plan_.layout)),
      storage_(storage),
      events_(events),
      sources_(*plan_.definitions, plan_.local_writer, plan_.copies),
      progress_(*plan_.definitions, plan_.options.existing),
      record_writer_(*plan_.definitions, plan_.whole, sections, *layout_, writer, storage,
                     progress_, plan_.piece, &events),
      rounds_(storage, plan_, sources_, events, writer == 0 || plan_.layout.grid.own_files,
              progress_),
      state_(plan_.rank, sources_, events) {}

Status UnitWriter::add_region(const SegmentName& name) {
    Status status;
    auto memory = Segment::map(name, status);
    if (status.ok() && !catch_errors([&] { sources_.add_region(std::move(memory)); }).ok())
        status = failure(TW_ENOMEM, "{}: no memory for what the ranks hold (rank {})",
                         OfFile{plan_.path}, OfRank{plan_.rank});
    return status;
}

void UnitWriter::take(UnitSource& source) {
    if (sources_.take(source)) events_.accepted(source.rank);
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
    bool worked = take_boxes() || work_units();
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
        complete &= sources_.next_kind(s).has_value();
        pressed |= is_boxes(s) && s.waits();
    }
    const bool near = (complete || pressed) && (!events_.forwards() || events_.may_forward());
    std::vector<UnitSource*> taken;
    std::vector<UnitPart> unit_parts;
    const auto open = [&](bool of_node) {
        for (UnitSource& s : sources_) {
            if ((s.region != nullptr) != of_node || !is_boxes(s)) continue;
            taken.push_back(&s);
            sources_.open(s, unit_parts);
        }
    };
    if (near) open(true);
    const std::size_t own = unit_parts.size();
    open(false);
    if (taken.empty()) return false;
    finish_write(record_writer_.write(unit_parts));
    if (events_.forwards() && own > 0) events_.forward({unit_parts.data(), own});
    for (UnitSource* s : taken) take(*s);
    return true;
}

/// Forwards the next unit once all ranks of this node have published it, and writes it once all
/// ranks have.
/// @return true if anything was done
bool UnitWriter::work_units() {
    const UnitWriterSources::Presence there = sources_.look();
    if (!there.near) return false;
    std::vector<UnitPart> unit_parts;
    for (UnitSource& s : sources_)
        if (s.region) sources_.open(s, unit_parts);
    bool worked = false;
    if (events_.forwards() && !sent_) {
        if (!events_.may_forward()) return false;
        events_.forward(unit_parts);
        sent_ = worked = true;
    }
    if (!there.all) return worked;
    for (UnitSource& s : sources_)
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
    if (Status status = check_units(unit_parts, plan_); !status.ok()) return state_.fail(status);
    Status status = record_writer_.write(unit_parts);
    const bool completes = is_mark(unit_parts.front().head.kind);
    const bool mark = record_writer_.boxed() && completes;
    if (completes || plan_.options.durable) storage_.complete_records();
    if (status.ok()) status = storage_.end_unit(progress_.records(), mark);
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
    if (state_.stopped().ok()) rounds_.add(mark);
}

/// Advances the rounds of the file. After an error, which is kept, only counts what is written.
/// @return true if there was something to do
bool UnitWriter::advance() {
    bool any = false;
    const bool stopped = !state_.stopped().ok();
    Status status = catch_errors([&] { return rounds_.advance(any); });
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
    return rounds_.commit_all(durable);
}

}  // namespace thalweg::detail
