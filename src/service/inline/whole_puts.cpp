// SPDX-License-Identifier: Apache-2.0
#include "service/inline/whole_puts.hpp"

#include <algorithm>

namespace thalweg::detail {

namespace {

/// What the ranks tell of a variable: of each word the largest counts.
struct Told {
    static constexpr std::int64_t nothing = INT64_MIN;
    std::int64_t record = nothing, minus_record = nothing;
    std::int64_t key = nothing, minus_key = nothing;
    std::int64_t spread = 0;        ///< by a decomposition that more than one rank may hold
    std::int64_t holder = nothing;  ///< the key of a rank that has it whole
    std::int64_t absent = 1;        ///< a rank has not put it

    bool any() const { return record != nothing; }
    /// Whether the ranks have put one whole: its parts, or several ranks each the whole, of which
    /// one stands.
    bool whole() const {
        if (!any() || record != -minus_record) return false;
        return spread != 0 ? key == -minus_key && absent == 0 : holder == key;
    }
};
constexpr std::size_t words_each = sizeof(Told) / sizeof(std::int64_t);

/// By variable.
std::vector<Told> told_by(const Batch& batch, int rank) {
    std::vector<Told> told(batch.parts.size());
    for (const RecordPart& p : batch.staged) {
        Told& t = told[p.placed->variable];
        const std::int64_t key = p.placed->key;
        if (t.any() || key == 0) {  // of several records: what no other rank agrees with
            t.record = 1;
            t.minus_record = 0;
            continue;
        }
        t.record = p.record;
        t.minus_record = -p.record;
        t.key = key;
        t.minus_key = -key;
        t.spread = Placed::has_holder(key) ? 0 : 1;
        if (Placed::has_holder(key) && Placed::holder_of(key) == rank) t.holder = key;
        t.absent = 0;
    }
    return told;
}

WholePut whole_put(const RecordPart& part) {
    const Placed& placed = *part.placed;
    WholePut put;
    put.variable = placed.variable;
    put.record = part.record;
    put.key = placed.key;
    put.complete = placed.decomposition->whole;
    put.placed = &placed;
    if (!placed.held.empty()) put.view = &part.view;
    return put;
}

}  // namespace

Status find_whole_puts(const FileContext& file, const Batch& batch, const Agreed& agreed,
                       std::vector<WholePut>& puts, bool& rest) {
    rest = false;
    puts.clear();
    if (agreed.same_parts) {
        for (const RecordPart& p : batch.staged)
            if (p.placed->key != 0)
                puts.push_back(whole_put(p));
            else
                rest = true;
        return {};
    }
    std::vector<Told> told;
    Status status = file.team.agree(alone([&]() -> Status {
        told = told_by(batch, file.team.rank());
        return {};
    }));
    if (!status.ok()) return status;
    file.team.all_reduce({&told.front().record, told.size() * words_each}, Reduce::max);
    for (std::size_t v = 0; v < told.size(); ++v) {
        const Told& t = told[v];
        if (!t.whole()) {
            rest |= t.any();
            continue;
        }
        WholePut put;
        const auto mine =
            std::find_if(batch.staged.begin(), batch.staged.end(), [&](const RecordPart& p) {
                return p.placed->variable == static_cast<int>(v) && p.placed->key == t.key;
            });
        if (mine != batch.staged.end()) put = whole_put(*mine);
        put.variable = v;
        put.record = t.record;
        put.key = t.key;
        if (t.spread == 0) put.complete = true;
        puts.push_back(put);
    }
    return {};
}

}  // namespace thalweg::detail
