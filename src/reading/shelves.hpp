// What the readers of a node read before it is asked for, in memory that the node's ranks share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "comm/segment.hpp"
#include "exchange/scatter.hpp"
#include "reading/read_context.hpp"

namespace thalweg::detail {

class Shelves {
public:
    explicit Shelves(ReadContext& file) : file_(file) {}

    /// Memory, and a thread on readers; nothing if they are there, or the format cannot.
    /// @note Collective
    Status make();
    /// Joins the thread.
    void end();
    /// Null: nothing is read ahead.
    const Shelf* shelf() const { return shelf_.memory.empty() ? nullptr : &shelf_; }

    /// Has it read ahead, as far as there is room and memory.
    /// @param asked  by the user; else a guess
    /// @param spare  whether it gives way where there is no room for others
    void expect(const std::vector<PlaceSource>& sources, const Scatter& scatter, bool asked,
                bool spare);
    /// After a read. @param good  it is likely to go on like this
    void look_ahead(const std::vector<PlaceSource>& sources, const Scatter& scatter, bool good);

    /// For a scope in which this rank uses the source.
    ReadAhead::Pause pause() const { return ReadAhead::Pause(ahead_.get()); }
    /// After a refresh, within a pause.
    void read_again() {
        if (ahead_) ahead_->read_again();
    }
    /// Within a pause.
    void add_to(ReadFigures& figures) const;

private:
    std::vector<PlaceSource> later(const std::vector<PlaceSource>& sources, int records) const;

    ReadContext& file_;
    std::vector<std::unique_ptr<Segment>> segments_;  ///< of the node's readers
    Shelf shelf_;
    std::unique_ptr<ReadAhead> ahead_;  ///< on readers
};

}  // namespace thalweg::detail
