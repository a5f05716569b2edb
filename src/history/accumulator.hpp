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

/// The bits of a value of any type, in the first bytes of the array.
using Value = std::array<std::byte, 8>;

/// The properties of a variable that determine how its samples are combined.
struct Statistic {
    Op op = Op::mean;
    /// Operation of the inner windows, whose results are the samples of `op`.
    std::optional<Op> inner;
    tw_type type = TW_FLOAT;  ///< type of the samples
    /// Widest type of the results, for which extremes get memory.
    tw_type results = TW_FLOAT;
    Missing missing = Missing::none;
    Value missing_value{};  ///< bits of a missing element, in `type`; a NaN stands for every NaN
    /// Each sample comes with an array of weights, one for each element.
    bool weight_field = false;
    bool counts = false;   ///< samples have the weight 1, unless the model sends its own weights
    double min_valid = 0;  ///< least share of the weight that valid samples must have
    int ddof = 0;          ///< for std: the sum of squares is divided by n - ddof
};

/// Some elements of one sample.
struct Run {
    std::int64_t first = 0;  ///< index in the accumulator of the first element
    std::int64_t count = 0;
    const void* data = nullptr;
    std::int64_t stride = 1;  ///< distance in memory, in elements
    /// Weight of each element, dense; 0 or NaN: the element counts for nothing; null: no weight
    /// field.
    const double* weights = nullptr;
};

/// An array of the accumulator's state, which a restart keeps; it has one value for each element.
struct StateArray {
    std::string name;
    tw_type type = TW_DOUBLE;
    void* data = nullptr;
};

/// Numbers of the accumulator's state, which a restart keeps.
struct StateNumbers {
    double weight = 0, inner_weight = 0;  ///< sums of the weights of all samples in the window
    std::int64_t samples = 0, inner_samples = 0;
    /// Bit 1: the arrays hold weights of the valid samples instead of their numbers. Bit 2: the
    /// same for inner windows.
    std::int64_t weighs = 0;
};

class Sums;

/// The state of one variable's open window. For each sample call begin_sample(), add() for all
/// elements in any order, and end_sample(). Arithmetic is in double, except for minima, maxima and
/// sums of integers.
class Accumulator {
public:
    /// @throw std::bad_alloc
    Accumulator(const Statistic& statistic, std::int64_t elements);
    ~Accumulator();
    Accumulator(Accumulator&&) noexcept;
    Accumulator& operator=(Accumulator&&) noexcept;

    /// Returns the bytes that an accumulator of `elements` elements takes if all samples have the
    /// weight 1.
    static std::int64_t bytes(const Statistic& statistic, std::int64_t elements);

    /// Returns the bytes that the accumulator takes now: weights take more than numbers of samples.
    std::int64_t bytes() const;

    /// Begins a sample.
    /// @param weight  finite and >= 0; 0: the sample counts for nothing
    void begin_sample(double weight);
    void add(const Run& run);
    /// @return TW_OK, TW_EARG: a fixed mask changed within the window, or a weight is negative
    Status end_sample();

    /// Ends an inner window: its result is a sample of the outer operation.
    /// @return as end_sample
    Status end_inner(double weight);

    /// Computes the results in the memory of the state, which is lost. Call reset() afterwards.
    /// @param type     a floating-point type, no wider than Statistic::results, or the samples'
    /// type
    /// @param fill     value of type `type` for elements without a valid result
    /// @param results  receives the array of results
    /// @return TW_OK, TW_ERANGE: some results do not fit into the type, and get the fill value
    Status finish(tw_type type, const Value& fill, const void*& results);
    /// Begins the next window.
    void reset();

    std::vector<StateArray> arrays();
    StateNumbers numbers() const;
    /// Sets the numbers, before arrays() is called.
    void set_numbers(const StateNumbers& numbers);
    /// Replaces numbers of valid samples by weights in the arrays that the bits select (see
    /// StateNumbers::weighs).
    void weigh(std::int64_t bits);

private:
    std::unique_ptr<Sums> outer_, inner_;
};

}  // namespace thalweg::history
