// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "history/statistics/accumulator.hpp"
#include "history/statistics/kernels.hpp"
#include "index/types.hpp"

namespace thalweg::history {

bool Sums::find_valid(std::int64_t first, std::int64_t count, bool* valid) const {
    const double least_weight =
        statistic_.op == Op::std && statistic_.ddof > 0 ? 1.0 + statistic_.ddof : 0;
    if (is_difference(statistic_.op)) {
        for (std::int64_t i = 0; i < count; ++i)
            valid[i] = samples > 0 && !kernels::is_missing(sum_[first + i]) &&
                       !kernels::is_missing(squares_[first + i]);
        return false;
    }
    const bool all = samples > 0 && weight > 0 && (used_.weights || weight >= least_weight);
    std::fill_n(valid, count, all);
    if (!all || (!used_.weights && statistic_.missing == Missing::none)) return all;
    if (used_.weights) {
        const double share = statistic_.weight_field ? 0 : statistic_.min_valid * weight;
        const double least = std::max(share, least_weight);
        with_weights(*this, first, [&](const auto* own) {
            for (std::int64_t i = 0; i < count; ++i)
                valid[i] = (own[i] > 0) & (static_cast<double>(own[i]) >= least);
        });
    } else if (used_.sum) {
        for (std::int64_t i = 0; i < count; ++i) valid[i] = !kernels::is_missing(sum_[first + i]);
    }
    if (used_.least || used_.greatest)
        detail::with_number(statistic_.type, [&](auto zero) {
            const auto* const extreme = extremes<decltype(zero)>(used_.greatest) + first;
            for (std::int64_t i = 0; i < count; ++i) valid[i] &= !is_missing(extreme[i]);
        });
    return false;
}

void Sums::values(std::int64_t first, std::int64_t count, double* found) const {
    const double* const sum = sum_.data() + first;
    const double* const squares = squares_.data() + first;
    const auto each = [&](auto value) {
        for (std::int64_t i = 0; i < count; ++i) found[i] = value(i);
    };
    // Computes a value for each element from its weight, or from the common weight if there is no
    // array of weights.
    const auto weighted = [&](auto value) {
        if (used_.weights)
            with_weights(*this, first, [&](const auto* own) {
                each([&](std::int64_t i) { return value(i, static_cast<double>(own[i])); });
            });
        else
            each([&, all = weight](std::int64_t i) { return value(i, all); });
    };
    if (used_.whole)
        each([&](std::int64_t i) { return static_cast<double>(whole_[first + i]); });
    else if (is_extreme(statistic_.op))
        detail::with_number(statistic_.type, [&](auto zero) {
            using T = decltype(zero);
            const T* const one = extremes<T>(used_.greatest) + first;
            if (statistic_.op != Op::range) {
                each([&](std::int64_t i) { return static_cast<double>(one[i]); });
                return;
            }
            const T* const least = extremes<T>(false) + first;
            each([&](std::int64_t i) {
                return static_cast<double>(one[i]) - static_cast<double>(least[i]);
            });
        });
    else if (statistic_.op == Op::sum || statistic_.op == Op::count)
        each([&](std::int64_t i) { return sum[i]; });
    else if (is_difference(statistic_.op))
        each([&, seconds = statistic_.op == Op::rate ? weight : 1](std::int64_t i) {
            return (sum[i] - squares[i]) / seconds;
        });
    else if (statistic_.op == Op::rms)
        weighted([&](std::int64_t i, double w) { return std::sqrt(sum[i] / w); });
    else if (statistic_.op == Op::std)
        weighted([&, ddof = double(statistic_.ddof)](std::int64_t i, double w) {
            return std::sqrt(squares[i] / (w - ddof));
        });
    else
        weighted([&](std::int64_t i, double w) { return sum[i] / w; });
}

bool Sums::keeps(tw_type type, const Value& fill) const {
    const bool same_missing =
        statistic_.missing == Missing::none ||
        (!nan_missing_ && std::memcmp(statistic_.missing_value.data(), fill.data(),
                                      static_cast<std::size_t>(detail::size_of(type))) == 0);
    const bool one_array = used_.least != used_.greatest && !used_.weights;
    return type == statistic_.type && one_array && same_missing && weight > 0;
}

Status Sums::finish(tw_type type, const Value& fill, const void*& results) {
    const std::int64_t size = detail::size_of(type);
    void* to = (used_.greatest ? greatest_ : least_).get();
    if (used_.sum) to = sum_.data();
    if (used_.whole) to = whole_.data();
    results = to;
    finished_ = samples > 0;
    if (keeps(type, fill)) return {};
    Status status;
    // A result lies beyond the state of its element only if its type is wider than the samples'.
    // Then the last part comes first, so a part overwrites no state that is still needed.
    const bool wider = is_extreme(statistic_.op) && size > used_.extreme;
    alignas(double) std::array<char, converted_together * sizeof(double)> part;
    for (std::int64_t done = 0; done < elements_; done += converted_together) {
        const std::int64_t count = std::min(converted_together, elements_ - done);
        const std::int64_t i = wider ? elements_ - done - count : done;
        Status own = result(i, count, type, fill, part.data());
        if (!own.ok()) status = std::move(own);
        if (is_difference(statistic_.op) && samples > 0)
            std::copy_n(sum_.data() + i, count, squares_.data() + i);
        std::memcpy(static_cast<char*>(to) + i * size, part.data(), count * size);
    }
    return status;
}

Status Sums::result(std::int64_t first, std::int64_t count, tw_type type, const Value& fill,
                    void* results) const {
    if (!is_real(type) &&
        (type != statistic_.type || (!used_.whole && used_.least == used_.greatest)))
        return failure(TW_ETYPE, "'{}' has no results of this type", op_name(statistic_.op));
    // Infinite extremes, and infinite sums of types narrower than double, come from infinite
    // samples. Other infinite results may be overflows.
    const bool exact = statistic_.type != TW_DOUBLE || is_extreme(statistic_.op);
    bool fits = true;
    detail::with_number(type, [&](auto zero) {
        using Out = decltype(zero);
        constexpr bool real = std::is_floating_point_v<Out>;
        auto* out = static_cast<Out*>(results);
        if (samples == 0) std::fill_n(out, count, value_as<Out>(fill));
        std::array<double, converted_together> found;
        std::array<bool, converted_together> valid;
        for (std::int64_t i = first; samples > 0 && i < first + count; i += converted_together) {
            const std::int64_t n = std::min(converted_together, first + count - i);
            const auto put = [&](auto convert) {
                for (std::int64_t j = 0; j < n; ++j) {
                    bool held = true;
                    const Out value = convert(j, held);
                    fits &= held | !valid[j];
                    *out++ = held & valid[j] ? value : value_as<Out>(fill);
                }
            };
            const bool all = find_valid(i, n, valid.data());
            if constexpr (real) {
                std::uint64_t infinite = used_.whole ? 1 : 0;
                if (!used_.whole) values(i, n, found.data());
                for (std::int64_t j = 0; j < n && !used_.whole; ++j) {
                    out[j] = static_cast<Out>(found[j]);
                    infinite |= std::abs(out[j]) > std::numeric_limits<Out>::max() ? 1 : 0;
                }
                if (infinite == 0) {  // usual, and the compiler can vectorize it
                    for (std::int64_t j = 0; j < n && !all; ++j)
                        out[j] = valid[j] ? out[j] : value_as<Out>(fill);
                    out += n;
                    continue;
                }
            }
            if (used_.whole)
                put([&](auto j, bool& held) {
                    const std::int64_t sum = whole_[i + j];
                    held = sum != kernels::overflowed;
                    if constexpr (!real) held &= std::in_range<Out>(sum);
                    return static_cast<Out>(sum);
                });
            else if constexpr (real)
                put([&](auto j, bool& held) {
                    const auto value = static_cast<Out>(found[j]);
                    held =
                        sizeof(Out) == 8 || !std::isinf(value) || (exact && std::isinf(found[j]));
                    return value;
                });
            else
                put([&](auto j, bool&) { return extremes<Out>(used_.greatest)[i + j]; });
        }
    });
    if (!fits) return failure(TW_ERANGE, "results are out of range for the file's type");
    return {};
}

}  // namespace thalweg::history
