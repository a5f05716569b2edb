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

    // The following functions are for the thread that writes, on every writer.
    /// Writes the chunks that have a place.
    /// @param moved  becomes true if there was something to do
    virtual Status settle(bool& moved) = 0;
    /// Returns the number of chunks packed; settled() those of them that are in the file and known
    /// to the keeper, or will be after the next take_placed().
    virtual std::int64_t packed() const = 0;
    virtual std::int64_t settled() const = 0;

    // The following functions may be called by any thread.
    /// Tests if this writer takes room itself. If not, room_wanted() and give_room() are called.
    virtual bool beside_keeper() const = 0;
    /// Returns the bytes of room that this writer needs and has not requested before.
    virtual std::int64_t room_wanted() = 0;
    /// Provides the room that was requested. @param at  address of its first byte
    virtual void give_room(std::int64_t at) = 0;
    /// Takes an encoded list of written chunks that the keeper does not know yet.
    virtual std::vector<char> take_placed() = 0;

    // The following functions are for the keeper. They reserve bytes of the file, and add a list
    // returned by take_placed().
    virtual std::int64_t take_room(std::int64_t bytes) = 0;
    virtual Status add_placed(std::span<const char> placed) = 0;
};

/// Gives every writer the room that it needs. @param mine  null on ranks that do not write
/// @note Collective
void bring_room(Comm& comm, int keeper, Placement* mine);
/// Sends the keeper the places of the chunks that each writer has written.
/// @return this rank's own status
/// @note Collective
Status bring_placed(Comm& comm, int keeper, Placement* mine);

}  // namespace thalweg::detail
