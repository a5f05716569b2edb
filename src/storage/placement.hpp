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

    /// Writes the chunks that have an address.
    /// @param moved  becomes true if there was something to do
    virtual Status settle(bool& moved) = 0;
    /// packed() returns the number of packed chunks; settled() returns how many of them are in the
    /// file and known to the keeper, or will be after the next take_placed().
    virtual std::int64_t packed() const = 0;
    virtual std::int64_t settled() const = 0;

    // Any thread may call the following functions.

    /// Tests if this writer allocates space itself, through memory shared with the keeper. If not,
    /// room_wanted() and give_room() are called.
    virtual bool beside_keeper() const = 0;
    /// Returns the bytes of space that this writer needs and has not requested before.
    virtual std::int64_t room_wanted() = 0;
    /// Provides the space that was requested.
    /// @param at  address of its first byte
    virtual void give_room(std::int64_t at) = 0;
    /// Returns an encoded list of written chunks that the keeper does not know yet.
    virtual std::vector<char> take_placed() = 0;

    // The following functions are for the keeper. take_room() reserves bytes of the file and
    // returns their address; add_placed() adds a list that take_placed() has returned.
    virtual std::int64_t take_room(std::int64_t bytes) = 0;
    virtual Status add_placed(std::span<const char> placed) = 0;
};

/// Gives each writer the space that it needs.
/// @param mine  null on ranks that do not write
/// @note Collective
void bring_room(Comm& comm, int keeper, Placement* mine);
/// Sends the keeper the addresses of the chunks that each writer has written.
/// @return this rank's own status
/// @note Collective
Status bring_placed(Comm& comm, int keeper, Placement* mine);

}  // namespace thalweg::detail
