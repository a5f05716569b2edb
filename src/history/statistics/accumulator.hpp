// The statistics of one field in one stream, element by element, in the order of time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "history/statistics/sums.hpp"

namespace thalweg::history {

/// Numbers of the accumulator's state, which a restart keeps.
struct StateNumbers {
    double weight = 0, inner_weight = 0;  ///< sums of the weights of all samples in the window
    std::int64_t samples = 0, inner_samples = 0;
    /// Bit 1: the arrays hold weights of the valid samples instead of their numbers. Bit 2: the
    /// same for inner windows.
    std::int64_t weighs = 0;
};

/// The state of one variable's open window. For each sample call begin_sample(), add() for all
/// elements in any order, and end_sample(). Arithmetic is in double, except for minima, maxima and
/// sums of integers.
class Accumulator {
public:
    /// @throw std::bad_alloc
    Accumulator(const Statistic& statistic, std::int64_t elements);

    /// Returns the bytes that an accumulator of `elements` elements takes if all samples have the
    /// weight 1.
    static std::int64_t bytes(const Statistic& statistic, std::int64_t elements);

    /// Returns the bytes that the accumulator takes now: weights take more than numbers of samples.
    std::int64_t bytes() const { return outer_.bytes() + (inner_ ? inner_->bytes() : 0); }

    /// Begins a sample.
    /// @param weight  finite and >= 0; 0: the sample counts for nothing
    void begin_sample(double weight) { taker().begin_sample(weight); }
    void add(const Run& run) { taker().add(run); }
    /// @return TW_OK, TW_EARG: a fixed mask changed within the window, or a weight is negative
    Status end_sample() { return taker().end_sample(); }

    /// Ends an inner window: its result is a sample of the outer operation.
    /// @return as end_sample
    Status end_inner(double weight);

    /// Computes the results in the memory of the state, which is lost. Call reset() afterwards.
    /// @param type     a floating-point type, no wider than Statistic::results, or the samples'
    /// type
    /// @param fill     value of type `type` for elements without a valid result
    /// @param results  receives the array of results
    /// @return TW_OK, TW_ERANGE: some results do not fit into the type, and get the fill value
    Status finish(tw_type type, const Value& fill, const void*& results) {
        return outer_.finish(type, fill, results);
    }
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
    /// Returns the operation that takes the model's samples.
    Sums& taker() { return inner_ ? *inner_ : outer_; }

    Sums outer_;
    std::optional<Sums> inner_;
};

}  // namespace thalweg::history
