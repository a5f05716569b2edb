// SPDX-License-Identifier: Apache-2.0
#include "history/statistics/accumulator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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
    if (negative_) return failure(TW_EARG, "the weight field has values below 0");
    if (mask_changed_)
        return failure(TW_EARG,
                       "other elements are missing than in the window's first sample: the "
                       "field needs missing=varying");
    return {};
}

void Sums::add(const Run& run) {
    if (sample_weight_ == 0 && !is_difference(statistic_.op)) return;
    detail::with_number(statistic_.type, [&](auto zero) {
        using T = decltype(zero);
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
        for (std::int64_t j = 0; j < count; ++j) gathered[j] = data[(i + j) * run.stride];
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
    kernels::Terms<T> terms{data, run.count, 1, sample_weight_, run.weights};
    const bool first = samples == 0;
    bool differs = false;
    const auto count = [&] {
        with_weights(*this, run.first, [&](auto* weights) {
            differs = kernels::count_present(terms, present, first, weights);
        });
    };
    const auto find_extremes = [&](std::byte* values, auto greatest) {
        T* const to = reinterpret_cast<T*>(values) + run.first;
        differs |= kernels::find_extremes<greatest.value>(terms, present, first, to);
    };
    if (counts_valid(statistic_.op)) {
        if (statistic_.op == Op::count) terms.weight = 1;
        differs = kernels::count_present(terms, present, first, sum_.data() + run.first);
    } else if (used_.least || used_.greatest) {
        if (used_.weights) count();
        if (used_.least) find_extremes(least_.get(), std::false_type{});
        if (used_.greatest) find_extremes(greatest_.get(), std::true_type{});
        differs &= !first;
    } else if constexpr (std::is_floating_point_v<T>) {
        differs = add_real(terms, run.first, present);
    } else {
        kernels::add_integers(terms, present, whole_.data() + run.first);
        if (used_.weights) count();
    }
    mask_changed_ |= differs && statistic_.missing == Missing::fixed;
}

/// Adds a sample to sums or means in double.
/// @return true if other elements are missing than in earlier samples
template <class T, class Test>
bool Sums::add_real(kernels::Terms<T>& terms, std::int64_t at, Test present) {
    double* const sum = sum_.data() + at;
    double* const squares = squares_.data() + at;
    const Op op = statistic_.op;
    const auto add = [&](auto power) {
        const auto varying = [&](auto weighted, auto* weights) {
            if constexpr (power.value == 0)
                return kernels::deviate_varying<weighted.value>(terms, present, sum, squares,
                                                                weights);
            else
                return kernels::add_varying<power.value, weighted.value>(terms, present, sum,
                                                                         weights);
        };
        if (statistic_.weight_field)
            negative_ |= varying(std::true_type{}, weights_.data() + at);
        else if (statistic_.missing == Missing::varying)
            with_weights(*this, at, [&](auto* weights) { varying(std::false_type{}, weights); });
        else if constexpr (power.value == 0)
            return kernels::deviate(terms, present, samples == 0, weight, sum, squares);
        else
            return kernels::add<power.value>(terms, present, samples == 0, sum);
        return false;
    };
    if (op != Op::sum) terms.factor = sample_weight_;
    if (is_difference(op))
        // Only the sample at the beginning of the first window has the weight 0.
        kernels::keep(terms, present, sample_weight_ > 0 ? sum : squares);
    else if (op == Op::std)
        return add(std::integral_constant<int, 0>{});
    else if (op == Op::rms || op == Op::mean_square)
        return add(std::integral_constant<int, 2>{});
    else
        return add(std::integral_constant<int, 1>{});
    return false;
}

void Sums::list_arrays(const std::string& prefix, std::vector<StateArray>& arrays) {
    if (samples == 0)
        detail::with_number(statistic_.type,
                            [&](auto zero) { begin<decltype(zero)>(0, elements_); });
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

Status Sums::finish(tw_type type, const Value& fill, const void*& results) {
    const std::int64_t size = detail::size_of(type);
    void* to = (used_.greatest ? greatest_ : least_).get();
    if (used_.sum) to = sum_.data();
    if (used_.whole) to = whole_.data();
    results = to;
    finished_ = samples > 0;
    const bool same_missing =
        statistic_.missing == Missing::none ||
        (!nan_missing_ && std::memcmp(statistic_.missing_value.data(), fill.data(), size) == 0);
    const bool one_array = used_.least != used_.greatest && !used_.weights;
    if (type == statistic_.type && one_array && same_missing && weight > 0) return {};
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

static Statistic inner_of(const Statistic& statistic) {
    Statistic inner = statistic;
    inner.op = *statistic.inner;
    inner.results = inner.type;
    inner.min_valid = 0;
    inner.ddof = 0;
    return inner;
}

/// Returns the outer operation, whose samples are the results of the inner one, in double.
static Statistic outer_of(const Statistic& statistic) {
    Statistic outer = statistic;
    if (!statistic.inner) return outer;
    outer.type = TW_DOUBLE;
    if (statistic.weight_field) outer.missing = Missing::varying;
    outer.weight_field = false;
    outer.missing_value = value_of(TW_DOUBLE, kernels::missing_mark);
    return outer;
}

Accumulator::Accumulator(const Statistic& statistic, std::int64_t elements)
    : outer_(outer_of(statistic), elements, statistic.inner.has_value()) {
    if (statistic.inner) inner_.emplace(inner_of(statistic), elements);
}

std::int64_t Accumulator::bytes(const Statistic& statistic, std::int64_t elements) {
    const Statistic outer = outer_of(statistic);
    std::int64_t each = SumArrays(outer).bytes();
    if (statistic.inner) each += SumArrays(inner_of(statistic)).bytes();
    return each * elements;
}

Status Accumulator::end_inner(double weight) {
    if (!inner_ || inner_->samples == 0) return {};
    std::array<double, converted_together> results;
    const Value missing = value_of(TW_DOUBLE, kernels::missing_mark);
    Status status;
    outer_.begin_sample(weight);
    for (std::int64_t i = 0; i < inner_->elements(); i += converted_together) {
        const std::int64_t count = std::min(converted_together, inner_->elements() - i);
        Status own = inner_->result(i, count, TW_DOUBLE, missing, results.data());
        if (!own.ok()) status = std::move(own);
        outer_.add({i, count, results.data(), 1, nullptr});
    }
    Status own = outer_.end_sample();
    inner_->reset();
    return own.ok() ? status : own;
}

std::vector<StateArray> Accumulator::arrays() {
    std::vector<StateArray> found;
    outer_.list_arrays("", found);
    if (inner_) inner_->list_arrays("inner_", found);
    return found;
}

StateNumbers Accumulator::numbers() const {
    return {outer_.weight, inner_ ? inner_->weight : 0, outer_.samples,
            inner_ ? inner_->samples : 0,
            (outer_.weighs() ? 1 : 0) | (inner_ && inner_->weighs() ? 2 : 0)};
}

void Accumulator::weigh(std::int64_t bits) {
    if ((bits & 1) != 0) outer_.weigh();
    if ((bits & 2) != 0 && inner_) inner_->weigh();
}

void Accumulator::set_numbers(const StateNumbers& numbers) {
    weigh(numbers.weighs);
    outer_.weight = numbers.weight;
    outer_.samples = numbers.samples;
    if (!inner_) return;
    inner_->weight = numbers.inner_weight;
    inner_->samples = numbers.inner_samples;
}

}  // namespace thalweg::history
