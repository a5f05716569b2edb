// Threads of the library are not simulated: in place of src/comm/thread.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "comm/thread.hpp"

namespace thalweg::detail {

Status start_thread(std::thread&, std::function<void()>, const char* task) {
    return failure(TW_EUNSUPPORTED, "a simulation has no threads: none {}", task);
}

}  // namespace thalweg::detail
