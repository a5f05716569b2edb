// A statistic of one variable, and the values of any type that it combines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "history/statistics/operation.hpp"
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

/// Number of elements that are converted together: they fit into the first-level cache.
inline constexpr std::int64_t converted_together = 1024;

template <class T>
struct Named {
    using type = T;
};

/// Calls act with the C++ type of a numeric type, as Named<T>.
template <class Act>
auto with_type(tw_type type, Act&& act) {
    switch (type) {
        case TW_BYTE: return act(Named<std::int8_t>{});
        case TW_SHORT: return act(Named<std::int16_t>{});
        case TW_INT: return act(Named<std::int32_t>{});
        case TW_FLOAT: return act(Named<float>{});
        case TW_UBYTE: return act(Named<std::uint8_t>{});
        case TW_USHORT: return act(Named<std::uint16_t>{});
        case TW_UINT: return act(Named<std::uint32_t>{});
        case TW_INT64: return act(Named<std::int64_t>{});
        case TW_UINT64: return act(Named<std::uint64_t>{});
        default: return act(Named<double>{});
    }
}

inline bool is_real(tw_type type) { return type == TW_FLOAT || type == TW_DOUBLE; }

/// Tests if an operation keeps values in the samples' type. An instant is computed as the maximum
/// of its only sample.
inline bool is_extreme(Op op) {
    return op == Op::min || op == Op::max || op == Op::range || op == Op::instant || op == Op::once;
}

template <class T>
T value_as(const Value& value) {
    T read;
    std::memcpy(&read, value.data(), sizeof read);
    return read;
}

/// Returns a value of a type as a number.
inline double number_of(tw_type type, const void* data) {
    return with_type(type, [&](auto named) {
        typename decltype(named)::type value;
        std::memcpy(&value, data, sizeof value);
        return static_cast<double>(value);
    });
}
inline double number_of(tw_type type, const Value& value) { return number_of(type, value.data()); }

/// Returns a number as a value of a type.
inline Value value_of(tw_type type, double number) {
    Value value{};
    with_type(type, [&](auto named) {
        const auto typed = static_cast<typename decltype(named)::type>(number);
        std::memcpy(value.data(), &typed, sizeof typed);
    });
    return value;
}

}  // namespace thalweg::history
