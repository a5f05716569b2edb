// The arrays of one operation, and the samples that it takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "history/statistics/statistic.hpp"

namespace thalweg::history {

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
    /// Computes the results of some elements.
    Status result(std::int64_t first, std::int64_t count, tw_type type, const Value& fill,
                  void* results) const;
    /// Computes all results in the memory of the state, as Accumulator::finish().
    Status finish(tw_type type, const Value& fill, const void*& results);
    /// Begins the next window. The arrays get their initial values with its first sample.
    void reset();

    std::int64_t elements() const { return elements_; }
    std::int64_t bytes() const;
    /// Tests if the weights of valid samples are no longer equal to the numbers of samples.
    bool weighs() const { return used_.counts && !counting_; }
    /// Replaces the numbers of valid samples by weights.
    void weigh();
    /// Appends the arrays of the state.
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
    void add_extremes(const T* data, const Run& run, Test present);
    template <int power, class T, class Test>
    void add_terms(const T* data, const Run& run, Test present);
    template <class T, class Test>
    void add_deviations(const T* data, const Run& run, Test present);

    /// Calls act with the weights or numbers of valid samples.
    template <class Own, class Act>
    static auto with_weights(Own& own, std::int64_t first, Act&& act) {
        return own.counting_ ? act(own.counts_.data() + first) : act(own.weights_.data() + first);
    }
    /// Sets `valid` for each element.
    /// @return true if all are valid
    bool find_valid(std::int64_t first, std::int64_t count, bool* valid) const;
    /// Computes results in double, and converts them.
    template <class Out>
    void values(std::int64_t first, std::int64_t count, Out* found) const;
    /// Tests if an array of the state has the results already.
    bool keeps(tw_type type, const Value& fill) const;
    template <class T>
    const T* extremes(bool greatest) const;
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

}  // namespace thalweg::history
