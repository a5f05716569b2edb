// Memory that the writers of the header writer's node share: the end of the file, and a slot for
// each writer, in which it tells the header writer which chunks it has written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "comm/segment.hpp"
#include "storage/netcdf4/index/index.hpp"

namespace thalweg::detail {

class SharedPlacement {
public:
    /// Makes the memory on the header writer.
    /// @param writers  number of other writers that share it
    /// @param end      end of the file
    static std::unique_ptr<SharedPlacement> make(int writers, std::int64_t end, Status& status);
    /// Maps the memory on the n-th of the other writers, from 0.
    static std::unique_ptr<SharedPlacement> map(const SegmentName& name, int n, Status& status);

    const SegmentName& name() const { return memory_->name(); }

    std::atomic<std::int64_t>& end() const;

    /// Passes as many of these chunks to the header writer as its memory holds; none if the header
    /// writer has not yet taken those passed before.
    /// @return number of chunks passed
    std::size_t tell(std::span<const PlacedChunk> chunks);
    /// Appends the chunks that other writers have passed to the header writer.
    /// @return true if there were any
    bool hear(std::vector<PlacedChunk>& chunks);

private:
    struct Head;
    struct Slot;
    explicit SharedPlacement(std::unique_ptr<Segment> memory, int own)
        : memory_(std::move(memory)), own_(own) {}
    Head& head() const;
    Slot& slot(int n) const;

    std::unique_ptr<Segment> memory_;
    int own_;  ///< this writer's slot; -1 on the header writer
};

}  // namespace thalweg::detail
