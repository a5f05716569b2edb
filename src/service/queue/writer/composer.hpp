// A writer's work on units: decides which elements of its share are written, filled or kept. Knows
// neither threads nor messages.
//
// At first, each step replaces the variables that were put, and fills the others. Once a file is
// written by boxes (see unit_part.hpp), data stay wherever no box covers them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <vector>

#include "exchange/pieces.hpp"
#include "service/progress.hpp"
#include "service/queue/unit_part.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

/// A callback that writers call between two pieces.
class BetweenPieces {
public:
    virtual ~BetweenPieces() = default;
    virtual void between_pieces() {}
};

class Composer {
public:
    /// @param whole        for each variable: the ranks together hold every element
    /// @param progress     what was written of the file
    /// @param pause        called between pieces; may be null
    Composer(const Definitions& definitions, std::vector<char> whole, const Spaces& spaces,
             const Layout& layout, int writer, Storage& storage, Progress& progress,
             std::int64_t piece, BetweenPieces* pause);
    Composer(const Composer&) = delete;
    Composer& operator=(const Composer&) = delete;

    /// Writes this writer's share of a unit, given the unit parts of all ranks; with kind `boxes`,
    /// of some. A unit that ends a step advances the record. Later boxes overwrite earlier ones.
    Status write(std::span<const UnitPart> unit_parts);
    /// Tests if the file is written by boxes.
    bool boxed() const { return boxed_; }

private:
    using Boxes = std::vector<const UnitPart::Entry*>;
    using Groups = std::map<VariableRecord, Boxes>;
    /// The part of the work that concerns one place of a space.
    struct Work {
        std::size_t place = 0;
        std::vector<ElementRange> ranges;                    ///< elements to write, ascending
        std::span<const UnitPart::Entry* const> boxes = {};  ///< data, in the order of the puts
        bool covered = false;                                ///< the boxes cover all elements
    };

    void begin_boxes();
    Groups group(std::span<const UnitPart> unit_parts) const;
    std::vector<Action> actions(std::span<const UnitPart> unit_parts) const;
    std::int64_t records_after(std::span<const UnitPart> unit_parts) const;
    Status write_boxes(const VariableRecord& group, const Boxes& boxes);
    Status write_range(const UnitHead& head, const Groups& groups);
    Status write_space(bool records, std::span<const Action> actions, const Groups& groups);
    Status end_records(std::int64_t records, std::span<const Action> actions, const Groups& groups);
    Status write_ranges(bool records, std::int64_t record, std::span<const Work> work, bool fresh);
    Status read_before(std::span<const Chunk> chunks);
    void copy(const Share& share, Extent piece, std::size_t place, ElementRange range,
              const UnitPart::Entry& entry);

    const Definitions& definitions_;
    std::vector<char> whole_;
    const Spaces& spaces_;
    const Layout& layout_;
    int writer_;
    Storage& storage_;
    std::int64_t piece_;
    BetweenPieces* pause_;
    Progress& progress_;
    std::vector<FillValue> fill_;  ///< fill value of each variable
    std::vector<char> buffer_;     ///< the piece that is written
    bool boxed_ = false;
};

}  // namespace thalweg::detail
