// The words in shared memory by which the ranks of a node tell each other how far they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/wait.hpp"
#include "exchange/scatter.hpp"

namespace thalweg::detail {

/// Of one rank; only it changes them. All zero when a pass begins.
struct Scatter::Control {
    alignas(64) Word read;      ///< positions up to which it has read its own stream
    Word kept;                  ///< positions up to which the stream was read ahead
    alignas(64) Word received;  ///< positions up to which it has what other nodes send it
    alignas(64) Word taken;     ///< positions up to which it has taken what it wants
};

}  // namespace thalweg::detail
