// Writes a writer's share of the spaces of a file: cuts it into pieces, composes each in a buffer,
// and writes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

    const Spaces& spaces() const { return spaces_; }
    const Variable& variable(int i) const { return definitions_.variables[i]; }
    const NamedList<Variable>& variables() const { return definitions_.variables; }
    Storage& storage() { return storage_; }
    std::int64_t piece() const { return piece_; }

    /// Returns this writer's share of a record, or of the fixed-size variables.
    Share share(bool records, std::int64_t record) const {
        return layout_.share(writer_, spaces_.of(records), spaces_.base(records, record));
    }

    /// Writes the wanted bytes of a share. @param compose  Status(Extent piece, std::span<const
    /// Chunk> chunks, char* buffer): puts into the buffer the piece that the chunks describe
    template <class Compose>
    Status write(const Share& share, bool records, std::int64_t record, std::vector<Extent> wanted,
                 Compose&& compose) {
        const Space& space = spaces_.of(records);
        const std::int64_t base = spaces_.base(records, record);
        PieceCursor cursor(share.space(), std::move(wanted), piece_);
        for (Extent piece; cursor.next(piece);) {
            const std::size_t bytes = piece.size();
            buffer_.resize(std::max(buffer_.size(), bytes));
            std::deque<Box> boxes;
            const auto chunks = chunks_of(share, space, piece, buffer_.data(), base, record, boxes);
            Status status = compose(piece, chunks, buffer_.data());
            if (status.ok()) status = storage_.write(chunks);
            if (!status.ok()) return status;
            if (pause_ != nullptr) pause_->between_pieces();
        }
        return {};
    }

    /// Writes fill values where a piece has no data.
    /// @param whole  bool(std::size_t place): the data cover all of the place
    template <class Whole>
    void fill(const Share& share, Extent piece, char* to, Whole&& whole) const {
        prefill_piece(share.space(), piece, to, fill_, whole);
    }
    /// Copies into a piece the elements of held boxes that lie in a range.
    /// @param entries  the boxes' values, indexed by HeldBox::block
    void copy(const Share& share, Extent piece, std::size_t place, ElementRange range,
              std::span<const HeldBox> held, std::span<const UnitPart::Entry* const> entries,
              char* to) const;

private:
    const Definitions& definitions_;
    const Spaces& spaces_;
    const Layout& layout_;
    int writer_;
    Storage& storage_;
    std::int64_t piece_;
    BetweenPieces* pause_;
    std::vector<FillValue> fill_;  ///< fill value of each variable
    std::vector<char> buffer_;
};

}  // namespace thalweg::detail
