// A writer's work on one unit: puts its share of the unit parts' data into the file, piece by
// piece. Knows neither threads nor messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "service/queue/box_composer.hpp"
#include "service/queue/share_writer.hpp"

namespace thalweg::detail {

class Composer {
public:
    /// @param whole        for each variable: the ranks together hold every element
    /// @param pause        called between pieces; may be null
    Composer(const Definitions& definitions, std::vector<char> whole, const Spaces& spaces,
             const Layout& layout, int writer, Storage& storage, std::int64_t piece,
             BetweenPieces* pause, Existing existing = {});
    Composer(const Composer&) = delete;
    Composer& operator=(const Composer&) = delete;

    /// Writes this writer's share of a unit, given the unit parts of all ranks; with kind `boxes`,
    /// of some. A unit that ends a step advances the record.
    Status write(std::span<const UnitPart> unit_parts);
    /// Continues a file that has `records` records and in which the fixed-size variables in
    /// `filled` were written.
    void go_on(std::int64_t records, std::vector<char> filled);
    std::int64_t records() const { return boxes_ ? boxes_->records() : records_; }

    /// Returns the box composer; after the first call, units are written by boxes (see
    /// unit_part.hpp).
    BoxComposer& boxes();
    bool boxed() const { return boxes_.has_value(); }

private:
    Status write_step(std::span<const UnitPart> unit_parts);
    Status write_fixed(std::span<const UnitPart> unit_parts, UnitKind kind);
    Status write_part(std::span<const UnitPart> unit_parts);
    Status write_boxed(std::span<const UnitPart> unit_parts);
    Status pass(bool records, std::span<const Action> actions, const Share& share,
                std::vector<Extent> wanted);
    void pack(std::span<const Action> actions, const Share& share, Extent piece, char* to) const;
    void collect(std::span<const UnitPart> unit_parts);
    bool was_put(int variable) const;

    ShareWriter out_;
    std::vector<char> whole_;
    Existing existing_;
    std::vector<char> filled_;  ///< fixed-size variables that were written, or existed before
    std::vector<char> parted_;  ///< variables of the current record that were put in several units
    std::vector<std::int64_t> put_;
    std::vector<const UnitPart::Entry*> entries_;
    /// Boxes of each variable; HeldBox::block is an index of entries_.
    std::vector<std::vector<HeldBox>> held_;
    std::int64_t records_;
    std::optional<BoxComposer> boxes_;
};

}  // namespace thalweg::detail
