// The arrays of one operation, and the samples that it takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "history/accumulator.hpp"

namespace thalweg::history {

/// Arrays that an operation needs.
struct SumArrays {
    bool sum = false;                      ///< in double: a sum, or the mean of std
    bool squares = false;                  ///< of deviations, of std
    bool whole = false;                    ///< a sum of integers
    bool least = false, greatest = false;  ///< in the samples' type
    bool weights = false;                  ///< of valid samples

    explicit SumArrays(const Statistic& statistic);
    std::int64_t bytes(tw_type type) const;  ///< an element
};

std::int64_t type_size(tw_type type);

/// One operation over the samples of a window. Statistic::inner means nothing here.
class Sums {
public:
    /// @param exact  a missing value that is a NaN stands for its own bits only
    Sums(const Statistic& statistic, std::int64_t elements, bool exact = false);

    void begin_sample(double weight);
    void add(const Run& run);
    Status end_sample();
    Status result(std::int64_t first, std::int64_t count, tw_type type, const Value& fill,
                  void* results) const;
    void reset();

    std::int64_t elements() const { return elements_; }
    /// Appends the arrays of the state.
    void list_arrays(const std::string& prefix, std::vector<StateArray>& arrays);

    double weight = 0;         ///< of all samples of the window
    std::int64_t samples = 0;  ///< with a weight above 0

private:
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

    /// Finds the valid results; tests if all are.
    bool find_valid(std::int64_t first, std::int64_t count, bool* valid) const;
    /// Computes results in double.
    void values(std::int64_t first, std::int64_t count, double* found) const;
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
    std::vector<double> sum_, squares_, weights_;
    std::vector<std::int64_t> whole_;
    std::vector<std::byte> least_, greatest_;
    double sample_weight_ = 1;
    bool mask_changed_ = false, negative_ = false;
};

}  // namespace thalweg::history
