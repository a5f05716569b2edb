// A reduction of the elements of a variable to one value for each group.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "history/configuration/table.hpp"
#include "history/reductions/exact_sum.hpp"
#include "history/selection/part.hpp"
#include "history/selection/ranks.hpp"
#include "history/statistics/statistic.hpp"

namespace thalweg::history {

/// The elements of a variable in groups. Each group gives one value.
struct Grouping {
    const Taken* results = nullptr;  ///< the groups, as elements of the reduced variable
    /// A group has elements on several ranks: all get all groups. Otherwise each gets its own.
    bool joins_ranks = false;
    std::string region_dim;       ///< dimension of regions; empty: there is none
    Integers begin;               ///< first element of each group in `order`, and their number
    Integers order;               ///< elements, group after group; empty: they are in this order
    std::vector<double> weights;  ///< weights of the elements in this order; empty: all are 1
    std::int64_t groups() const { return std::ssize(begin) - 1; }
};

/// Returns the dimensions of a reduced variable.
/// @param region_dim  dimension of regions; may be empty
Names reduced_dims(const Names& dims, const Names& reduced, const std::string& region_dim);

/// The values of elements before a reduction.
struct Reducible {
    /// Values; or their weighted sums if there are weights. kernels::missing_mark: no value.
    const double* values = nullptr;
    const double* weights = nullptr;  ///< weights of the values, 0: no value; may be null
    double least = 0;                 ///< least weight of a value that counts
    double divisor = 1;               ///< number by which a sum is divided
};

/// The elements of a group that a rank holds, combined.
struct GroupSum {
    std::int64_t count = 0;  ///< number of values
    ExactSum sum, weight;
    double extreme = -std::numeric_limits<double>::infinity();  ///< maximum, or negated minimum
};

struct Reduction {
    ReduceOp op;
    std::shared_ptr<const Grouping> grouping;
    /// It is a mean, and the values or the grouping have weights; the same on every rank, also on a
    /// rank that holds no elements.
    bool weighted;

    const Taken& results() const { return *grouping->results; }
    bool joins_ranks() const { return grouping->joins_ranks; }
    bool extreme() const { return op == ReduceOp::min || op == ReduceOp::max; }
    /// Combines the elements of a group that this rank holds.
    GroupSum reduce(const Reducible& from, std::int64_t group) const;
    /// Returns the value of a group; kernels::missing_mark if it has none.
    /// @param divisor  see Reducible
    double value(std::int64_t count, double sum, double weight, double extreme,
                 double divisor) const;
};

/// The values of a variable at a record, which the ranks compute together.
class RecordValues {
public:
    virtual ~RecordValues() = default;
    /// Converts the values to float or double. @param fill  value of those that are missing
    /// @return TW_OK, TW_ERANGE
    Status convert(tw_type type, const Value& fill);
    const char* converted() const { return converted_.data(); }

protected:
    std::vector<double> values_;  ///< kernels::missing_mark: no value

private:
    std::vector<char> converted_;
};

/// The values of all groups of a variable. If ranks join, they are known after combine().
class Reduced final : public RecordValues {
public:
    /// Reduces the elements that this rank holds.
    Reduced(const Reduction& reduction, const Reducible& from);

    /// Appends words that the ranks combine by bitwise or. Then takes the combined ones.
    void give_bins(std::vector<std::int64_t>& any) const;
    void take_bins(std::span<const std::int64_t>& any);

    friend Status combine(Ranks& ranks, std::span<Reduced* const> all);

private:
    void give_words(std::vector<std::int64_t>& most, std::vector<std::int64_t>& sums) const;
    void take_words(std::span<const std::int64_t>& most, std::span<const std::int64_t>& sums);

    const Reduction& reduction_;
    std::vector<GroupSum> groups_;    ///< empty: nothing is to be combined
    double divisor_ = 0;              ///< 0: this rank holds no elements
    std::vector<std::int64_t> bins_;  ///< bins of all ranks, for the sum and weight of each group
};

/// Combines reductions over all ranks, after their bins. @note Collective
Status combine(Ranks& ranks, std::span<Reduced* const> all);

}  // namespace thalweg::history
