// Memory of each rank's C++ code, counted in simulations, where all ranks share one process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::scale {

struct Heap {
    std::int64_t now = 0, most = 0;  ///< bytes
    int paused = 0;  ///< number of HeapPause objects that exist; if it is not 0, allocations are
                     ///< not counted
};

/// Returns the memory counts of this rank; null if memory is not counted. Only simulations count
/// it.
extern "C" Heap* scale_heap() __attribute__((weak));

/// For the duration of a scope, does not count allocations, because they are those of MPI or the
/// simulation.
class HeapPause {
public:
    HeapPause() : heap_(scale_heap == nullptr ? nullptr : scale_heap()) {
        if (heap_ != nullptr) ++heap_->paused;
    }
    ~HeapPause() {
        if (heap_ != nullptr) --heap_->paused;
    }
    HeapPause(const HeapPause&) = delete;
    HeapPause& operator=(const HeapPause&) = delete;

private:
    Heap* heap_;
};

}  // namespace thalweg::scale
