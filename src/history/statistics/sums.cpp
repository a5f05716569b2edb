// SPDX-License-Identifier: Apache-2.0
#include "history/statistics/sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "history/statistics/kernels.hpp"
#include "index/types.hpp"

namespace thalweg::history {

static bool sums_integers(const Statistic& statistic) {
    return statistic.op == Op::sum && !is_real(statistic.type) && !statistic.weight_field;
}

static bool weighs_elements(const Statistic& statistic) {
    if (counts_valid(statistic.op)) return false;
    if (is_difference(statistic.op)) return false;  // missing elements have a mark
    if (statistic.weight_field) return true;
    if (is_extreme(statistic.op))
        return statistic.missing == Missing::varying && statistic.min_valid > 0;
    // An integer sum cannot mark missing elements, so a fixed mask needs weights, too.
    return statistic.missing == Missing::varying ||
           (statistic.missing == Missing::fixed && sums_integers(statistic));
}

/// Copies every stride-th element.
template <class T>
static void gather(const T* from, std::int64_t count, std::int64_t stride, T* to) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

SumArrays::SumArrays(const Statistic& statistic)
    : sum(!is_extreme(statistic.op) && !sums_integers(statistic)),
      squares(statistic.op == Op::std || is_difference(statistic.op)),
      whole(sums_integers(statistic)),
      least(statistic.op == Op::min || statistic.op == Op::range),
      greatest(is_extreme(statistic.op) && statistic.op != Op::min),
      weights(weighs_elements(statistic)),
      counts(weights && !statistic.weight_field),
      extreme(detail::size_of(statistic.type)),
      result(std::max(extreme, detail::size_of(statistic.results))) {}

std::int64_t SumArrays::bytes() const {
    return 8 * (sum + squares + whole) + (counts ? 4 : 8 * weights) +
           (greatest ? result + extreme * least : result * least);
}

Sums::Sums(const Statistic& statistic, std::int64_t elements, bool exact)
    : statistic_(statistic),
      elements_(elements),
      used_(statistic),
      nan_missing_(!exact && statistic.missing != Missing::none && is_real(statistic.type) &&
                   (statistic.type == TW_FLOAT
                        ? std::isnan(value_as<float>(statistic.missing_value))
                        : std::isnan(value_as<double>(statistic.missing_value)))),
      counting_(used_.counts) {
    const auto size = static_cast<std::size_t>(elements);
    if (used_.sum) sum_.resize(size);
    if (used_.squares)
        squares_.resize(size, is_difference(statistic.op) ? kernels::missing_mark : 0);
    if (used_.whole) whole_.resize(size);
    if (used_.counts)
        counts_.resize(size);
    else if (used_.weights)
        weights_.resize(size);
    if (used_.least)
        least_ = std::make_unique_for_overwrite<std::byte[]>(
            size * (used_.greatest ? used_.extreme : used_.result));
    if (used_.greatest)
        greatest_ = std::make_unique_for_overwrite<std::byte[]>(size * used_.result);
}

void Sums::reset() {
    if (is_difference(statistic_.op) && !finished_) {
        squares_ = sum_;
        if (samples == 0) std::ranges::fill(squares_, kernels::missing_mark);
    }
    finished_ = false;
    weight = 0;
    samples = 0;
}

template <class T>
void Sums::begin(std::int64_t first, std::int64_t count) {
    const auto fill = [&](auto& array, auto value) {
        if (!array.empty()) std::fill_n(array.begin() + first, count, value);
    };
    fill(sum_, statistic_.op == Op::std ? 0 : kernels::nothing);
    if (!is_difference(statistic_.op)) fill(squares_, 0);
    fill(whole_, 0);
    fill(weights_, 0);
    fill(counts_, 0);
    for (std::byte* extreme : {least_.get(), greatest_.get()})
        if (extreme != nullptr)
            std::fill_n(reinterpret_cast<T*>(extreme) + first, count,
                        value_as<T>(statistic_.missing_value));
}

std::int64_t Sums::bytes() const { return elements_ * (used_.bytes() + (weighs() ? 4 : 0)); }

void Sums::weigh() {
    if (!counting_) return;
    weights_.assign(counts_.begin(), counts_.end());
    counts_ = {};
    counting_ = false;
}

void Sums::begin_sample(double sample_weight) {
    const bool one = sample_weight == 1 || sample_weight == 0;
    if (!one || samples == std::numeric_limits<std::int32_t>::max()) weigh();
    sample_weight_ = sample_weight;
    mask_changed_ = negative_ = false;
    weight += sample_weight;
}

Status Sums::end_sample() {
    if (sample_weight_ > 0) ++samples;
    if (negative_) return detail::failure(TW_EARG, "the weight field has values below 0");
    if (mask_changed_)
        return detail::failure(TW_EARG,
                               "other elements are missing than in the window's first sample: the "
                               "field needs missing=varying");
    return {};
}

void Sums::add(const Run& run) {
    if (sample_weight_ == 0 && !is_difference(statistic_.op)) return;
    with_type(statistic_.type, [&](auto named) {
        using T = typename decltype(named)::type;
        if (samples > 0) return add_run<T>(run);
        // Add a part at a time, while the initial values of its elements are in the cache.
        for (std::int64_t i = 0; i < run.count; i += converted_together) {
            const std::int64_t count = std::min(converted_together, run.count - i);
            begin<T>(run.first + i, count);
            add_run<T>({run.first + i, count, static_cast<const T*>(run.data) + i * run.stride,
                        run.stride, run.weights == nullptr ? nullptr : run.weights + i});
        }
    });
}

template <class T>
void Sums::add_run(const Run& run) {
    const T* const data = static_cast<const T*>(run.data);
    constexpr bool real = std::is_floating_point_v<T>;
    const bool exact = real || !used_.sum;
    if (run.stride == 1 && exact) {
        add_values(data, run);
        return;
    }
    std::array<T, converted_together> gathered;
    std::array<double, converted_together> converted;
    for (std::int64_t i = 0; i < run.count; i += converted_together) {
        const std::int64_t count = std::min(converted_together, run.count - i);
        const Run part{run.first + i, count, nullptr, 1,
                       run.weights == nullptr ? nullptr : run.weights + i};
        gather(data + i * run.stride, count, run.stride, gathered.data());
        if (exact) {
            add_values(gathered.data(), part);
            continue;
        }
        for (std::int64_t j = 0; j < count; ++j)
            converted[j] = statistic_.missing != Missing::none && is_missing(gathered[j])
                               ? std::numeric_limits<double>::quiet_NaN()
                               : static_cast<double>(gathered[j]);
        add_values(converted.data(), part);
    }
}

template <class T>
void Sums::add_values(const T* data, const Run& run) {
    if (statistic_.missing == Missing::none)
        add_present(data, run, kernels::All{});
    else if (std::is_floating_point_v<T> && (nan_missing_ || !is_real(statistic_.type)))
        add_present(data, run, kernels::NotNan{});
    else
        add_present(data, run,
                    kernels::NotBits<T>{value_as<kernels::Bits<T>>(statistic_.missing_value)});
}

template <class T, class Test>
void Sums::add_present(const T* data, const Run& run, Test present) {
    if (counts_valid(statistic_.op)) {
        const double one = statistic_.op == Op::count ? 1 : sample_weight_;
        const kernels::Terms<T> terms{data, run.count, 1, one, nullptr};
        double* const sum = sum_.data() + run.first;
        if (statistic_.missing == Missing::fixed)
            mask_changed_ =
                kernels::count_fixed(terms, present, samples == 0, sum) || mask_changed_;
        else
            kernels::count_present(terms, present, sum);
    } else if (used_.least || used_.greatest) {
        add_extremes(data, run, present);
    } else if (used_.whole) {
        if constexpr (!std::is_floating_point_v<T>) {
            const kernels::Terms<T> terms{data, run.count, 1, sample_weight_, nullptr};
            kernels::add_integers(terms, present, whole_.data() + run.first);
            if (used_.weights)
                with_weights(*this, run.first, [&](auto* weights) {
                    if (statistic_.missing == Missing::fixed)
                        mask_changed_ =
                            kernels::count_fixed(terms, present, samples == 0, weights) ||
                            mask_changed_;
                    else
                        kernels::count_present(terms, present, weights);
                });
        }
    } else if constexpr (std::is_floating_point_v<T>) {
        if (is_difference(statistic_.op))
            // Only the sample at the beginning of the first window has the weight 0.
            kernels::keep(kernels::Terms<T>{data, run.count, 1, 1, nullptr}, present,
                          (sample_weight_ > 0 ? sum_ : squares_).data() + run.first);
        else if (used_.squares)
            add_deviations(data, run, present);
        else if (statistic_.op == Op::rms || statistic_.op == Op::mean_square)
            add_terms<2>(data, run, present);
        else
            add_terms<1>(data, run, present);
    }
}

/// Updates the extremes, and the weights of the valid samples.
template <class T, class Test>
void Sums::add_extremes(const T* data, const Run& run, Test present) {
    const kernels::Terms<T> terms{data, run.count, 1, sample_weight_, nullptr};
    bool differs = false;
    const auto extreme = [&](std::byte* values, auto greatest) {
        T* const to = reinterpret_cast<T*>(values) + run.first;
        if constexpr (std::is_same_v<Test, kernels::All>)
            kernels::extreme_all<greatest.value>(terms, samples == 0, to);
        else
            differs = kernels::extreme_present<greatest.value>(terms, present, to) || differs;
    };
    if (used_.least) extreme(least_.get(), std::false_type{});
    if (used_.greatest) extreme(greatest_.get(), std::true_type{});
    // Before the first sample all elements count as missing.
    if (statistic_.missing == Missing::fixed && samples > 0 && differs) mask_changed_ = true;
    if (used_.weights)
        with_weights(*this, run.first,
                     [&](auto* weights) { kernels::count_present(terms, present, weights); });
}

template <int power, class T, class Test>
void Sums::add_terms(const T* data, const Run& run, Test present) {
    const double factor = statistic_.op == Op::sum ? 1 : sample_weight_;
    const kernels::Terms<T> terms{data, run.count, factor, sample_weight_, run.weights};
    double* const sum = sum_.data() + run.first;
    bool differs = false;
    if (statistic_.weight_field)
        negative_ =
            kernels::add_weighted<power>(terms, present, sum, weights_.data() + run.first) ||
            negative_;
    else if (statistic_.missing == Missing::none)
        kernels::add_all<power>(terms, sum);
    else if (statistic_.missing == Missing::fixed)
        differs = kernels::add_fixed<power>(terms, present, samples == 0, sum);
    else
        with_weights(*this, run.first, [&](auto* weights) {
            kernels::add_varying<power>(terms, present, sum, weights);
        });
    mask_changed_ = mask_changed_ || differs;
}

template <class T, class Test>
void Sums::add_deviations(const T* data, const Run& run, Test present) {
    const kernels::Terms<T> terms{data, run.count, 1, sample_weight_, run.weights};
    double* const mean = sum_.data() + run.first;
    double* const squares = squares_.data() + run.first;
    bool differs = false;
    if (statistic_.weight_field)
        negative_ = kernels::deviate_varying<true>(terms, present, mean, squares,
                                                   weights_.data() + run.first) ||
                    negative_;
    else if (statistic_.missing == Missing::none)
        kernels::deviate_all(terms, weight, mean, squares);
    else if (statistic_.missing == Missing::fixed)
        differs = kernels::deviate_fixed(terms, present, samples == 0, weight, mean, squares);
    else
        with_weights(*this, run.first, [&](auto* weights) {
            kernels::deviate_varying<false>(terms, present, mean, squares, weights);
        });
    mask_changed_ = mask_changed_ || differs;
}

void Sums::list_arrays(const std::string& prefix, std::vector<StateArray>& arrays) {
    if (samples == 0)
        with_type(statistic_.type,
                  [&](auto named) { begin<typename decltype(named)::type>(0, elements_); });
    const auto list = [&](bool used, const char* name, tw_type type, void* data) {
        if (used) arrays.push_back({prefix + name, type, data});
    };
    list(used_.sum, statistic_.op == Op::std ? "mean" : "sum", TW_DOUBLE, sum_.data());
    list(used_.squares, "squares", TW_DOUBLE, squares_.data());
    list(used_.whole, "sum", TW_INT64, whole_.data());
    list(counting_, "weight", TW_INT, counts_.data());
    list(used_.weights && !counting_, "weight", TW_DOUBLE, weights_.data());
    list(used_.least, "min", statistic_.type, least_.get());
    list(used_.greatest, "max", statistic_.type, greatest_.get());
}

}  // namespace thalweg::history
