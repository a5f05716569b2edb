// Memory of each rank's C++ code, counted in simulations, where all ranks share one process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::scale {

struct Heap {
    std::int64_t now = 0, most = 0;  ///< bytes
    int paused = 0;                  ///< pauses in force: allocations are not the library's
};

/// Returns the memory of this rank. Null where memory is not counted: everywhere but in
/// simulations.
extern "C" Heap* scale_heap() __attribute__((weak));

/// Attributes allocations to MPI or the simulation rather than the library, for a scope.
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
