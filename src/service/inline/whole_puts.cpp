// SPDX-License-Identifier: Apache-2.0
#include "service/inline/whole_puts.hpp"

#include <algorithm>

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
    WholePut put;
    put.variable = part.variable;
    put.record = part.record;
    put.key = part.holding->key;
    put.complete = part.holding->decomposition->whole;
    put.part = &part;
    return put;
}

}  // namespace

Status find_whole_puts(const FileContext& file, const Batch& batch, const Agreed& agreed,
                       std::vector<WholePut>& puts, bool& rest) {
    rest = false;
    puts.clear();
    if (agreed.same_parts) {
        for (const auto& [key, parts] : batch.parts) {
            if (parts.front().by_put) continue;
            if (only_key(parts) != 0)
                puts.push_back(whole_put(parts.front()));
            else
                rest = true;
        }
        return {};
    }
    std::vector<Report> reports;
    Status status = file.team.agree(alone([&] { reports = report_of(batch, file.team.rank()); }));
    if (!status.ok()) return status;
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
    return {};
}

}  // namespace thalweg::detail
