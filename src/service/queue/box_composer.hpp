// A writer's work on boxes: what is in the file already stays where no box covers it.
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
    /// @param records  that are complete
    BoxComposer(ShareWriter& out, Existing existing, std::int64_t records);

    /// Writes this writer's share of some parcels of any kind: each entry into its own record.
    Status write(std::span<const Parcel> parcels);
    /// All of a variable (of a record that has not ended) is in the file.
    void note_part(int variable, std::int64_t record);
    /// Others have written all of a variable (of a record).
    void note_written(int variable, std::int64_t record);
    /// Others have completed all records before this one.
    void note_records(std::int64_t records);
    /// All ranks have ended their step, or are at a `mark`; records without data are filled.
    Status end_step(std::int64_t records, bool mark);
    /// Fills what was never written of the fixed-size variables that a unit has as put, at the end
    /// of all of them.
    Status fill_fixed(const Parcel& unit);
    std::int64_t records() const { return records_; }

private:
    struct Group {
        int variable;
        std::int64_t record, step;
        auto operator<=>(const Group&) const = default;
    };
    Status write_group(const Group& group, std::span<const Parcel::Entry* const> boxes);
    Status write_stretches(const Group& group, std::span<const ElementRange> stretches, bool fresh,
                           std::span<const Parcel::Entry* const> boxes);
    Status read_before(std::span<const Chunk> chunks, Extent piece, char* buffer);
    void keep_later(const Group& group, const Share& share, Extent piece, ElementRange range,
                    char* to) const;
    Status fill_untouched(int variable, std::int64_t record);
    void end_record();

    ShareWriter& out_;
    Existing existing_;
    std::int64_t records_;
    /// Of a variable and record: the elements that were written or filled.
    std::map<std::pair<int, std::int64_t>, Ranges> touched_;
    std::int64_t step_ = 0;  ///< the first one that not all ranks have ended since the last mark
    std::map<Group, std::vector<HeldBox>> ahead_;  ///< what ranks that are ahead have written
    std::vector<char> before_;                     ///< a piece as the file has it
};

}  // namespace thalweg::detail
