// Slots of memory that the ranks of a node share, through which the pieces of streams go. Cuts the
// memory into slots, and waits for other ranks' pieces.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "comm/team.hpp"

namespace thalweg::detail {

struct StreamOptions {
    std::int64_t budget = 0;  ///< bytes of shared memory on this node
    std::int64_t piece = 0;   ///< bytes of a piece; 0: the default
    bool fill_only = false;   ///< all arrays are null, so there are only fill values to write
};

struct StreamCounts {
    double pack = 0;  ///< seconds in copying to or from slots
    double move = 0;  ///< seconds in messages between nodes and in unpacking them
    double wait = 0;  ///< seconds asleep while other ranks packed, wrote, read or took elements
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
};

/// The slots of one stream, which hold its latest pieces.
struct Slots {
    char* memory = nullptr;
    std::int64_t count = 1;
    std::int64_t capacity = 0;  ///< bytes of each slot
    std::int64_t piece = 0;     ///< bytes of the pieces into which the stream is cut

    char* at(std::int64_t k) const { return memory + k % count * capacity; }
};

/// The needs of the streams of one direction (writing or reading).
struct SlotNeeds {
    std::int64_t controls = 0;  ///< bytes of control words, before the slots
    std::int64_t piece = 0;     ///< bytes of a piece, unless the options set them
    std::int64_t smallest = 0;  ///< bytes of the smallest piece
    std::int64_t unit = 1;      ///< if memory limits the piece, its bytes are a multiple of this
    std::int64_t margin = 0;    ///< bytes that a slot has in addition to a piece
    std::int64_t count = 1;     ///< slots of a stream; there are fewer if memory is short
    bool alike = false;         ///< all nodes must have the same number of slots
};

/**
 * Divides the node's memory into slots for a number of streams.
 * @param mine     this rank's own failure so far
 * @param prepare  allocates for pieces up to the given size; if it fails, all ranks fail. Pass it
 *                 by std::ref, to avoid an allocation
 * @param slots    receives the slots of the first stream; the others' follow, stream after stream
 * @return the same on every rank
 * @note Collective
 */
Status cut_memory(Team& team, const Memory& arena, const StreamOptions& options,
                  const SlotNeeds& needs, std::int64_t streams, Status mine,
                  const std::function<void(std::int64_t)>& prepare, Slots& slots);

/// Sleeps until the count in a word is larger than k.
void wait_beyond(Futex& word, std::int64_t k, const char* what, double& seconds, Team& team);

}  // namespace thalweg::detail
