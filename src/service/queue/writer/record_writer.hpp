// A writer's work on units: decides which variables of a unit are written, filled or merged.
//
// At first, each step replaces the variables that were put, and fills the others. Once a file is
// written by boxes (see unit_part.hpp), data stay wherever no box covers them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <vector>

#include "exchange/pieces.hpp"
#include "exchange/write/share_writer.hpp"
#include "service/queue/unit_part.hpp"

namespace thalweg::detail {

class RecordWriter {
public:
    /// @param whole        for each variable: the ranks together hold every element
    /// @param progress     what was written of the file
    /// @param pause        called between pieces; may be null
    RecordWriter(const Definitions& definitions, std::vector<char> whole,
                 const FileSections& sections, const Layout& layout, int writer, Storage& storage,
                 Progress& progress, std::int64_t piece, BetweenPieces* pause);
    RecordWriter(const RecordWriter&) = delete;
    RecordWriter& operator=(const RecordWriter&) = delete;

    /// Writes this writer's share of a unit, given the unit parts of all ranks; with kind `boxes`,
    /// of some. A unit that ends a step advances the record. Later boxes overwrite earlier ones.
    Status write(std::span<const UnitPart> unit_parts);
    /// Tests if the file is written by boxes.
    bool boxed() const { return boxed_; }

private:
    using Groups = std::map<VariableRecord, std::vector<const PackedValues*>>;

    void begin_boxes();
    Groups group(std::span<const UnitPart> unit_parts) const;
    std::vector<Action> actions(std::span<const UnitPart> unit_parts) const;
    std::int64_t records_after(std::span<const UnitPart> unit_parts) const;
    Status write_section(bool records, std::span<const Action> actions, const Groups& groups);
    Status end_records(std::int64_t records, std::span<const Action> actions, const Groups& groups);

    const Definitions& definitions_;
    std::vector<char> whole_;
    const FileSections& sections_;
    Storage& storage_;
    Progress& progress_;
    ShareWriter writer_;
    bool boxed_ = false;
};

}  // namespace thalweg::detail
