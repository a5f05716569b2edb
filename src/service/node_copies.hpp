// Memory for copies of what was put. The ranks of a node share it, so that writers take the values
// of all ranks from where they lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exchange/progress.hpp"
#include "service/batch.hpp"

namespace thalweg::detail {

/// The units of a file whose writers read values from where they lie, after the call that put them.
class ReferringUnits {
public:
    virtual ~ReferringUnits() = default;
    /// Tests if a unit that refers to values is not published yet.
    virtual bool refers() const = 0;
    /// Returns the number of units that were published, and of those that were written.
    virtual std::int64_t published() const = 0;
    virtual std::int64_t written() const = 0;
};

/// Memory from which blocks are taken one after another. They do not move, and are all returned
/// together. What units refer to becomes free once these are written: until then, blocks are taken
/// behind it, and then from the start again. Units never refer to blocks outside the memory.
class StagingMemory {
public:
    /// Sets the part of a memory from which blocks are taken while there is room.
    void use(Memory* memory, std::size_t begin, std::size_t end) {
        memory_ = memory;
        begin_ = at_ = first_ = touched_ = begin;
        end_ = end;
    }
    /// Sets the units that may refer to blocks; null: none does any more.
    void serve(const ReferringUnits* units) {
        given_back_.clear();
        if (units != nullptr) given_back_.reserve(most_given_back);
        units_ = units;
    }
    bool serves() const { return units_ != nullptr; }
    std::int64_t size() const { return end_ - begin_; }
    /// Takes a block. @return null if there is no memory for it
    char* take(std::int64_t bytes, std::size_t alignment = 64);
    /// Returns the block that was taken last. If there are units, one in the memory stays until
    /// give_back(), as they may refer to it.
    void undo(const char* block);
    void give_back();
    /// Returns the bytes allocated from the system.
    std::int64_t bytes() const { return touched_ - begin_ + more_bytes_; }

private:
    /// Blocks that were given back while units referred to them.
    struct Blocks {
        std::size_t first;   ///< position of the first block
        std::int64_t units;  ///< number of units that have to be written
    };
    static constexpr std::size_t most_given_back = 16;
    bool find_room(std::size_t size, std::size_t alignment);
    void free_written();

    Memory* memory_ = nullptr;
    const ReferringUnits* units_ = nullptr;
    std::size_t begin_ = 0, end_ = 0, at_ = 0;
    std::size_t first_ = 0;  ///< position of the first block since the last give_back()
    std::size_t taken_ = 0, most_taken_ = 0;  ///< bytes since the last give_back(); most so far
    std::vector<Blocks> given_back_;          ///< in order
    std::size_t touched_ = 0;                 ///< end of the bytes that are allocated
    struct Outside {
        std::unique_ptr<char[]> block;
        std::int64_t bytes;
    };
    std::vector<Outside> more_;  ///< blocks for which `memory_` has no room
    std::int64_t more_bytes_ = 0;
};

class NodeCopies {
public:
    /// Gets the memory, if possible that of an earlier file: to touch pages costs more than to copy
    /// into them. Where there is none, each copy gets memory of its own.
    /// @param step_bytes, part_bytes  most bytes of a step's and of other copies on any rank
    /// @note Collective over the node
    void begin(Team& team, SessionResources& session, std::int64_t step_bytes,
               std::int64_t part_bytes);
    /// Keeps the memory for the next file, if it is not too much. Local.
    static void keep(std::shared_ptr<NodeCopies> copies, SessionResources& session);
    /// Lists this rank's copies, for the writers of its node.
    /// @return false if values of some part are not in memory of the node
    bool list(const Batch& batch);
    /// Returns the values that a rank of the node, given by its place, has listed; null if it has
    /// none.
    const char* find(int place, const VariableRecord& of) const;
    /// Returns the memory that the ranks of the node share; null if there is none.
    Memory* memory() const { return memory_.get(); }

    /// Memory for copies of tw_put, kept between steps, or for values that an interface packs.
    StagingMemory step;
    StagingMemory parts;  ///< memory for copies of other parts, until they are written

private:
    struct Table;
    Table& table(int place) const;

    std::unique_ptr<Memory> memory_;
    int serial_ = 0;        ///< number of the memory in its session; 0: none
    int place_ = 0;         ///< place of this rank in the memory
    std::size_t size_ = 0;  ///< bytes of each rank
};

}  // namespace thalweg::detail
