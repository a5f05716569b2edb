// What the writers of the keeper's node share where they do not wait for each other: the end of the
// file, and what each tells the keeper of the chunks that it has written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/segment.hpp"
#include "storage/netcdf4/index.hpp"

namespace thalweg::detail {

class PlaceBoard {
public:
    /// On the keeper. @param writers  those beside it, without itself. @param end  of the file
    static std::unique_ptr<PlaceBoard> make(int writers, std::int64_t end, Status& status);
    /// On the n-th of the others, from 0.
    static std::unique_ptr<PlaceBoard> map(const SegmentName& name, int n, Status& status);

    const SegmentName& name() const { return memory_->name(); }

    /// Room at the end of the file. @param bytes  a multiple of 8
    std::int64_t take_room(std::int64_t bytes);
    std::int64_t end() const;

    /// Tells the keeper of some chunks, the first of them, if it has taken notice of those before.
    /// @return how many
    std::size_t tell(std::span<const PlacedChunk> chunks);
    /// On the keeper: adds what it was told. @return whether there was something
    bool hear(std::vector<PlacedChunk>& chunks);

private:
    struct Head;
    struct Slot;
    explicit PlaceBoard(std::unique_ptr<Segment> memory, int own)
        : memory_(std::move(memory)), own_(own) {}
    Head& head() const;
    Slot& slot(int n) const;

    std::unique_ptr<Segment> memory_;
    int own_;  ///< slot; -1 on the keeper
};

}  // namespace thalweg::detail
