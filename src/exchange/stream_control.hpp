// The words in shared memory by which the ranks of a node hand pieces to each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/wait.hpp"
#include "exchange/stream.hpp"

namespace thalweg::detail {

/// Of one lane. All zero when a pass begins; only its drainer sets it back.
struct Stream::Control {
    struct alignas(64) Slot {
        Word packed;  ///< ranks of the node that are done with the slot's piece
        Word used;    ///< bytes of an outgoing slot
    };
    alignas(64) Word ready;  ///< pieces before this one may be packed
    Slot slots[max_slots];
};

}  // namespace thalweg::detail
