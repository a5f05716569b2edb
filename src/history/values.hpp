// Values of any type, as input and results of sums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "history/accumulator.hpp"

namespace thalweg::history {

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

}  // namespace thalweg::history
