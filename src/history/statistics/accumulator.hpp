// The statistics of one field in one stream, element by element, in the order of time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history/statistics/statistic.hpp"

namespace thalweg::history {

namespace kernels {
template <class T>
struct Terms;
}

/// The arrays that an operation needs.
struct SumArrays {
    bool sum = false;  ///< sums in double; for std, means; for differences, last samples
    /// For std: sums of squared deviations; for differences: the samples before the window.
    bool squares = false;
    bool whole = false;                    ///< sums of integers
    bool least = false, greatest = false;  ///< extremes in the samples' type
    bool weights = false;                  ///< weights of the valid samples
    bool counts = false;  ///< numbers of valid samples, as long as all samples have the weight 1
    /// Bytes of an element of the extremes; the second is that of the array that gets the results.
    std::int64_t extreme = 0, result = 0;

    explicit SumArrays(const Statistic& statistic);
    std::int64_t bytes() const;  ///< Returns the bytes of these arrays for one element.
};

/// The state of one operation over the samples of a window. Ignores Statistic::inner.
class Sums {
public:
    /// @param exact  if the missing value is a NaN, only a NaN with the same bits is missing
    Sums(const Statistic& statistic, std::int64_t elements, bool exact = false);

    void begin_sample(double weight);
    void add(const Run& run);
    Status end_sample();
    Status result(std::int64_t first, std::int64_t count, tw_type type, const Value& fill,
                  void* results) const;
    /// Computes all results in the memory of the state, as Accumulator::finish().
    Status finish(tw_type type, const Value& fill, const void*& results);
    /// Begins the next window. The arrays get their initial values with its first sample.
    void reset();

    std::int64_t elements() const { return elements_; }
    std::int64_t bytes() const { return elements_ * (used_.bytes() + (weighs() ? 4 : 0)); }
    /// Tests if the weights of valid samples are no longer equal to the numbers of samples.
    bool weighs() const { return used_.counts && !counting_; }
    void weigh();
    void list_arrays(const std::string& prefix, std::vector<StateArray>& arrays);

    double weight = 0;         ///< sum of the weights of all samples in the window
    std::int64_t samples = 0;  ///< number of samples with a weight above 0

private:
    /// Gives elements the values that they have before the window's first sample.
    template <class T>
    void begin(std::int64_t first, std::int64_t count);
    template <class T>
    void add_run(const Run& run);
    template <class T>
    void add_values(const T* data, const Run& run);
    template <class T, class Test>
    void add_present(const T* data, const Run& run, Test present);
    template <class T, class Test>
    bool add_real(kernels::Terms<T>& terms, std::int64_t at, Test present);

    template <class Own, class Act>
    static auto with_weights(Own& own, std::int64_t first, Act&& act) {
        return own.counting_ ? act(own.counts_.data() + first) : act(own.weights_.data() + first);
    }
    /// Sets `valid` for each element. @return true if all are valid
    bool find_valid(std::int64_t first, std::int64_t count, bool* valid) const;
    void values(std::int64_t first, std::int64_t count, double* found) const;
    template <class T>
    const T* extremes(bool greatest) const {
        return reinterpret_cast<const T*>((greatest ? greatest_ : least_).get());
    }
    template <class T>
    bool is_missing(T found) const {
        if (nan_missing_ && found != found) return true;
        return std::memcmp(&found, statistic_.missing_value.data(), sizeof found) == 0;
    }

    Statistic statistic_;
    std::int64_t elements_;
    SumArrays used_;
    bool nan_missing_;  ///< every NaN is missing
    bool counting_;     ///< the weights are still equal to numbers of samples
    std::vector<double> sum_, squares_, weights_;
    std::vector<std::int32_t> counts_;
    std::vector<std::int64_t> whole_;
    std::unique_ptr<std::byte[]> least_, greatest_;
    double sample_weight_ = 1;
    bool mask_changed_ = false, negative_ = false;
    bool finished_ = false;  ///< the state of the window is lost
};

/// Numbers of the accumulator's state, which a restart keeps.
struct StateNumbers {
    double weight = 0, inner_weight = 0;  ///< sums of the weights of all samples in the window
    std::int64_t samples = 0, inner_samples = 0;
    /// Bit 1: arrays hold weights instead of numbers of samples. Bit 2: also of inner windows.
    std::int64_t weighs = 0;
};

/// The state of one variable's open window. For each sample call begin_sample(), add() for all
/// elements in any order, and end_sample(). Arithmetic is in double, except for minima, maxima and
/// sums of integers.
class Accumulator {
public:
    /// @throw std::bad_alloc
    Accumulator(const Statistic& statistic, std::int64_t elements);

    /// Returns the bytes that an accumulator takes if all samples have the weight 1.
    static std::int64_t bytes(const Statistic& statistic, std::int64_t elements);

    /// Returns the bytes that the accumulator takes now: weights take more than numbers of samples.
    std::int64_t bytes() const { return outer_.bytes() + (inner_ ? inner_->bytes() : 0); }

    /// Begins a sample.
    /// @param weight  finite and >= 0; 0: the sample counts for nothing
    void begin_sample(double weight) { taker().begin_sample(weight); }
    void add(const Run& run) { taker().add(run); }
    /// @return TW_OK, TW_EARG: a fixed mask changed within the window, or a weight is negative
    Status end_sample() { return taker().end_sample(); }

    /// Ends an inner window: its result is a sample of the outer operation. @return as end_sample
    Status end_inner(double weight);

    /// Computes the results in the memory of the state, which is lost. Call reset() afterwards.
    /// @param type     that of the samples, or a real one no wider than Statistic::results
    /// @param fill     value of type `type` for elements without a valid result
    /// @param results  receives the array of results
    /// @return TW_OK, TW_ERANGE: some results do not fit into the type, and get the fill value
    Status finish(tw_type type, const Value& fill, const void*& results) {
        return outer_.finish(type, fill, results);
    }
    void reset() {
        outer_.reset();
        if (inner_) inner_->reset();
    }

    std::vector<StateArray> arrays();
    StateNumbers numbers() const;
    /// Sets the numbers, before arrays() is called.
    void set_numbers(const StateNumbers& numbers);
    /// Replaces numbers of valid samples by weights, as the bits of StateNumbers::weighs tell.
    void weigh(std::int64_t bits);

private:
    Sums& taker() { return inner_ ? *inner_ : outer_; }

    Sums outer_;
    std::optional<Sums> inner_;
};

}  // namespace thalweg::history
