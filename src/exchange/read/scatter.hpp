// The engine run backwards: streams data read from a file, in pieces, to the ranks that want them.
//
// Every reader's share is a stream of pieces; a few slots of node-shared memory per stream hold the
// pieces on their way. The reader reads a piece into its slot, and all ranks of its node take their
// elements from there. Another node gets one message with the elements of the piece that its ranks
// want, each once. The message is received into a slot of that node, from which its ranks take
// their elements.
//
// Pieces that were read ahead, from the beginning of the stream on, are taken from memory of their
// reader that its node shares.
//
// Buffers: file -> slot (shared, file order and byte order) -> [model array]
//      or: file -> slot -> message -> slot of the other node -> [model array]
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "exchange/read/covers.hpp"
#include "exchange/read/read_lane.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

class Scatter {
public:
    /**
     * Plans a read; it can be run again for other records and variables of the same shapes.
     * @param space    the places one after another; the layout cuts it among the readers
     * @param wanted   for each place, all elements of it that this rank will take in any run
     * @param readers  world rank of each reader
     * @param arena    memory of the node, `options.budget` bytes or more
     * @note Collective
     */
    static std::unique_ptr<Scatter> make(Team& team, Memory& arena, FileSection&& space,
                                         std::vector<std::vector<WantedBox>>&& wanted,
                                         const std::vector<int>& readers,
                                         const StreamOptions& options, Status& status);

    /// Prepares a pass. Between this call and the pass, all ranks must have waited for each other,
    /// by an agreement or otherwise, because ranks leave a pass while others are still in it.
    static void prepare(Team& team, Memory& arena);

    /**
     * Reads all places.
     * @param sources  one for each place
     * @param read_cache    null: nothing was read ahead
     * @return this rank's own failure; the caller lets the ranks agree
     * @note Collective
     */
    Status run(std::span<const PlaceSource> sources, std::span<Delivery> deliveries, Source& source,
               const ReadCache* read_cache);

    /// Adds this reader's pieces of a pass, from number `first` on, to the pieces that are read
    /// ahead, as long as memory is free. The sources must outlive the reading.
    void read_ahead(std::span<const PlaceSource> sources, std::int64_t first,
                    ReadAhead& ahead) const;

    const StreamCounts& counts() const { return counts_; }

private:
    Scatter(Team& team, FileSection&& space) : team_(team), space_(std::move(space)) {}
    void add_lanes(const std::vector<int>& readers, const std::set<int>& met);
    Status place_lanes(const Layout& layout, Memory& arena, const StreamOptions& options);

    Team& team_;
    FileSection space_;
    Covers covers_{space_};
    ReadLanes lanes_;
    StreamCounts counts_;
};

}  // namespace thalweg::detail
