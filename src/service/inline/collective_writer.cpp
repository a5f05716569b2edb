// SPDX-License-Identifier: Apache-2.0
#include "service/inline/collective_writer.hpp"

#include <algorithm>
#include <utility>

#include "definitions/fill.hpp"
#include "exchange/progress.hpp"

namespace thalweg::detail {

namespace {

/// A rank's report on one variable. Reports are combined over the ranks by the maximum.
struct Report {
    static constexpr std::int64_t nothing = INT64_MIN;
    std::int64_t record = nothing, minus_record = nothing;
    std::int64_t key = nothing, minus_key = nothing;
    /// 1: the decomposition may spread the variable over ranks; 0: one rank has all of it.
    std::int64_t spread = 0;
    /// Key of a rank that holds the whole variable; `nothing` if none does.
    std::int64_t holder = nothing;
    std::int64_t absent = 1;  ///< 1: a rank has not put it

    bool any() const { return record != nothing; }
    /// Tests if the ranks together have put the whole variable: either all ranks by the same
    /// decomposition, or the one rank that has all of it.
    bool whole() const {
        if (!any() || record != -minus_record) return false;
        return spread != 0 ? key == -minus_key && absent == 0 : holder == key;
    }
};
constexpr std::size_t words_each = sizeof(Report) / sizeof(std::int64_t);

/// Returns the key of the part of a record if there is only one; 0 if there are several.
std::int64_t only_key(const std::vector<WaitingPart>& parts) {
    return parts.size() == 1 ? parts.front().holding->key : 0;
}

/// Returns this rank's report on each variable.
std::vector<Report> report_of(const Batch& batch, int rank) {
    std::vector<Report> reports(batch.puts.size());
    for (const auto& [key_of_parts, parts] : batch.parts) {
        if (parts.front().by_put) continue;
        Report& t = reports[parts.front().variable];
        const std::int64_t key = only_key(parts);
        // With several records or parts, send values that no other rank can match.
        if (t.any() || key == 0) {
            t.record = 1;
            t.minus_record = 0;
            continue;
        }
        t.record = parts.front().record;
        t.minus_record = -t.record;
        t.key = key;
        t.minus_key = -key;
        t.spread = Holding::has_holder(key) ? 0 : 1;
        if (Holding::has_holder(key) && Holding::holder_of(key) == rank) t.holder = key;
        t.absent = 0;
    }
    return reports;
}

WholePut whole_put(const WaitingPart& part) {
    const Holding& holding = *part.holding;
    return {part.variable, part.record, holding.key, holding.decomposition->whole, false, &part};
}

/**
 * Finds the records that all ranks have put as a whole, among the parts of a batch that are not
 * from tw_put.
 * @param puts  empty; receives those records, the same on every rank, except for WholePut::part
 * @return some rank has other parts; the same on every rank
 * @note Collective
 */
bool find_whole_puts(const FileContext& file, const Batch& batch, const Agreed& agreed,
                     std::vector<WholePut>& puts) {
    bool rest = false;
    if (agreed.same_parts) {
        for (const auto& [key, parts] : batch.parts) {
            if (parts.front().by_put) continue;
            if (only_key(parts) != 0)
                puts.push_back(whole_put(parts.front()));
            else
                rest = true;
        }
        return rest;
    }
    std::vector<Report> reports = report_of(batch, file.team.rank());
    file.team.all_reduce({&reports.front().record, reports.size() * words_each}, Reduce::max);
    for (std::size_t v = 0; v < reports.size(); ++v) {
        const Report& t = reports[v];
        if (!t.whole()) {
            rest |= t.any();
            continue;
        }
        WholePut put;
        const auto mine = batch.parts.find({static_cast<int>(v), t.record});
        if (mine != batch.parts.end() && !mine->second.front().by_put &&
            only_key(mine->second) == t.key)
            put = whole_put(mine->second.front());
        put.variable = v;
        put.record = t.record;
        put.key = t.key;
        if (t.spread == 0) put.complete = true;
        puts.push_back(put);
    }
    return rest;
}

}  // namespace

bool CollectiveWriter::find(const Agreed& agreed, Ends ends, bool merges) {
    puts_.clear();
    writer_.use_copies(agreed.copied);
    bool rest = ends != Ends::put && find_whole_puts(file_, batch_, agreed, puts_);
    add_puts(agreed, ends);
    if (!merges) return rest;  // in this case, all puts are from tw_put, by the declared holdings
    rest |= keep_writable();
    if (!puts_.empty() && !writer_.choose(puts_).ok()) {
        rest = true;  // the remaining parts need no plan here
        puts_.clear();
    }
    return rest;
}

bool CollectiveWriter::has(const WaitingPart& part) const {
    return std::any_of(puts_.begin(), puts_.end(), [&](const WholePut& p) {
        return p.variable == part.variable && p.record == part.record && p.by_put == part.by_put;
    });
}

std::int64_t CollectiveWriter::records_after(const Agreed& agreed, Ends ends, bool boxed) const {
    if (ends == Ends::put) return progress_.records();
    std::int64_t records = std::max(progress_.records(), batch_.file_records);
    for (const WholePut& p : puts_)
        if (batch_.is_record(p.variable)) records = std::max(records, p.record + 1);
    // Each step is a record in a file that only tw_put writes.
    const bool ends_record = ends == Ends::step && (batch_.step_is_open(agreed) || !boxed);
    if (ends_record && !writer_.sections().record.places.empty())
        records = std::max(records, batch_.record + 1);
    return records;
}

/// Adds the puts of tw_put, with their declared holdings, that belong to the unit that ends.
void CollectiveWriter::add_puts(const Agreed& agreed, Ends ends) {
    for (int v = 0; v < std::ssize(batch_.puts); ++v) {
        if (!ends_put(batch_, agreed, ends, v)) continue;
        const Holding& holding = *file_.holdings[v];
        puts_.push_back({v, batch_.record_of(v), holding.key, holding.decomposition->whole, true,
                         batch_.find_put(v)});
    }
}

/// Tests if a put must be merged with values of the file.
bool CollectiveWriter::merges(const WholePut& put) const {
    return classify({.put = true,
                     .complete = put.complete,
                     .has_values = progress_.has_values({put.variable, put.record})}) ==
           Action::merge;
}

/// Removes puts that the ranks cannot write together: those that must be merged with values of the
/// file, and those that do not fit into one plan, which has one holding for each variable.
/// @return true if any was removed
bool CollectiveWriter::keep_writable() {
    const std::size_t all = puts_.size();
    std::erase_if(puts_, [&](const WholePut& p) { return merges(p); });
    // Sort the puts, so that all ranks have them in the same order, whatever the order of the
    // calls.
    std::sort(puts_.begin(), puts_.end(), [](const WholePut& a, const WholePut& b) {
        return std::pair(a.variable, a.record) < std::pair(b.variable, b.record);
    });
    std::size_t n = 0;
    for (std::size_t i = 0, first = 0; i < puts_.size(); ++i) {
        if (puts_[i].variable != puts_[first].variable) first = i;
        if (puts_[i].key == puts_[first].key) {
            if (n != i) puts_[n] = puts_[i];
            ++n;
        }
    }
    puts_.resize(n);
    return puts_.size() < all;
}

Status CollectiveWriter::write(std::int64_t records, bool fill_fixed, bool in_step) {
    Status status = write_section(false, 0, fill_fixed, in_step);
    const auto next = [&](std::int64_t after) {  // Returns the next record that has a put.
        const std::int64_t fresh = std::max(after, progress_.records());
        std::int64_t first = fresh < records ? fresh : INT64_MAX;
        for (const WholePut& p : puts_)
            if (batch_.is_record(p.variable) && p.record >= after)
                first = std::min(first, p.record);
        return first;
    };
    for (std::int64_t r = next(0); r != INT64_MAX; r = next(r + 1)) {
        const bool open = in_step && r + 1 == records;
        Status own = write_section(true, r, r >= progress_.records() && r < records, open);
        if (status.ok()) status = std::move(own);
    }
    for (const WholePut& p : puts_) progress_.add_all({p.variable, p.record});
    if (fill_fixed) progress_.note_values();
    progress_.note_records(in_step ? records - 1 : records);
    if (in_step) progress_.note_if_complete(records - 1);
    return status;
}

/// Writes one space.
/// @param fill  write fill values to places that were not put now and not written before
/// @param open  variables with fill=none may still be put, so they get no fill values yet
Status CollectiveWriter::write_section(bool records, std::int64_t record, bool fill, bool open) {
    writer_.begin_pass(records);
    const std::span<const VariableSlot> places = writer_.places();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int v = places[i].variable;
        const bool later = open && has_no_fill(file_.variable(v));
        const Action action = classify({.has_values = progress_.has_values({v, record}),
                                        .ends = fill && !later,
                                        .hole = writer_.fills(v) || stays_hole(file_.variable(v))});
        writer_.set(i, action);
        if (fill && open && !later) progress_.add_all({v, record});
    }
    for (const WholePut& p : puts_) {
        if (p.record != record || batch_.is_record(p.variable) != records) continue;
        const bool has = p.part != nullptr && p.part->has_any();
        writer_.set(writer_.sections().of(records).place_of(p.variable), Action::data,
                    has ? p.part : nullptr);
    }
    return writer_.write(record, batch_.misfits);
}

}  // namespace thalweg::detail
