// One pass of a read over its space.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "exchange/read/covers.hpp"
#include "exchange/read/read_lane.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

/// The sources from which a pass reads.
struct ReadFrom {
    std::span<const PlaceSource> sources;  ///< one for each place
    Source& source;
    const ReadCache* read_cache;  ///< null: nothing was read ahead
};

/// Returns the ranges to read for a piece, each with its destination, from `to` on.
std::vector<ReadRange> ranges_of(const FileSection& space, Extent piece,
                                 std::span<const PlaceSource> sources, char* to);

class ScatterPass {
public:
    ScatterPass(Team& team, const FileSection& space, const Covers& covers, ReadLanes& lanes,
                const ReadFrom& from, StreamCounts& counts)
        : team_(team),
          space_(space),
          covers_(covers),
          lanes_(lanes),
          from_(from),
          counts_(counts),
          me_(team.topology().node_rank) {}

    /// Runs the pass. @note Collective
    Status run();

private:
    /// Tests if this rank reads a piece at the current position.
    bool has_own() const { return lanes_.own != nullptr && lanes_.own->piece.size() > 0; }
    void begin();
    bool advance();
    bool take_kept(Extent piece, std::int64_t k, bool wait);
    void read_own(std::int64_t k);
    void send_parts(std::int64_t k);
    void receive_parts(const ReadLane& lane, std::int64_t k);
    void finish_sends();
    void wait_taken(std::int64_t k);
    void take_pieces(std::int64_t k);
    void take(const ReadLane& lane, std::int64_t k);
    void wait_filled(const ReadLane& lane, std::int64_t k);
    void take_whole(const ReadLane& lane, std::int64_t k);
    void take_parts(const ReadLane& lane, std::int64_t k);

    Team& team_;
    const FileSection& space_;
    const Covers& covers_;
    ReadLanes& lanes_;
    ReadFrom from_;
    StreamCounts& counts_;
    int me_;                 ///< place of this rank in the node
    bool receives_ = false;  ///< this rank receives from other nodes, on behalf of its node
    Status status_;
    /// Number of this reader's pieces, from the first on, that were read ahead.
    std::int64_t kept_ = 0;
    std::optional<ReadAhead::Pause> pause_;  ///< set while this rank reads itself
};

}  // namespace thalweg::detail
