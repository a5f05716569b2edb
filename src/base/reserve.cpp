// SPDX-License-Identifier: Apache-2.0
#include "base/reserve.hpp"

#include <atomic>

namespace thalweg::detail {

namespace {

/// Size of the reserve in bytes. It is more than a rank allocates between two collective calls, not
/// counting large buffers.
constexpr std::size_t reserve_bytes = 256 << 10;

std::atomic<char*> reserve{nullptr};

}  // namespace

void keep_reserve() noexcept {
    if (reserve.load(std::memory_order_relaxed) != nullptr) return;
    char* const made = new (std::nothrow) char[reserve_bytes];
    char* none = nullptr;
    if (!reserve.compare_exchange_strong(none, made)) delete[] made;
}

void give_reserve() noexcept { delete[] reserve.exchange(nullptr); }

}  // namespace thalweg::detail
