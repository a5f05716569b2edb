// A writer's work on boxes: data in the file stay wherever no box covers them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <vector>

#include "index/ranges.hpp"
#include "service/queue/share_writer.hpp"

namespace thalweg::detail {

class BoxComposer {
public:
    /// @param records  number of complete records
    BoxComposer(ShareWriter& out, Existing existing, std::int64_t records);

    /// Writes this writer's share of some unit parts of any kind, each entry into its own record;
    /// later ones overwrite earlier ones.
    Status write(std::span<const UnitPart> unit_parts);
    /// Notes that this writer has written all of a variable (of a record that has not ended).
    void note_part(int variable, std::int64_t record);
    /// Notes that all of a variable (of a record) was written by other means.
    void note_written(int variable, std::int64_t record);
    /// Notes that all records before this one were completed by other means.
    void note_records(std::int64_t records);
    /// Completes the records before number `records`: fills what no box has covered.
    Status end_records(std::int64_t records);
    /// Fills the elements never written of those fixed-size variables that the unit marks; called
    /// when no more puts of them can come.
    Status fill_fixed(const UnitPart& unit);
    std::int64_t records() const { return records_; }

private:
    struct Group {
        int variable;
        std::int64_t record;
        auto operator<=>(const Group&) const = default;
    };
    Status write_group(const Group& group, std::span<const UnitPart::Entry* const> boxes);
    Status write_stretches(const Group& group, std::span<const ElementRange> stretches, bool fresh,
                           std::span<const UnitPart::Entry* const> boxes);
    Status read_before(std::span<const Chunk> chunks, char* buffer);
    Status fill_untouched(int variable, std::int64_t record);
    void end_record();

    ShareWriter& out_;
    Existing existing_;
    std::int64_t records_;
    /// Elements that were written or filled, by variable and record.
    std::map<Group, Ranges> touched_;
};

}  // namespace thalweg::detail
