// The operations of streams and fields, and their names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace thalweg::history {

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

}  // namespace thalweg::history
