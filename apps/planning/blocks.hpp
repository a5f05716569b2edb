// Counts the blocks of a file (stripes, for example) that several nodes write, and how often these
// change hands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "planning/holders.hpp"
#include "planning/mapped_layout.hpp"

namespace thalweg::planning {

/// The blocks of a file that several nodes write.
struct SharedBlocks {
    double blocks = 0;
    double handovers = 0;  ///< number of times that each of them passes from node to node
};

class Blocks {
public:
    /// @param block  bytes of the file that one node can write at a time
    Blocks(const Run& run, const Holders& holders, const RecordSpace& record, std::int64_t block)
        : run_(run), holders_(holders), record_(record), block_(block) {}

    /// Returns the number of blocks in the file.
    double number() const;
    /// Counts the shared blocks of the whole file: those shared by a layout's writers or, if
    /// `mapped` is null, by ranks that write the elements they hold.
    SharedBlocks shared(const MappedLayout* mapped) const;
    /// Counts those among the given blocks that other nodes write as well.
    double shared(const std::set<std::int64_t>& blocks, const MappedLayout& mapped) const;
    /// Adds the blocks that a box of a place touches.
    void add(std::size_t place, const detail::Box& box, std::set<std::int64_t>& to) const;

private:
    struct Users;
    Users users_of(std::int64_t block, const MappedLayout* mapped) const;

    const Run& run_;
    const Holders& holders_;
    const RecordSpace& record_;
    std::int64_t block_;
};

}  // namespace thalweg::planning
