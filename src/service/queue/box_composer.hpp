// A writer's work on boxes: data in the file stay wherever no box covers them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "index/ranges.hpp"
#include "service/queue/share_writer.hpp"

namespace thalweg::detail {

class BoxComposer {
public:
    /// @param records  number of complete records
    BoxComposer(ShareWriter& out, Existing existing, std::int64_t records);

    /// Writes this writer's share of some unit parts of any kind, each entry into its own record.
    Status write(std::span<const UnitPart> unit_parts);
    /// Notes that this writer has written all of a variable (of a record that has not ended).
    void note_part(int variable, std::int64_t record);
    /// Notes that all of a variable (of a record) was written by other means.
    void note_written(int variable, std::int64_t record);
    /// Notes that all records before this one were completed by other means.
    void note_records(std::int64_t records);
    /// Ends a step, when all ranks have ended theirs or wait at a `mark` (tw_sync or tw_close);
    /// fills records without data.
    Status end_step(std::int64_t records, bool mark);
    /// Fills the elements never written of those fixed-size variables that the unit marks; called
    /// when no more puts of them can come.
    Status fill_fixed(const UnitPart& unit);
    std::int64_t records() const { return records_; }

private:
    struct Group {
        int variable;
        std::int64_t record, step;
        auto operator<=>(const Group&) const = default;
    };
    Status write_group(const Group& group, std::span<const UnitPart::Entry* const> boxes);
    Status write_stretches(const Group& group, std::span<const ElementRange> stretches, bool fresh,
                           std::span<const UnitPart::Entry* const> boxes);
    Status read_before(std::span<const Chunk> chunks, Extent piece, char* buffer);
    void keep_later(const Group& group, const Share& share, Extent piece, ElementRange range,
                    char* to) const;
    Status fill_untouched(int variable, std::int64_t record);
    void end_record();

    ShareWriter& out_;
    Existing existing_;
    std::int64_t records_;
    /// Elements that were written or filled, by variable and record.
    std::map<std::pair<int, std::int64_t>, Ranges> touched_;
    /// Number of steps that all ranks have ended since the last tw_sync; later steps are still
    /// open.
    std::int64_t step_ = 0;
    /// Boxes that ranks ahead of the others have already written.
    std::map<Group, std::vector<HeldBox>> ahead_;
    std::vector<char> before_;  ///< present data of a piece, read from the file
};

}  // namespace thalweg::detail
