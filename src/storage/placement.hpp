// Where the places of data in a file are known only when they are packed, and its writers cannot
// wait for each other: how each gets places all the same, and tells the keeper of them.
//
// The end of the file is a word in memory that the keeper shares with the writers of its node: they
// take room there whenever they need it. The other writers have what they packed wait in memory:
// their service asks the keeper for room and brings it. The order in which writers take room
// depends on time, and so do the places; what the file holds does not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

class Placement {
public:
    virtual ~Placement() = default;

    // On every writer, by whoever writes.
    /// All of a unit was given to write, and everything of the records before `records`. At a
    /// `mark` records that were there already may have changed.
    virtual Status end_unit(std::int64_t records, bool mark) = 0;
    /// Goes on with what waits. @param moved  becomes true if there was something to do
    virtual Status settle(bool& moved) = 0;
    /// Chunks that were packed, and those of them that are in the file and that the keeper knows
    /// of, or will with the next take_placed().
    virtual std::int64_t packed() const = 0;
    virtual std::int64_t settled() const = 0;

    // Any thread, as are the others from here on.
    /// Whether this writer shares memory with the keeper; else what follows is done for it.
    virtual bool beside_keeper() const = 0;
    /// Bytes of the file that it needs, each asked for once; 0: none.
    virtual std::int64_t room_wanted() = 0;
    /// They begin there.
    virtual void give_room(std::int64_t at) = 0;
    /// What the keeper has to be told of what was written.
    virtual std::vector<char> take_placed() = 0;

    // On the keeper: reserves bytes of the file.
    virtual std::int64_t take_room(std::int64_t bytes) = 0;
    virtual Status add_placed(std::span<const char> placed) = 0;
};

}  // namespace thalweg::detail
