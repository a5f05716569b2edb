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
    /// Notes that all of a variable (of a record that has not ended) is in the file.
    void note_part(int variable, std::int64_t record);
    /// Notes that others have written all of a variable (of a record).
    void note_written(int variable, std::int64_t record);
    /// Notes that others have completed all records before this one.
    void note_records(std::int64_t records);
    /// Ends a step, when all ranks have ended theirs or are at a `mark`; fills records without
    /// data.
    Status end_step(std::int64_t records, bool mark);
    /// Fills elements never written of the fixed-size variables that a unit marks as put; called
    /// when all have been put.
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
    std::int64_t step_ = 0;  ///< first step that not all ranks have ended since the last mark
    std::map<Group, std::vector<HeldBox>> ahead_;  ///< boxes written by ranks that are ahead
    std::vector<char> before_;                     ///< a piece, read from the file
};

}  // namespace thalweg::detail
