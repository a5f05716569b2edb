// A reserve of memory for work that a rank must not skip, because other ranks wait for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <utility>

namespace thalweg::detail {

/// Allocates the process's reserve of memory again if it was used. Does nothing if there is no
/// memory.
void keep_reserve() noexcept;

/// Frees the reserve of memory, so that it can be allocated for other uses.
void give_reserve() noexcept;

/**
 * Calls act() between two collective calls. If it runs out of memory, frees the reserve and calls
 * act() again.
 * @param act  function that needs little memory and can be repeated
 * @throw std::bad_alloc if the reserve was not enough
 */
template <class Do>
decltype(auto) with_reserve(Do&& act) {
    try {
        return act();
    } catch (const std::bad_alloc&) {
        give_reserve();
    }
    return act();
}

}  // namespace thalweg::detail
