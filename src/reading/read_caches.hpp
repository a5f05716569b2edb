// Data that the readers of a node read ahead, in memory that the node's ranks share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "comm/segment.hpp"
#include "exchange/read/scatter.hpp"
#include "reading/read_context.hpp"

namespace thalweg::detail {

class ReadCaches {
public:
    explicit ReadCaches(ReadContext& file) : file_(file) {}

    /// Allocates the memory and, on readers, starts the thread that reads ahead. Does nothing if
    /// this was done, or if the format does not permit reading ahead.
    /// @note Collective
    Status make();
    /// Ends the thread that reads ahead.
    void end();
    /// Returns the data that were read ahead; null if there are none.
    const ReadCache* read_cache() const {
        return read_cache_.memory.empty() ? nullptr : &read_cache_;
    }

    /// Begins to read sources ahead, as far as memory permits.
    /// @param asked  the user has requested the data; otherwise they are a guess
    /// @param spare  the data may be dropped if others need their memory
    void expect(const std::vector<PlaceSource>& sources, const Scatter& scatter, bool asked,
                bool spare);
    /// Chooses the data to read ahead after a read.
    /// @param good  the next reads are likely to be similar
    void look_ahead(const std::vector<PlaceSource>& sources, const Scatter& scatter, bool good);

    /// Pauses reading ahead for the duration of a scope, in which this rank uses the source.
    ReadAhead::Pause pause() const { return ReadAhead::Pause(ahead_.get()); }
    /// Makes the thread read everything again, because the file was refreshed. Must be called
    /// during a pause.
    void read_again() {
        if (ahead_) ahead_->read_again();
    }
    /// Adds this rank's counts to the figures. Must be called during a pause.
    void add_to(ReadFigures& figures) const;

private:
    std::vector<PlaceSource> later(const std::vector<PlaceSource>& sources, int records) const;

    ReadContext& file_;
    std::vector<std::unique_ptr<Segment>> segments_;  ///< memory of each reader on this node
    ReadCache read_cache_;
    std::unique_ptr<ReadAhead> ahead_;  ///< null on ranks that are not readers
};

}  // namespace thalweg::detail
