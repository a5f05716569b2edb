// Threads of the library's own. They make no MPI calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

#include "comm/status.hpp"

namespace thalweg::detail {

/// Starts a thread that leaves signals to the model, but for those that it raises itself.
/// @param task  for the message where there can be none: "reads ahead"
Status start_thread(std::thread& thread, std::function<void()> run, const char* task);

}  // namespace thalweg::detail
