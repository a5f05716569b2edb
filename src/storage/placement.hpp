// How several writers of one file get addresses for chunks whose lengths are known only when they
// are packed, and report these chunks to the header writer, which alone changes the index.
//
// There is one way for all services. The end of the file is a word in memory that the writers of
// the header writer's node share, so they allocate space whenever they need some, in any thread and
// without messages. The chunks of other writers wait in memory until their service brings space
// from the header writer: in the collective call that ends a step (inline), in the exchange of a
// step (background), or by a message (servers). This needs no rounds in which the writers wait for
// each other, leaves no gaps in the file, and works in threads that cannot call MPI. Addresses
// computed without the header writer would have to leave gaps, as one writer's chunks become
// smaller than another's. The memory that waiting chunks take is limited by the queue, with service
// inline by the writer's share of a step.
//
// The order in which writers allocate space depends on time, and so do the addresses; the contents
// of the file do not.
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

    /// Writes the chunks that have an address, or can get one at once.
    /// @param moved  becomes true if there was something to do
    virtual Status settle(bool& moved) = 0;
    /// packed() returns the number of packed chunks; settled() returns how many of them are in the
    /// file and known to the header writer, or will be after the next take_placed().
    virtual std::int64_t packed() const = 0;
    virtual std::int64_t settled() const = 0;

    // Any thread may call the following functions.

    /// Tests if this writer allocates space itself, through memory shared with the header writer.
    /// If not, room_wanted() and give_room() are called.
    virtual bool beside_header_writer() const = 0;
    /// Returns the bytes of space that this writer needs and has not requested before.
    virtual std::int64_t room_wanted() = 0;
    /// Provides the space that was requested.
    /// @param at  address of its first byte
    virtual void give_room(std::int64_t at) = 0;
    /// Returns an encoded list of written chunks that the header writer does not know yet.
    virtual std::vector<char> take_placed() = 0;

    // The following functions are for the header writer. take_room() reserves bytes of the file and
    // returns their address; add_placed() adds a list that take_placed() has returned.
    virtual std::int64_t take_room(std::int64_t bytes) = 0;
    virtual void add_placed(std::span<const char> placed) = 0;
};

/// Gives each writer the space that it needs, and sends the header writer the addresses of the
/// chunks that each writer has written.
/// @param mine  null on ranks that do not write
/// @note Collective
void bring_places(Comm& comm, int header_writer, Placement* mine);

/// Writes the packed chunks of all writers, and reports them to the header writer.
/// @param status  this rank's failure so far; a rank that has failed takes part
/// @return this rank's own status. If it is no failure on any rank, all chunks are written
/// @note Collective
Status place_chunks(Comm& comm, int header_writer, Placement& mine, Status status);

}  // namespace thalweg::detail
