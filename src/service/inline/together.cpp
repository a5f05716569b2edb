// SPDX-License-Identifier: Apache-2.0
#include "service/inline/together.hpp"

#include <algorithm>
#include <utility>

#include "base/reserve.hpp"
#include "definitions/fill.hpp"

namespace thalweg::detail {

Status Together::find(const Agreed& agreed, Ends ends, bool merges, bool& rest) {
    with_reserve([&] { puts_.reserve(batch_.parts.size() + batch_.puts.size()); });
    if (Status s = find_whole_puts(file_, batch_, agreed, puts_, rest); !s.ok()) return s;
    with_reserve([&] { puts_.reserve(puts_.size() + batch_.puts.size()); });
    add_puts(agreed, ends);
    if (!merges) return {};  // in this case, all puts are from tw_put, by the declared holdings
    rest |= keep_writable();
    if (!puts_.empty() && !writer_.choose(puts_).ok()) {
        rest = true;  // the remaining parts need no plan here
        puts_.clear();
    }
    return {};
}

bool Together::has(const WaitingPart& part) const {
    return std::any_of(puts_.begin(), puts_.end(), [&](const WholePut& p) {
        return p.variable == part.variable && p.record == part.record && p.by_put == part.by_put;
    });
}

std::int64_t Together::records_after(const Agreed& agreed, Ends ends, bool boxed) const {
    std::int64_t records = std::max(progress_.records, batch_.file_records);
    for (const WholePut& p : puts_)
        if (batch_.is_record(p.variable)) records = std::max(records, p.record + 1);
    // Each step is a record in a file that only tw_put writes.
    const bool ends_record = ends == Ends::step && (batch_.step_is_open(agreed) || !boxed);
    if (ends_record && !writer_.spaces().record.places.empty())
        records = std::max(records, batch_.record + 1);
    return records;
}

WholePut Together::declared(int variable) const {
    const Holding& holding = *file_.holdings[variable];
    WholePut put;
    put.variable = variable;
    put.record = batch_.record_of(variable);
    put.key = holding.key;
    put.complete = holding.decomposition->whole;
    put.by_put = true;
    return put;
}

/// Adds the puts of tw_put that belong to the unit (step, sync or close) that ends.
void Together::add_puts(const Agreed& agreed, Ends ends) {
    for (std::size_t i = 0; i < batch_.puts.size(); ++i) {
        if (!agreed.put[i] || (batch_.is_record(i) && ends != Ends::step)) continue;
        puts_.push_back(declared(i));
        puts_.back().part = batch_.find_put(i);
    }
}

bool Together::is_safe(const WholePut& put) const {
    if (put.complete) return true;
    return batch_.is_record(put.variable) ? put.record >= progress_.records
                                          : progress_.filled[put.variable] == 0;
}

/// Removes puts that the ranks cannot write together: those whose fill values would overwrite data,
/// and those that do not fit into one plan, which has one holding for each variable.
/// @return true if any was removed
bool Together::keep_writable() {
    const std::size_t all = puts_.size();
    std::erase_if(puts_, [&](const WholePut& p) { return !is_safe(p); });
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

Status Together::write(std::int64_t records, bool fill_fixed) {
    Status status = write_space(false, 0, fill_fixed);
    const auto next = [&](std::int64_t after) {  // Returns the next record that has a put.
        const std::int64_t fresh = std::max(after, progress_.records);
        std::int64_t first = fresh < records ? fresh : INT64_MAX;
        for (const WholePut& p : puts_)
            if (batch_.is_record(p.variable) && p.record >= after)
                first = std::min(first, p.record);
        return first;
    };
    for (std::int64_t r = next(0); r != INT64_MAX; r = next(r + 1)) {
        Status own = write_space(true, r, r >= progress_.records && r < records);
        if (status.ok()) status = std::move(own);
    }
    for (const WholePut& p : puts_)
        if (!batch_.is_record(p.variable)) progress_.filled[p.variable] = 1;
    if (fill_fixed) std::fill(progress_.filled.begin(), progress_.filled.end(), 1);
    return status;
}

/// Writes one space.
/// @param fill  write fill values to places that were not put now and not written before
Status Together::write_space(bool records, std::int64_t record, bool fill) {
    writer_.begin_pass(records);
    const std::span<const Place> places = writer_.places();
    for (std::size_t i = 0; i < places.size() && fill; ++i) {
        const int v = places[i].variable;
        const bool is_there =
            records ? batch_[v].written && record == batch_.record : progress_.filled[v] != 0;
        if (!is_there && !stays_hole(file_.variable(v))) writer_.set(i, Action::fill);
    }
    for (const WholePut& p : puts_) {
        if (p.record != record || batch_.is_record(p.variable) != records) continue;
        const bool has = p.part != nullptr && p.part->has_any();
        writer_.set(writer_.spaces().of(records).place_of(p.variable), Action::data,
                    has ? p.part : nullptr);
    }
    return writer_.write(record, batch_.misfits);
}

}  // namespace thalweg::detail
