// Work that a simulation has to be told of, as its clock does not see it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace thalweg::detail {

/// A rank has looked for messages, and found none for the n-th time in a row.
#ifdef THALWEG_SIMULATED
void charge_poll(int n);
#else
inline void charge_poll(int) {}
#endif

/// A box of elements is copied between arrays, messages or buffers.
/// @param count  of each dimension
#ifdef THALWEG_SIMULATED
void charge_copy(std::span<const std::int64_t> count);
#else
inline void charge_copy(std::span<const std::int64_t>) {}
#endif

}  // namespace thalweg::detail
