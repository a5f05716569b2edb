// SPDX-License-Identifier: Apache-2.0
#include "decomposition/starts.hpp"

#include <algorithm>
#include <iterator>

namespace thalweg::detail {

Starts unite_starts(Comm& comm, const Starts& own, std::span<const std::int64_t> lengths,
                    std::int64_t most) {
    constexpr std::int64_t none = INT64_MAX;
    const auto unit = [&](std::size_t d) { return (lengths[d] - 1) / most + 1; };
    const auto intervals = [&](std::size_t d) { return (lengths[d] - 1) / unit(d) + 1; };
    // The first start in each interval, one dimension after another.
    std::int64_t n = 0;
    for (std::size_t d = 0; d < own.size(); ++d) n += intervals(d);
    std::vector<std::int64_t> first(n, none);
    std::int64_t* at = first.data();
    for (std::size_t d = 0; d < own.size(); at += intervals(d++))
        for (const std::int64_t start : own[d])
            at[start / unit(d)] = std::min(at[start / unit(d)], start);
    if (!first.empty()) comm.all_reduce(first, Reduce::min);
    Starts united(own.size());
    auto next = first.begin();
    for (std::size_t d = 0; d < own.size(); next += intervals(d++))
        std::copy_if(next, next + intervals(d), std::back_inserter(united[d]),
                     [](std::int64_t start) { return start != none; });
    return united;
}

}  // namespace thalweg::detail
