// Counts the blocks of a file (stripes, for example) that several nodes write, and how often these
// change hands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "plan/shares/holders.hpp"
#include "plan/shares/mapped_layout.hpp"

namespace thalweg::planning {

/// The blocks of a file to which several nodes write.
struct SharedBlocks {
    double blocks = 0;
    double handovers = 0;  ///< number of times that such a block passes from one node to another
};

class Blocks {
public:
    /// @param block  size in bytes of a block: the range of the file that one node locks at a time
    Blocks(const Run& run, const Holders& holders, const RecordSpace& record, std::int64_t block)
        : run_(run), holders_(holders), record_(record), block_(block) {}

    /// Returns the number of blocks in the file.
    double number() const;
    /// Estimates the shared blocks of the whole file. The writers are those of a layout; if
    /// `mapped` is null, each rank writes the elements that it holds.
    SharedBlocks shared(const MappedLayout* mapped) const;
    /// Returns the number of the given blocks to which other nodes write, too.
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
