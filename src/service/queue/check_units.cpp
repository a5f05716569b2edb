// SPDX-License-Identifier: Apache-2.0
#include "service/queue/check_units.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "service/bits.hpp"

namespace thalweg::detail {

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

std::string call_of(const UnitHead& head, std::span<const Variable> variables) {
    static const char* const names[] = {"tw_end_step", "tw_sync",    "tw_close",
                                        "tw_put",      "tw_put_box", "tw_get"};
    std::string text = names[static_cast<std::size_t>(head.kind)];
    if (head.variable >= 0) text += fmt::format(" of variable '{}'", variables[head.variable].name);
    return text;
}

Status check_calls(std::span<const UnitPart> unit_parts, std::span<const Variable> variables,
                   const std::string& path) {
    const UnitHead& first = unit_parts.front().head;
    for (const UnitPart& p : unit_parts) {
        const UnitHead& h = p.head;
        if (h.kind == first.kind && h.variable == first.variable && h.begin == first.begin)
            continue;
        return failure(
            TW_EMISMATCH, "{}: the ranks are in different calls: {} on rank {}, {} on rank {}",
            path, call_of(first, variables), OfRank{first.rank}, call_of(h, variables), h.rank);
    }
    return {};
}

}  // namespace

Status check_units(std::span<const UnitPart> unit_parts, std::span<const Variable> variables,
                   const std::string& path, const Wording& wording) {
    if (Status status = check_calls(unit_parts, variables, path); !status.ok()) return status;
    const UnitHead& first = unit_parts.front().head;
    if (first.kind == UnitKind::part) return {};
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

}  // namespace thalweg::detail
