// Service inline, once some rank has put boxes, or records by a decomposition. What all ranks have
// put alike is written by all of them together, as tw_put's step is; the rest goes by a queue to
// the writers, and is written after it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "service/inline/record_puts.hpp"
#include "service/inline/space_writer.hpp"
#include "service/inline/whole_puts.hpp"

namespace thalweg::detail {

class MixedBatch {
public:
    /// What a meeting ends.
    enum class Ends { step, sync, file };

    MixedBatch(FileContext& file, Target& target, Batch& batch, SpaceWriter& writer,
               RecordPuts& local, Progress& progress)
        : file_(file),
          target_(target),
          batch_(batch),
          writer_(writer),
          local_(local),
          progress_(progress) {}

    /// Some rank has boxes, or records by a decomposition: from now on these may come in any step.
    /// @note Collective
    Status turn();
    bool turned() const { return turned_; }
    /// Whether the queue writes for all ranks, and closes the file.
    bool joined() const { return joined_; }
    /// Memory for one more record of this rank. Local. @throw std::bad_alloc
    void make_room();

    /**
     * Writes what was put.
     * @param at_once  tw_put has written, or queued, its part of the open step
     * @return the same on every rank
     * @note Collective
     */
    Status write(const Agreed& agreed, Ends ends, bool durable, bool at_once);

private:
    bool is_put(int variable, std::int64_t record) const;
    void add_puts(const Agreed& agreed, Ends ends);
    bool is_safe(const WholePut& put) const;
    bool keep_writable();
    Status find_puts(const Agreed& agreed, Ends ends, bool at_once, bool& rest);
    Status queue_rest(Ends ends, bool at_once);
    std::int64_t records_after(const Agreed& agreed, Ends ends) const;
    Status write_puts(std::int64_t records, bool fill_fixed);
    Status write_puts_of(bool records, std::int64_t record, bool fill);
    Status note_written(std::int64_t records);
    void drop_written();
    Status end_queued(const Agreed& agreed, Ends ends, bool durable, Status mine);
    Status end_written(Ends ends, std::int64_t records, bool durable, Status mine);

    FileContext& file_;
    Target& target_;
    Batch& batch_;
    SpaceWriter& writer_;
    RecordPuts& local_;
    Progress& progress_;
    bool turned_ = false;         ///< the file has boxes, or records by a decomposition
    bool joined_ = false;         ///< all ranks have a queue
    std::vector<WholePut> puts_;  ///< that the ranks write together
    std::vector<SpaceWriter::Chosen> chosen_;
};

}  // namespace thalweg::detail
