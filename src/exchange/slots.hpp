// Slots of memory that the ranks of a node share, through which the pieces of streams go. Cuts the
// memory into slots, and waits for other ranks' pieces.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "comm/team.hpp"

namespace thalweg::detail {

struct StreamOptions {
    std::int64_t budget = 0;  ///< bytes of shared memory on this node
    std::int64_t piece = 0;   ///< bytes, 0: default
    bool fill_only = false;   ///< no rank will give arrays
};

struct StreamCounts {
    double pack = 0;  ///< seconds in copying to or from slots
    double move = 0;  ///< seconds in messages between nodes and in unpacking them
    double wait = 0;  ///< seconds asleep until others had packed, written, read or taken
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
};

/// The slots of one stream, for its latest pieces.
struct Slots {
    char* memory = nullptr;
    std::int64_t count = 1;
    std::int64_t capacity = 0;  ///< bytes of each
    std::int64_t piece = 0;     ///< bytes after which the streams are cut

    char* at(std::int64_t k) const { return memory + k % count * capacity; }
};

/// The needs of the streams of one direction.
struct SlotNeeds {
    std::int64_t controls = 0;  ///< bytes before the slots
    std::int64_t piece = 0;     ///< bytes of a piece, if nothing else is asked for
    std::int64_t smallest = 0;  ///< bytes of the smallest piece
    std::int64_t unit = 1;      ///< divides the bytes of a piece as large as the memory allows
    std::int64_t margin = 0;    ///< bytes of a slot beyond a piece
    std::int64_t count = 1;     ///< slots of a stream; fewer if there is little memory
    bool alike = false;         ///< all nodes must have as many
};

/**
 * Cuts the node's memory into slots for so many streams.
 * @param mine     this rank's own failure so far
 * @param prepare  takes memory for pieces of at most so many bytes; if it fails, all ranks fail.
 *                 Given by std::ref, which takes no memory
 * @param slots    receives those of the first stream; the others' follow, all of one stream
 *                 together
 * @return the same on every rank
 * @note Collective
 */
Status cut_memory(Team& team, const Memory& arena, const StreamOptions& options,
                  const SlotNeeds& needs, std::int64_t streams, Status mine,
                  const std::function<void(std::int64_t)>& prepare, Slots& slots);

/// Sleeps until the word counts beyond k.
void wait_beyond(Word& word, std::int64_t k, const char* what, double& seconds, Comm& comm);

}  // namespace thalweg::detail
