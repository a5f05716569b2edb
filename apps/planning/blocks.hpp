// Blocks of the file, such as stripes: which ones several nodes write, and how often these change
// hands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "planning/holders.hpp"
#include "planning/laid.hpp"

namespace thalweg::planning {

/// Blocks of the file that several nodes write.
struct SharedBlocks {
    double blocks = 0;
    double handovers = 0;  ///< of each of them, from node to node
};

class Blocks {
public:
    /// @param block  bytes of the file that one node can write at a time
    Blocks(const Run& run, const Holders& holders, const RecordSpace& record, std::int64_t block)
        : run_(run), holders_(holders), record_(record), block_(block) {}

    /// Of the file.
    double number() const;
    /// Of the whole file: by the writers of a layout or, with `laid` null, by ranks that write what
    /// they hold.
    SharedBlocks shared(const Laid* laid) const;
    /// How many of some blocks other nodes write, too.
    double shared(const std::set<std::int64_t>& blocks, const Laid& laid) const;
    /// Adds the blocks in which a box of a place lies.
    void add(std::size_t place, const detail::Box& box, std::set<std::int64_t>& to) const;

private:
    struct Users;
    Users users_of(std::int64_t block, const Laid* laid) const;

    const Run& run_;
    const Holders& holders_;
    const RecordSpace& record_;
    std::int64_t block_;
};

}  // namespace thalweg::planning
