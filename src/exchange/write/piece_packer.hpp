// Packs a rank's parts of the pieces of one pass over a space: into a slot, in file order; or into
// a message for another node, one part after another.
//
// A message to another node has a section for each rank that has elements of the piece: the rank's
// place in the node, the bytes of the section, and the rank's parts in the order of places_in and
// for_frames.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "comm/topology.hpp"
#include "exchange/pack/packers.hpp"
#include "exchange/part.hpp"
#include "exchange/pieces.hpp"
#include "exchange/write/views.hpp"

namespace thalweg::detail {

/// The arguments of a pass that writes a space; see Stream::run.
struct SectionPass {
    const FileSection& space;
    std::int64_t base;
    std::int64_t record;
    std::span<const Action> actions;
    std::span<const Part* const> parts;
    std::span<std::int64_t> misfits;
};

class PiecePacker {
public:
    PiecePacker(const Views& views, Packers& packers, const SectionPass& pass)
        : views_(views), packers_(packers), pass_(pass) {}

    const SectionPass& pass() const { return pass_; }
    /// Returns the record; -1 if the space is that of the fixed-size variables.
    std::int64_t record() const;
    /// Returns the number of bytes that this rank has of a piece.
    std::int64_t bytes_in(const Share& share, Extent piece) const;
    /// Estimates bytes_in() without looking at each run of a list; 0 only if this rank has none of
    /// the piece.
    std::int64_t bytes_near(const Share& share, Extent piece) const;
    /// Tests if some piece of a share has fill values. The result is the same on every rank.
    bool fills_any(const Share& share) const;
    /// Writes fill values to the elements of a piece for which there are no data.
    void prefill(const Share& share, Extent piece, char* slot) const;
    void pack(const Share& share, Extent piece, char* slot) const;

    /// Returns the size in a message of a section whose elements take `bytes` bytes.
    static std::int64_t section_bytes(std::int64_t bytes);
    /// Returns the most bytes by which a message can be larger than its piece.
    static std::int64_t most_excess(std::int64_t ranks) { return 64 + 32 * ranks; }
    void pack_section(const Share& share, Extent piece, int node_rank, std::int64_t bytes,
                      char* to) const;
    /// Returns the other nodes that hold parts of a piece.
    std::set<int> nodes_with(const Share& share, Extent piece, const Topology& topology) const;
    void unpack(const Share& share, Extent piece, std::span<const char> message, int node,
                const Topology& topology, char* slot) const;

private:
    std::vector<PlaceInPiece> own_places(const Share& share, Extent piece) const;
    template <class Target>
    void pack_place(const Share& share, const PlaceInPiece& in, const Target& target) const;
    bool is_covered(std::size_t place) const;
    void unpack_rank(const Share& share, Extent piece, const char* from, int rank,
                     char* slot) const;

    const Views& views_;
    Packers& packers_;
    const SectionPass& pass_;
};

}  // namespace thalweg::detail
