// SPDX-License-Identifier: Apache-2.0
#include "history/reductions/reduction.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "history/statistics/kernels.hpp"

namespace thalweg::history {

Names reduced_dims(const Names& dims, const Names& reduced, const std::string& region_dim) {
    Names result = picked_dims(dims, {region_dim, reduced, {}});
    std::erase(result, "");
    return result;
}

constexpr double lowest = -std::numeric_limits<double>::infinity();
constexpr std::size_t words_each = std::tuple_size_v<ExactSum::Words>;
/// Word of a group without values, less than that of any number.
constexpr std::int64_t no_value = std::numeric_limits<std::int64_t>::min();

/// Converts a number to an integer that has the same order. A NaN is the largest.
static std::int64_t ordered(double number) {
    const auto bits = std::bit_cast<std::int64_t>(std::isnan(number) ? std::abs(number) : number);
    return bits ^ ((bits >> 63) & std::numeric_limits<std::int64_t>::max());
}

static double number_of_ordered(std::int64_t word) {
    return std::bit_cast<double>(word ^ ((word >> 63) & std::numeric_limits<std::int64_t>::max()));
}

static std::span<const std::int64_t> taken(std::span<const std::int64_t>& words, std::size_t n) {
    const auto first = words.first(n);
    words = words.subspan(n);
    return first;
}

GroupSum Reduction::reduce(const Reducible& from, std::int64_t group) const {
    constexpr std::int64_t together = 1024;
    const Grouping& in = *grouping;
    GroupSum found;
    std::array<double, together> values, weights;
    for (std::int64_t i = in.begin[group]; i < in.begin[group + 1]; i += together) {
        const std::int64_t n = std::min(together, in.begin[group + 1] - i);
        // An element without a value gets 0 and the weight 0, or the least extreme.
        const double nothing = !extreme() ? 0 : op == ReduceOp::max ? lowest : -lowest;
        std::int64_t valid = 0;
        const auto gather = [&](auto element) {
            for (std::int64_t j = 0; j < n; ++j) {
                const double value = from.values[element(j)];
                double weight = 1;
                bool there = !kernels::is_missing(value);
                if (from.weights != nullptr) {
                    weight = from.weights[element(j)];
                    there = (weight > 0) & (weight >= from.least);
                }
                valid += there ? 1 : 0;
                values[j] = kernels::choose(there, value, nothing);
                weights[j] = kernels::choose(there, weight, 0);
            }
        };
        if (in.order.empty())
            gather([&](std::int64_t j) { return i + j; });
        else
            gather([&](std::int64_t j) { return in.order[i + j]; });
        found.count += valid;
        if (extreme()) {
            for (std::int64_t j = 0; j < n; ++j) {
                const double value = op == ReduceOp::max ? values[j] : -values[j];
                if (value > found.extreme || std::isnan(value)) found.extreme = value;
            }
            continue;
        }
        if (!in.weights.empty())
            for (std::int64_t j = 0; j < n; ++j) {
                const double weight = in.weights[i + j];
                values[j] = kernels::choose(weight > 0, values[j] * weight, 0);
                weights[j] *= weight;
            }
        const std::int64_t whole = (n + 3) / 4 * 4;
        for (std::int64_t j = n; j < whole; ++j) values[j] = weights[j] = 0;
        found.sum.add({values.data(), static_cast<std::size_t>(whole)});
        if (weighted) found.weight.add({weights.data(), static_cast<std::size_t>(whole)});
    }
    return found;
}

double Reduction::value(std::int64_t count, double sum, double weight, double extreme,
                        double divisor) const {
    if (count == 0 || (weighted && !(weight > 0))) return kernels::missing_mark;
    switch (op) {
        case ReduceOp::mean: return sum / (weighted ? weight : static_cast<double>(count));
        case ReduceOp::sum: return sum / divisor;
        // Zeros and NaN get no sign, whichever rank has them.
        case ReduceOp::min: return std::isnan(extreme) ? std::abs(extreme) : 0.0 - extreme;
        case ReduceOp::max: return std::isnan(extreme) ? std::abs(extreme) : extreme + 0.0;
    }
    return kernels::missing_mark;
}

Status RecordValues::convert(tw_type type, const Value& fill) {
    bool fits = true;
    const auto convert_to = [&](auto zero) {
        using Out = decltype(zero);
        converted_.resize(values_.size() * sizeof(Out));
        auto* const to = reinterpret_cast<Out*>(converted_.data());
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const auto typed = static_cast<Out>(values_[i]);
            const bool held = std::isfinite(typed) || !std::isfinite(values_[i]);
            fits = fits && held;
            to[i] = held && !kernels::is_missing(values_[i]) ? typed : value_as<Out>(fill);
        }
    };
    type == TW_FLOAT ? convert_to(0.0F) : convert_to(0.0);
    if (!fits) return failure(TW_ERANGE, "results are out of range for the file's type");
    return {};
}

Reduced::Reduced(const Reduction& reduction, const Reducible& from) : reduction_(reduction) {
    if (reduction.joins_ranks()) {
        for (std::int64_t g = 0; g < reduction.grouping->groups(); ++g) {
            groups_.push_back(reduction.reduce(from, g));
            if (groups_.back().count > 0) divisor_ = from.divisor;
        }
        return;
    }
    const auto whole = [](const ExactSum& sum) {
        return ExactSum::value(sum.bins(), sum.words(sum.bins()));
    };
    for (std::int64_t g = 0; g < reduction.grouping->groups(); ++g) {
        const GroupSum group = reduction.reduce(from, g);
        values_.push_back(reduction.value(group.count, whole(group.sum), whole(group.weight),
                                          group.extreme, from.divisor));
    }
}

void Reduced::give_bins(std::vector<std::int64_t>& any) const {
    for (const GroupSum& group : groups_)
        for (const ExactSum* sum : {&group.sum, &group.weight}) any.push_back(sum->bins());
    any.push_back(std::bit_cast<std::int64_t>(divisor_));
}

void Reduced::take_bins(std::span<const std::int64_t>& any) {
    const auto bins = taken(any, 2 * groups_.size());
    bins_.assign(bins.begin(), bins.end());
    divisor_ = std::bit_cast<double>(taken(any, 1).front());
}

void Reduced::give_words(std::vector<std::int64_t>& most, std::vector<std::int64_t>& sums) const {
    auto bins = bins_.begin();
    for (const GroupSum& group : groups_) {
        if (reduction_.extreme()) {
            most.push_back(group.count == 0 ? no_value : ordered(group.extreme));
            continue;
        }
        sums.push_back(group.count);
        for (const ExactSum* sum : {&group.sum, &group.weight}) {
            const std::int64_t of_all = *bins++;
            if (sum == &group.weight && !reduction_.weighted) continue;
            for (const std::int64_t word : sum->words(of_all)) sums.push_back(word);
        }
    }
}

void Reduced::take_words(std::span<const std::int64_t>& most, std::span<const std::int64_t>& sums) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (reduction_.extreme()) {
            const std::int64_t word = taken(most, 1).front();
            values_.push_back(reduction_.value(word == no_value ? 0 : 1, 0, 0,
                                               number_of_ordered(word), divisor_));
            continue;
        }
        const std::int64_t count = taken(sums, 1).front();
        const double sum = ExactSum::value(bins_[2 * g], taken(sums, words_each));
        const double weight =
            reduction_.weighted ? ExactSum::value(bins_[2 * g + 1], taken(sums, words_each)) : 0;
        values_.push_back(reduction_.value(count, sum, weight, 0, divisor_));
    }
    groups_.clear();
}

Status combine(Ranks& ranks, std::span<Reduced* const> all) {
    if (all.empty()) return {};
    std::vector<std::int64_t> most, sums;
    for (const Reduced* one : all) one->give_words(most, sums);
    if (Status s = ranks.reduce(most, detail::Reduce::max); !s.ok()) return s;
    if (Status s = ranks.reduce(sums, detail::Reduce::sum); !s.ok()) return s;
    std::span<const std::int64_t> extremes(most), words(sums);
    for (Reduced* one : all) one->take_words(extremes, words);
    return {};
}

}  // namespace thalweg::history
