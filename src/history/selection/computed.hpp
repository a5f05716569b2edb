// The computation of a field from other fields, once all of them have been sent in a step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "history/levels/interpolate.hpp"
#include "history/selection/field.hpp"

namespace thalweg::history {

/// The elements of a field in the present step, without halos and holes.
class StepValues {
public:
    explicit StepValues(const Part& part) : all_(choose(part, {})) {}
    /// Takes boxes.
    /// @param whole  these are all boxes, used only in this call: a dense array is not copied
    void take(std::span<const SentBox> boxes, std::int64_t size, bool whole);
    const char* data() const { return data_; }
    const Part& part() const { return all_.part; }
    std::int64_t elements() const { return all_.elements; }
    std::int64_t bytes() const { return std::ssize(copy_); }

private:
    Chosen all_;
    const char* data_ = nullptr;
    std::vector<char> copy_;
};

/// The computation of one field.
class Computed {
public:
    /// @param inputs  fields from which it is computed, as in Computation::inputs
    Computed(const Computation& how, std::vector<Field*> inputs, const Field& result)
        : how_(how),
          inputs_(std::move(inputs)),
          result_(result),
          places_(inputs_.size()),
          levels_(inputs_.size()) {}

    /// Finds the elements of the inputs that belong to each element of the result.
    /// @return TW_OK, TW_ESETTING: this rank does not hold them
    Status match();
    /// Begins a step that needs the field, and marks its inputs as wanted.
    void begin_step();
    /// Notes that an input has been sent. @param weight  weight that the model has sent, or null
    /// @return true if it was the last one
    bool note(const double* weight);
    /// Returns the number of inputs that have not been sent in this step.
    std::int64_t waiting() const { return waiting_; }
    /// Tests if its inputs were sent with different weights.
    bool differs() const { return differs_; }
    /// Computes the values. @param boxes  receives the boxes of the result
    /// @return TW_OK, TW_ERANGE: an integer has more digits than a double
    Status compute(std::vector<SentBox>& boxes);
    std::int64_t bytes() const { return std::ssize(values_) * 8; }

private:
    void load(int input, std::int64_t first, std::int64_t count, double* values, std::int64_t step);
    MissingMark missing_of(int input) const;
    void interpolate_box(int box, std::int64_t& columns, std::int64_t& result);
    double mark() const;  ///< Returns the value of missing results.

    const Computation& how_;
    std::vector<Field*> inputs_;
    const Field& result_;
    /// Position in each input of each element of the one that the result is like; empty: the same.
    std::vector<Integers> places_;
    Integers levels_;  ///< number of levels in a column of each input
    std::vector<double> values_;
    std::int64_t waiting_ = 0;
    std::optional<double> weight_;  ///< weight that the model has sent with the first input
    bool differs_ = false;          ///< another input came with another weight
    Status inexact_;                ///< an input has an integer that no double represents
};

}  // namespace thalweg::history
