// Memory that is kept for what a rank cannot leave out: others wait for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <utility>

namespace thalweg::detail {

/// Takes the process's reserve again, if it is gone and there is memory.
void keep_reserve() noexcept;

/// Gives it back to the system.
void give_reserve() noexcept;

/**
 * Does what a rank has to do between two meetings of the ranks. Where memory runs out it is done
 * once more, with what the reserve has given back.
 * @param act  takes little memory, and can be done again
 * @throw std::bad_alloc if that was not enough
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
