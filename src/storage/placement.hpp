// Places in a file for chunks whose lengths are known only when they are packed. The keeper hands
// out all room, and the writers report to it the chunks that they have placed.
//
// The keeper takes room whenever it needs some. With a service, so do the writers of its node: the
// end of the file is a word in memory that they share. The chunks of the other writers wait in
// memory until their service, or a collective call of the writers, has got room from the keeper.
// With a service, the order in which writers take room depends on time, and so do the places; the
// contents of the file do not.
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

    // Functions for the thread that writes, on every writer:
    /// Writes the chunks that have a place. @param moved  becomes true if there was something to do
    virtual Status settle(bool& moved) = 0;
    /// Count the chunks that were packed, and those of them that are in the file and that the
    /// keeper knows, or will know after the next take_placed().
    virtual std::int64_t packed() const = 0;
    virtual std::int64_t settled() const = 0;

    // Functions for any thread:
    /// Tests if this writer takes room itself; else room_wanted() and give_room() are called.
    virtual bool beside_keeper() const = 0;
    /// Returns the bytes that it needs in the file; each byte is requested once.
    virtual std::int64_t room_wanted() = 0;
    /// Provides the room that was requested. @param at  its first byte
    virtual void give_room(std::int64_t at) = 0;
    /// Takes the list of written chunks that the keeper does not know yet.
    virtual std::vector<char> take_placed() = 0;

    // Functions for the keeper: reserve bytes of the file, and add a list of take_placed().
    virtual std::int64_t take_room(std::int64_t bytes) = 0;
    virtual Status add_placed(std::span<const char> placed) = 0;
};

/// Gives every writer the room that it needs. @param mine  null on ranks that do not write
/// @note Collective
void bring_room(Comm& comm, int keeper, Placement* mine);
/// Sends the keeper the places of the chunks that all have written. @return this rank's own status
/// @note Collective
Status bring_placed(Comm& comm, int keeper, Placement* mine);

}  // namespace thalweg::detail
