// Writes a writer's share of packed boxes into the file, piece by piece.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "exchange/pieces.hpp"
#include "service/queue/unit_part.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

/// A callback that writers call between two pieces.
class BetweenPieces {
public:
    virtual ~BetweenPieces() = default;
    virtual void between_pieces() {}
};

class ShareWriter {
public:
    /// @param pause  called between pieces; may be null
    ShareWriter(const Definitions& definitions, const Spaces& spaces, const Layout& layout,
                int writer, Storage& storage, std::int64_t piece, BetweenPieces* pause);

    /// The part of the work that concerns one place of a space.
    struct Work {
        std::size_t place = 0;
        std::vector<ElementRange> ranges;                    ///< elements to write, ascending
        std::span<const UnitPart::Entry* const> boxes = {};  ///< data, in the order of the puts
        bool covered = false;                                ///< the boxes cover all elements
    };
    /// Writes ranges of some variables of one space, which boxes need not cover. Later boxes
    /// overwrite earlier ones.
    /// @param fresh  the rest of the ranges is filled; otherwise it stays as it is in the file
    Status write(bool records, std::int64_t record, std::span<const Work> work, bool fresh);

private:
    Status read_before(std::span<const Chunk> chunks);
    void copy(const Share& share, Extent piece, std::size_t place, ElementRange range,
              const UnitPart::Entry& entry);

    const Spaces& spaces_;
    const Layout& layout_;
    int writer_;
    Storage& storage_;
    std::int64_t piece_;
    BetweenPieces* pause_;
    std::vector<FillValue> fill_;  ///< fill value of each variable
    std::vector<char> buffer_;     ///< the piece that is written
};

}  // namespace thalweg::detail
