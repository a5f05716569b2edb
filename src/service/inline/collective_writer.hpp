// Service inline: writes the part of a batch that all ranks have put alike, together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "exchange/progress.hpp"
#include "service/inline/section_writer.hpp"

namespace thalweg::detail {

/// The unit of writing that a collective call ends; a collective put ends one of its own.
enum class Ends { put, step, sync, file };

/// Tests if what tw_put has put of a variable belongs to the unit that ends.
inline bool ends_put(const Batch& batch, const Agreed& agreed, Ends ends, std::size_t variable) {
    return agreed.put[variable] &&
           (!batch.is_record(variable) || ends == Ends::put || ends == Ends::step);
}

class CollectiveWriter {
public:
    CollectiveWriter(FileContext& file, Batch& batch, SectionWriter& writer, Progress& progress)
        : file_(file), batch_(batch), writer_(writer), progress_(progress) {}

    /**
     * Finds the puts that the ranks can write together, and plans their exchange.
     * @param merges  the storage can merge: parts that leave out elements are written over the
     *                present data
     * @return there are other parts; the same on every rank
     * @note Collective
     */
    bool find(const Agreed& agreed, Ends ends, bool merges);
    std::span<const WholePut> puts() const { return puts_; }
    /// Tests if the put of a part is among those that the ranks write together.
    bool has(const WaitingPart& part) const;
    /// Returns the number of records that the file has when the batch is written, as far as this
    /// rank knows. It is the same on all ranks if the whole batch is written together.
    /// @param boxed  sections or records were put, on some rank
    std::int64_t records_after(const Agreed& agreed, Ends ends, bool boxed) const;

    /**
     * Writes the puts that were found. In new records before `records`, variables that were not put
     * get fill values.
     * @param fill_fixed  fixed-size variables that were never put get fill values, too
     * @param in_step     the step goes on: variables of its record with fill=none that were not put
     *                    may still be put, so they get their fill values later
     * @return this rank's own failure
     * @note Collective
     */
    Status write(std::int64_t records, bool fill_fixed, bool in_step);

private:
    void add_puts(const Agreed& agreed, Ends ends);
    bool merges(const WholePut& put) const;
    bool keep_writable();
    Status write_section(bool records, std::int64_t record, bool fill, bool open);

    FileContext& file_;
    Batch& batch_;
    SectionWriter& writer_;
    Progress& progress_;
    std::vector<WholePut> puts_;  ///< sorted by variable and record
};

}  // namespace thalweg::detail
