// The write loop of a writer alone: writes values that ranks have packed into its share of a file,
// piece after piece, long runs of them from where they lie. Where they cover elements only partly,
// it fills the rest, or merges them with the values in the file. Knows no threads and no messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "exchange/part.hpp"
#include "exchange/progress.hpp"
#include "layout/layout.hpp"
#include "storage/file_sections.hpp"

namespace thalweg::detail {

/// A callback that writers call between two pieces.
class BetweenPieces {
public:
    virtual ~BetweenPieces() = default;
    virtual void between_pieces() {}
};

class ShareWriter {
public:
    /// Shortest run of packed values, in bytes, that is written from where it lies: 15 to 20 %
    /// faster than a copy to a buffer and its write; with runs of 512 bytes, the times are equal.
    static constexpr std::int64_t shortest_in_place = 1 << 10;

    /// The work on one place of a space.
    struct Work {
        std::size_t place = 0;
        std::vector<ElementRange> ranges;                 ///< elements to write, ascending
        std::span<const PackedValues* const> boxes = {};  ///< values, in the order of the puts
        bool covered = false;                             ///< the boxes cover all elements
        bool apart = false;                               ///< no element is in more than one box
    };

    /// @param progress  what was written of the file
    /// @param pause     called between pieces; may be null
    ShareWriter(const Definitions& definitions, const FileSections& sections, const Layout& layout,
                int writer, Storage& storage, Progress& progress, std::int64_t piece,
                BetweenPieces* pause);
    ShareWriter(const ShareWriter&) = delete;
    ShareWriter& operator=(const ShareWriter&) = delete;

    /// Writes ranges of some variables of one space, which boxes need not cover. Later boxes
    /// overwrite earlier ones.
    /// @param fresh  the rest of the ranges is filled; otherwise it stays as it is in the file
    Status write(bool records, std::int64_t record, std::span<const Work> work, bool fresh);
    /// Writes the boxes of one variable and record. A range that was written before is read first,
    /// unless the boxes cover it; otherwise elements that no box covers are filled.
    Status merge(const VariableRecord& of, std::span<const PackedValues* const> boxes);

private:
    class Values;

    const Definitions& definitions_;
    const FileSections& sections_;
    const Layout& layout_;
    int writer_;
    Storage& storage_;
    Progress& progress_;
    std::int64_t piece_;
    BetweenPieces* pause_;
    std::vector<FillValue> fill_;  ///< fill value of each variable
    std::vector<char> buffer_;     ///< bytes of a piece that are not written from where they lie
};

}  // namespace thalweg::detail
