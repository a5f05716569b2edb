// A statistic of one variable: its operation, and the values of any type that it combines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "index/types.hpp"

namespace thalweg::history {

using detail::failure;
using detail::Status;

enum class Op : std::uint8_t {
    instant,
    once,
    mean,
    min,
    max,
    range,  ///< max - min, as an inner operation
    sum,
    rms,
    mean_square,
    std,
    count,       ///< number of valid samples
    fraction,    ///< share of valid samples, by their weight
    difference,  ///< last sample minus the last one before the window
    rate         ///< difference per second
};

/// Tests if the result of an operation depends on which samples are valid, not on their values.
inline bool counts_valid(Op op) { return op == Op::count || op == Op::fraction; }

/// Treatment of missing values of a field.
enum class Missing : std::uint8_t {
    none,    ///< no value is missing
    fixed,   ///< the same elements are missing in all samples
    varying  ///< different elements can be missing in each sample
};

/// Tests if an operation combines the samples of windows.
inline bool is_statistic(Op op) { return op != Op::instant && op != Op::once; }

/// Tests if an operation needs only the samples at the ends of a window.
inline bool is_difference(Op op) { return op == Op::difference || op == Op::rate; }

std::string_view op_name(Op op);
std::optional<Op> op_of(std::string_view name);

/// Returns CF's cell methods for time, such as "time: mean" or "time: maximum within days time:
/// mean over days"; empty if there are none.
/// @param inner     operation of the inner windows, if there are any
/// @param unit      unit of the inner windows, such as "days"
/// @param note      remark such as "weighted by W", or empty
/// @param interval  distance of the samples, such as "1800 s", or empty; not for inner windows
std::string cell_methods(std::string_view time, Op op, std::optional<Op> inner,
                         std::string_view unit, std::string_view note, std::string_view interval);

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
    bool counts = false;    ///< samples have the weight 1, unless the model sends its own weights
    double min_valid = 0;   ///< least share of the weight that valid samples must have
    std::int64_t ddof = 0;  ///< for std: the sum of squares is divided by n - ddof
};

struct Run {
    std::int64_t first = 0;  ///< index in the accumulator of the first element
    std::int64_t count = 0;
    const void* data = nullptr;
    std::int64_t stride = 1;  ///< distance in memory, in elements
    /// Weight of each element, dense; 0 or NaN: it counts for nothing; null: no weight field.
    const double* weights = nullptr;
};

/// An array of the accumulator's state, which a restart keeps; it has one value for each element.
struct StateArray {
    std::string name;
    tw_type type = TW_DOUBLE;
    void* data = nullptr;
};

/// Number of elements that are converted together: they fit into the first-level cache.
inline constexpr std::int64_t converted_together = 1024;

inline bool is_real(tw_type type) { return type == TW_FLOAT || type == TW_DOUBLE; }

/// Tests if an operation keeps values in the samples' type. An instant is a maximum of one sample.
inline bool is_extreme(Op op) {
    return op == Op::min || op == Op::max || op == Op::range || op == Op::instant || op == Op::once;
}

template <class T>
T value_as(const Value& value) {
    T read;
    std::memcpy(&read, value.data(), sizeof read);
    return read;
}

inline double number_of(tw_type type, const void* data) {
    return detail::with_number(type, [&](auto value) {
        std::memcpy(&value, data, sizeof value);
        return static_cast<double>(value);
    });
}
inline double number_of(tw_type type, const Value& value) { return number_of(type, value.data()); }

inline Value value_of(tw_type type, double number) {
    Value value{};
    detail::with_number(type, [&](auto zero) {
        const auto typed = static_cast<decltype(zero)>(number);
        std::memcpy(value.data(), &typed, sizeof typed);
    });
    return value;
}

}  // namespace thalweg::history
