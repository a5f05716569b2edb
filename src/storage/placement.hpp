// How the writers of a file get places for chunks whose lengths are known only when they are
// packed, and tell the keeper of them: all room comes from the keeper.
//
// The keeper takes room whenever it needs some. With a service, so do the writers of its node: the
// end of the file is a word in memory that they share. The chunks of the other writers wait in
// memory until their service, or the calls in which they meet, has asked the keeper for room and
// brings it. With a service, the order in which writers take room depends on time, and so do the
// places; what the file holds does not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::detail {

class Placement {
public:
    virtual ~Placement() = default;

    // On every writer, by whoever writes.
    /// Writes the chunks that have a place. @param moved  becomes true if there was something to do
    virtual Status settle(bool& moved) = 0;
    /// Chunks that were packed, and those of them that are in the file and that the keeper knows
    /// of, or will with the next take_placed().
    virtual std::int64_t packed() const = 0;
    virtual std::int64_t settled() const = 0;

    // Any thread, as are the others from here on.
    /// Tests if this writer takes room by itself; else what follows is done for it.
    virtual bool beside_keeper() const = 0;
    /// Returns the bytes that it needs in the file, each asked for once; 0: none.
    virtual std::int64_t room_wanted() = 0;
    /// Brings the room that was asked for. @param at  where it begins
    virtual void give_room(std::int64_t at) = 0;
    /// Takes what the keeper has to be told of what was written.
    virtual std::vector<char> take_placed() = 0;

    // On the keeper: reserves bytes of the file.
    virtual std::int64_t take_room(std::int64_t bytes) = 0;
    virtual Status add_placed(std::span<const char> placed) = 0;
};

/// Brings every writer the room that it wants. @param mine  null on ranks that do not write
/// @note Collective
void bring_room(Comm& comm, int keeper, Placement* mine);
/// Tells the keeper of what all have written. @return this rank's own status @note Collective
Status bring_placed(Comm& comm, int keeper, Placement* mine);

}  // namespace thalweg::detail
