// The statistics of one field in one stream, element by element, in the order of time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history/operation.hpp"
#include "thalweg/base.h"

namespace thalweg::history {

/// Bits of a value of any type, in the first bytes.
using Value = std::array<std::byte, 8>;

/// Everything that decides on the numbers of one field in one stream.
struct Statistic {
    Op op = Op::mean;
    std::optional<Op> inner;  ///< applied in each inner window; `op` takes its results
    tw_type type = TW_FLOAT;  ///< of the samples
    Missing missing = Missing::none;
    Value missing_value{};      ///< of `type`; a NaN stands for every NaN
    bool weight_field = false;  ///< each sample comes with a weight an element
    bool counts = false;        ///< samples have the weight 1, but for weights of the model's own
    double min_valid = 0;       ///< least share of the weight that valid samples must have
    int ddof = 0;               ///< of std: 1 divides by n - 1
};

/// Some elements of one sample.
struct Run {
    std::int64_t first = 0;  ///< element of the accumulator
    std::int64_t count = 0;
    const void* data = nullptr;
    std::int64_t stride = 1;          ///< distance in memory, in elements
    const double* weights = nullptr;  ///< of a weight field, one after another; 0 or NaN: no sample
};

/// An array of the state, for restarts: as many elements as the accumulator has.
struct StateArray {
    std::string name;
    tw_type type = TW_DOUBLE;
    void* data = nullptr;
};

/// Numbers of the state, for restarts.
struct StateNumbers {
    double weight = 0, inner_weight = 0;  ///< of all samples in the window
    std::int64_t samples = 0, inner_samples = 0;
};

class Sums;

/// Every sample: begin_sample, add for all elements in any order, end_sample. Elements are
/// independent of each other; all arithmetic is in double, but for minima, maxima and integer sums.
class Accumulator {
public:
    /// @throw std::bad_alloc
    Accumulator(const Statistic& statistic, std::int64_t elements);
    ~Accumulator();
    Accumulator(Accumulator&&) noexcept;
    Accumulator& operator=(Accumulator&&) noexcept;

    /// Returns the bytes that an accumulator of so many elements takes.
    static std::int64_t bytes(const Statistic& statistic, std::int64_t elements);

    /// Begins a sample.
    /// @param weight  finite and >= 0; 0: the sample counts for nothing
    void begin_sample(double weight);
    void add(const Run& run);
    /// @return TW_OK, TW_EARG: a fixed mask changed within the window, or a weight is negative
    Status end_sample();

    /// Ends an inner window: its result is a sample of the outer operation.
    /// @return as end_sample
    Status end_inner(double weight);

    /// Computes the results of some elements, in a type of floating point or the samples' own.
    /// @param fill  of the type `type`, for elements without a valid result
    /// @return TW_OK, TW_ERANGE: results do not fit into the type, and are filled
    Status result(std::int64_t first, std::int64_t count, tw_type type, const Value& fill,
                  void* results) const;
    /// Tests if there was a sample since the last reset.
    bool empty() const;
    /// Begins the next window.
    void reset();

    std::vector<StateArray> arrays();
    StateNumbers numbers() const;
    void set_numbers(const StateNumbers& numbers);

private:
    std::unique_ptr<Sums> outer_, inner_;
};

}  // namespace thalweg::history
