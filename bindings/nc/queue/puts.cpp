// SPDX-License-Identifier: Apache-2.0
#include "nc/queue/puts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "nc/base/types.hpp"
#include "nc/state/library_file.hpp"

namespace thalweg::nc {

namespace {

constexpr std::size_t most_entries = 1 << 16;  // most entries queued in a session of one rank

Index bytes_of(const Table& table, const Entry& e) {
    return e.elements() * static_cast<Index>(size_of(table.variable(e.varid).type));
}

// Copies the elements of a box that are part of a section to the section's values. Both have the
// same dimensions.
// @param order  byte order of the box
void lay_over(const Shape& start, const Shape& count, const Shape& stride, const char* box,
              nc_type type, Order order, const Section& section, void* values) {
    const std::size_t bytes = size_of(type);
    const std::size_t dims = start.size();
    Shape at(dims, 0);
    const Index n = volume(section.count);
    for (Index i = 0; i < n; i++) {
        Index from = 0;
        bool in = true;
        for (std::size_t d = 0; d < dims && in; d++) {
            const Index step = stride.empty() ? 1 : stride[d];
            const Index wanted =
                section.start[d] + at[d] * (section.stride.empty() ? 1 : section.stride[d]);
            const Index k = wanted - start[d];
            in = k >= 0 && k % step == 0 && k / step < count[d];
            from = from * count[d] + k / step;
        }
        if (in)  // to convert twice restores a value
            convert(type, box + static_cast<std::size_t>(from) * bytes, type,
                    static_cast<char*>(values) + static_cast<std::size_t>(i) * bytes, 1, "", false,
                    order);
        for (std::size_t d = dims; d-- > 0;) {
            if (++at[d] < section.count[d]) break;
            at[d] = 0;
        }
    }
}

}  // namespace

// ---- puts ---------------------------------------------------------------------------------------

Puts::Puts(Definitions& its_definitions, State& its_state)
    : definitions(its_definitions),
      state(its_state),
      table_(definitions.table),
      queue_(definitions, state),
      joint_(state.session, definitions),
      writer_(definitions, state, queue_),
      last_write_(detail::now()) {}

bool Puts::has_put(int varid) const {
    const auto& all = queue_.entries();
    return std::any_of(all.begin(), all.end(), [&](const Entry& e) {
        return e.varid == varid && (!e.empty || state.session.ranks() > 1);
    });
}

Index Puts::records() {
    if (table_.unlimited() >= 0 && definitions.is_writable())
        table_.set_records(std::max(table_.records(), joint_.reductions.wait()));
    return table_.records();
}

Index Puts::bytes_of_whole(const Variable& v) const {
    Index bytes = static_cast<Index>(size_of(v.type));
    for (std::size_t d = table_.is_record(v) ? 1 : 0; d < v.dims.size(); d++)
        bytes *= table_.length(v.dims[d]);
    return bytes;
}

// Tests if a collective put of this variable writes at once if some rank puts much.
bool Puts::writes_at_once(const Variable& v) const {
    // In the background, such a put waits for the write.
    const bool cheap = !in_parts_ && state.session.keeps_arrays() && state.session.ranks() > 1;
    return share_of(v) > staging_limit() / (cheap ? 64 : 4);
}

// Tests if a collective put is passed to the library at once, which hands the values to its writers
// in the background. The next joint call ends the step, and only then writes what was
// queued. So this rank passes no variable that the ranks have put since the last write, and nothing
// after a put that it has queued or whose variable it does not know. Large whole records wait: if
// all ranks put the same one, the library takes it from one rank.
bool Puts::passes_on(const Entry& e) const {
    constexpr Index large = 64 << 10;  // bytes
    const auto at = static_cast<std::size_t>(e.varid);
    if (!passes_ || queue_.has_values() || at >= put_.size() || put_[at] || e.pieces != nullptr ||
        !definitions.changes.edits.empty())
        return false;
    const Variable& v = table_.variables[at];
    const Index bytes = bytes_of(table_, e), records = table_.is_record(v) ? e.count.front() : 1;
    return !writes_at_once(v) && (bytes <= large || bytes < records * bytes_of_whole(v));
}

Error Puts::pass_on(const Entry& e, Index bytes) {
    state.own_reader.close();
    state.dirty = true;
    passed_ += bytes;
    const Variable& v = table_.variable(e.varid);
    const Error error = state.session.error_of_call(
        put_box(state, v, {e.start, e.count, e.stride}, e.values, e.packed ? TW_PACKED : 0));
    if (error.code != 0)
        own_failure_ = error;  // the other ranks learn of it in the next joint call
    return error;
}

// Tests if this rank has put a variable of a record more than once since the last write.
bool Puts::repeats_puts() const {
    if (passed_ > 0) return queue_.has_values();
    std::vector<Index> last(table_.variables.size(), -1);
    return std::any_of(queue_.entries().begin(), queue_.entries().end(), [&](const Entry& e) {
        if (e.empty) return false;
        const Index record = table_.is_record(table_.variable(e.varid)) ? e.start.front() : 0;
        return e.pieces != nullptr ||
               std::exchange(last[static_cast<std::size_t>(e.varid)], record) == record;
    });
}

void Puts::put(Entry entry) {
    if (has_failed()) throw state.failure;
    Variable& v = table_.variable(entry.varid);
    entry.empty = volume(entry.count) == 0;
    const bool collective = entry.collective, at_once = writes_at_once(v);
    if (!entry.empty)
        table_.grow(v, entry.start.data(), entry.count.data(),
                    entry.stride.empty() ? nullptr : entry.stride.data());
    if (entry.empty && !collective) return;
    if (entry.empty || std::ranges::count(entry.stride, 1) == std::ssize(entry.stride))
        entry.stride.clear();
    const std::size_t size = size_of(v.type);
    const Index bytes = bytes_of(table_, entry);
    const auto number = static_cast<std::size_t>(entry.varid);
    Error error;
    if (collective && !entry.empty && passes_on(entry)) {
        error = pass_on(entry, bytes);
        if (queue_.has_taken(entry.values)) queue_.give_back(bytes);
        entry.empty = true;
    }
    if (collective && number < put_.size()) put_[number] = true;
    // Values in the program's memory are copied if the put is not written, and not joined before.
    const bool borrows = collective && !entry.empty && !queue_.has_taken(entry.values);
    const bool joins = !borrows && (state.session.ranks() == 1 || !collective);
    const Error pushed = error_of([&] { queue_.push(std::move(entry), joins ? size : 0); });
    if (error.code == 0) error = pushed;
    const bool much = bytes > std::min(share_of(v) / 2, staging_limit() / 4);
    const Error joined = error_of([&] { after_put(collective, at_once, much); });
    if (error.code != 0) throw error;
    if (borrows && !queue_.entries().empty()) queue_.own(queue_.entries().size() - 1);
    if (joined.code != 0) throw joined;
}

void Puts::put_nothing(int varid) {
    if (has_failed()) return;
    if (varid < 0) passes_ = false;
    if (varid < 0) return after_put(true, false);
    const Variable& v = table_.variable(varid);
    if (static_cast<std::size_t>(varid) < put_.size()) put_[static_cast<std::size_t>(varid)] = true;
    (void)error_of([&] {
        queue_.push({varid, true, Shape(v.dims.size()), Shape(v.dims.size()), {}, nullptr, true});
    });
    after_put(true, writes_at_once(v));
}

// A single rank writes its queue before it begins a new record, so that writes consist of whole
// records, and find the values in the cache. One of several ranks writes it if all others wait.
void Puts::make_room(int varid, const Section& section) {
    if (has_failed()) throw state.failure;
    if (queue_.bytes() < staging_limit() / 8) return;
    const Variable& v = table_.variable(varid);
    const bool new_record = table_.is_record(v) && section.start.front() >= table_.records();
    if (state.session.ranks() > 1 ? joint_.others_wait() : new_record) join(Reason::full);
}

// Ends a put. Its decisions depend only on completed reductions, so they are the same on all ranks.
// @param much  this rank puts over half of its share, or over a quarter of staging_limit()
void Puts::after_put(bool collective, bool at_once, bool much) {
    if (!collective) return;
    const auto before = joint_.reductions.post({table_.records(), queue_.bytes() + passed_});
    const Index posted = joint_.reductions.posted();
    const bool since = posted - handed_over_ > 8;
    const Index queued = state.session.ranks() == 1 ? queue_.bytes()
                         : since && before          ? before->bytes
                                                    : 0;
    const bool many = state.session.ranks() == 1 && queue_.entries().size() >= most_entries;
    if (before && before->records > known_records_) {
        const Index put = posted - 9;
        puts_per_record_ = growth_ < 0 ? 0 : put - growth_;
        growth_ = put;
        known_records_ = before->records;
    }
    // A record has probably ended, so that it can be written in the background.
    const bool ends = !state.session.keeps_arrays() && queued > staging_limit() / 64 &&
                      puts_per_record_ > 0 && (posted - growth_) % puts_per_record_ == 0;
    if (many || ends || queued > staging_limit() / 2)
        join(Reason::full);
    else if (at_once)
        join(Reason::full, -1, much);
}

bool Puts::may_put_at_once(const Entry& entry) const {
    const Variable& v = table_.variable(entry.varid);
    return v.storage.no_fill && is_large(table_, v, entry.count) && entry.stride.empty() &&
           entry.pieces == nullptr;
}

bool Puts::put_at_once(const Entry& entry) {
    // An empty collective put stands for those of other ranks, which must not be written later.
    const auto same = [&](const Entry& e) { return e.varid == entry.varid; };
    const auto& queued = queue_.entries();
    if (has_failed() || !may_put_at_once(entry)) return false;
    const auto must_wait = [&] {
        return state.kind() != State::Kind::writing ||
               std::any_of(queued.begin(), queued.end(), same);
    };
    if (must_wait() && queue_.has_values() && joint_.others_wait()) join(Reason::full);
    if (must_wait()) return false;
    const Variable& v = table_.variable(entry.varid);  // join() may have replaced the definitions
    const int status = put_box(state, v, {entry.start, entry.count, {}}, entry.values, TW_ALONE);
    if (status == TW_EUNSUPPORTED) return false;
    const Error error = error_of([&] { state.session.check(status); });
    if (status == TW_EIO)
        own_failure_ = error;  // the other ranks learn of it in the next joint call
    if (error.code != 0) throw error;
    return true;
}

// ---- joint calls --------------------------------------------------------------------------------

// Keeps an error, which all later puts and joint calls return, and throws it.
void Puts::fail(const Error& error) {
    state.failure = error;
    queue_.clear();
    throw error;
}

int Puts::join(Reason reason, int varid, bool much) {
    some_reads_ = passes_ = false;
    for (;;) {
        const JointCalls::All all = joint_.meet(
            {reason, varid, much, queue_.has_values(), passed_ > 0,
             reads_alone_ || queue_.has_independent(), has_failed() || own_failure_.code != 0});
        apart_ = all.apart;
        if (all.caught_up) {  // some rank does not know all results: count the records anew
            growth_ = -1;
            puts_per_record_ = 0;
            known_records_ = table_.records();
        }
        if (all.failed)
            fail(error_of(
                [&] { agree(state.session.comm(), has_failed() ? state.failure : own_failure_); }));
        if (apart_)
            throw Error{different_calls,
                        definitions.path + ": the ranks are in different collective calls"};
        const bool full = reason == Reason::full;
        if (!all.waits && !all.writes_full) {
            in_parts_ = true;
            if (full) return -1;
            continue;
        }
        if (all.independent) state.session.works_alone = true;
        some_reads_ = all.varid >= 0;
        joint_.settle_definitions(all, state.root);
        if (all.waits && !all.much) {
            keep_requests();
            return -1;
        }
        handed_over_ = joint_.reductions.posted();
        Session& s = state.session;
        const bool writes = all.values || all.passed;
        const bool regular = full && writes && puts_per_record_ > 0 && !s.keeps_arrays() &&
                             !s.works_alone && s.lanes() != nullptr && !repeats_puts();
        if (writes)
            write_queue(all);
        else
            queue_.clear();
        passes_ = regular && state.kind() == State::Kind::writing &&
                  detail::packed_order(state.file()) == definitions.order();
        passed_ = 0;
        put_.assign(passes_ ? table_.variables.size() : 0, false);
        if (full || all.waits) return all.varid;
    }
}

// Writes the queue. An error is thrown here, and again by later calls.
void Puts::write_queue(const JointCalls::All& all) {
    last_write_ = detail::now();
    try {
        writer_.write(all.writes_full || all.waits, all.passed, all.values);
        queue_.clear();
        if (all.writes_full) writer_.commit(all.independent);
    } catch (const Error& error) {
        fail(error);
    }
}

void Puts::write_requests(bool reads) {
    const Error error = error_of([&] { join(Reason::wait, reads ? 0 : -1, reads || has_much()); });
    queue_.drop_borrowed();  // requests of a call that failed
    if (error.code != 0) throw error;
}

// Tests if the queue has to be written in a call in which all ranks wait.
bool Puts::has_much() const {
    constexpr int most_rounds = 64;
    constexpr std::size_t most_sequences = 1 << 14;  // products of rounds and variables
    constexpr std::size_t most_puts = 1 << 12;
    constexpr double longest = 1;  // seconds that puts wait if nothing else comes
    const auto& entries = queue_.entries();
    Index bytes = 0;
    for (std::size_t i = entries.size(); i-- > 0 && entries[i].borrowed;)
        bytes += bytes_of(table_, entries[i]);
    return bytes > staging_limit() / 256 || queue_.bytes() + bytes > staging_limit() / 8 ||
           queue_.rounds() >= most_rounds || entries.size() >= most_puts ||
           static_cast<std::size_t>(queue_.rounds()) * table_.variables.size() > most_sequences ||
           (state.session.rank() == 0 && detail::now() - last_write_ > longest);
}

// Copies the values of the requests for which all ranks wait, and begins a new round of puts.
void Puts::keep_requests() {
    const auto& entries = queue_.entries();
    passes_ = false;  // later puts must not come before these
    const Error error = error_of([&] {
        for (std::size_t i = entries.size(); i-- > 0 && entries[i].borrowed;) queue_.own(i);
    });
    if (state.session.ranks() > 1) queue_.begin_round();
    if (error.code != 0) throw error;
}

// ---- reading ------------------------------------------------------------------------------------

int Puts::begin_get(int varid) {
    const int read = join(Reason::read, varid);
    state.begin_reading();
    return read;
}

void Puts::get(int varid, const Section& section, void* values) {
    const Variable& v = table_.variable(varid);
    state.session.check(tw_get_box(state.file(), v.name.c_str(), static_cast<tw_type>(v.type),
                                   section.start.data(), section.count.data(), section.steps(),
                                   values));
}

void Puts::get_nothing(int varid) {
    const Shape zero(table_.variable(varid).dims.size());
    char scalar[8];
    get(varid, {zero, zero, {}}, scalar);
}

void Puts::get_alone(int varid, const Section& section, void* values) {
    const Variable& v = table_.variable(varid);
    const Index n = volume(section.count);
    reads_alone_ = true;
    if (n == 0) return;
    const bool written = state.kind() != State::Kind::defining;
    Session& own = session_of(MPI_COMM_SELF);
    const std::lock_guard lock(own.mutex);
    Section there = section;
    tw_file alone = nullptr;
    if (written) {
        const State::Kind kind = state.kind();
        if (!state.own_reader.is_open() && state.dirty && kind != State::Kind::reading)
            throw Error{NC_EHDFERR,
                        definitions.path +
                            ": a rank by itself can read only what was there before the "
                            "last sync of a file that is being written; use "
                            "nc_var_par_access with NC_COLLECTIVE"};
        std::string path = state.path();
        if (kind == State::Kind::writing && access((path + ".part").c_str(), R_OK) == 0)
            path += ".part";
        alone = state.own_reader.open(path);
    }
    if (written && table_.is_record(v)) {  // some records may exist only in this rank's queue
        Index records = 0;
        const std::string& name = table_.dimension(v.dims.front()).name;
        own.check(tw_inq_dim(alone, name.c_str(), &records));
        const Index step = section.stride.empty() ? 1 : section.stride.front();
        const Index after = records - section.start.front();
        there.count.front() =
            std::clamp<Index>((after + step - 1) / step, 0, section.count.front());
    }
    const std::string fill = Table::fill_of(v);
    const bool all = written && volume(there.count) == n;
    for (Index i = 0; i < n && !all; i++)
        std::memcpy(static_cast<char*>(values) + i * static_cast<Index>(fill.size()), fill.data(),
                    fill.size());
    if (written && volume(there.count) > 0)
        own.check(tw_get_box(alone, v.name.c_str(), static_cast<tw_type>(v.type),
                             there.start.data(), there.count.data(), there.steps(), values));
    const std::size_t bytes = size_of(v.type);
    for (const Entry& e : queue_.entries())
        if (e.varid == varid && !e.empty)
            e.for_boxes([&](const Shape& start, const Shape& count, Index first) {
                lay_over(start, count, e.stride, e.values + static_cast<std::size_t>(first) * bytes,
                         v.type, e.packed ? definitions.order() : Order::native, section, values);
            });
}

// ---- the file -----------------------------------------------------------------------------------

void sync(Puts& puts) {
    const Definitions& definitions = puts.definitions;
    if (!definitions.is_writable()) {
        puts.state.own_reader.close();
        return puts.state.sync();
    }
    if (definitions.in_define_mode() && definitions.format != Format::netcdf4)
        throw Error{NC_EINDEFINE, definitions.path + " is in define mode"};
    puts.join(Reason::sync);
    puts.state.sync();
    fill_rest(puts);
}

void fill_rest(Puts& puts) {
    const Table& table = puts.definitions.table;
    std::size_t& v = puts.state.filled;
    for (; puts.state.kind() == State::Kind::writing && v < table.variables.size(); v++) {
        const Variable& variable = table.variables[v];
        const Storage& s = variable.storage;
        if (s.no_fill || s.layout == NC_CHUNKED || s.filtered() || table.is_record(variable))
            continue;
        // The library fills variables that all ranks read.
        const Error error = error_of([&] { puts.get_nothing(static_cast<int>(v)); });
        if (error.code != 0 && error.code != NC_ENOTBUILT) throw error;
    }
}

void end_definitions(Puts& puts) {
    puts.definitions.end();
    puts.state.settle_attributes();
    if (!puts.definitions.changes.edits.empty()) {
        puts.join(Reason::edit);
        puts.state.make_edits();
    }
    puts.definitions.remember();
}

void close(Puts& puts) {
    Definitions& definitions = puts.definitions;
    Error error;
    const auto attempt = [&](auto action) {
        const Error thrown = error_of(action);
        if (error.code == 0) error = thrown;
    };
    puts.state.own_reader.close();
    if (definitions.in_define_mode()) {
        attempt([&] { check_sizes(definitions); });
        definitions.set_define_mode(false);
    }
    // Wait for ranks that are in another call and will close the file later.
    if (definitions.is_writable()) do
            attempt([&] { puts.join(Reason::close); });
        while (puts.is_apart() && !puts.is_mixed());
    if (puts.is_mixed()) throw error;
    attempt([&] { puts.state.close(); });
    if (error.code != 0) throw error;
}

void abort(Puts& puts) {
    Definitions& definitions = puts.definitions;
    puts.state.own_reader.close();
    if (definitions.is_writable() && definitions.is_new() && !definitions.have_ended())
        return discard(puts);
    if (definitions.in_define_mode()) definitions.undo();
    close(puts);
}

// Completes the new file and removes it, because the library can end a new file only by completing
// it.
void discard(Puts& puts) {
    State& state = puts.state;
    puts.definitions.table = {};
    puts.definitions.changes.fresh.clear();
    state.close();
    state.session.check(tw_wait(state.session.handle(), 0));
    on_rank(state.session.comm(), state.root, [&] { unlink(puts.definitions.path.c_str()); });
}

}  // namespace thalweg::nc
