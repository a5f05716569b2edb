// What a rank has put since the last step of a file ended.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "service/file_context.hpp"
#include "service/record_part.hpp"

namespace thalweg::detail {

/// What the ranks together have put.
struct Agreed {
    std::vector<char> put;  ///< per variable
    bool any_record = false;
    bool boxed = false;  ///< some rank has boxes, or has had some
    // With service inline:
    bool queued = false;      ///< some rank has boxes in its queue
    bool same_parts = false;  ///< all ranks have parts of the same records, by the same keys
};

class Batch {
public:
    /// What was put of a variable by tw_put, into the record that the open step writes.
    struct Part {
        bool put = false;
        bool written = false;      ///< in this step already, by a collective put
        bool boxed = false;        ///< in this step by boxes of the same record
        Form form = Form::either;  ///< of the array that was put
        ArrayView view;
        Glimpse glimpse;  ///< of an array that is deferred
        /// Whether what was put is still in the model's memory.
        bool deferred() const { return put && view.data != nullptr && !view.bare; }
    };

    explicit Batch(const FileContext& file);

    Part& operator[](int variable) { return parts[variable]; }
    const Part& operator[](int variable) const { return parts[variable]; }
    bool is_record(std::size_t variable) const {
        return file_.definitions.variables[variable].record;
    }

    /// Whether the arrays that were deferred are still what they were; of all variables, or of
    /// those of fixed size.
    Status check_deferred(bool records) const;
    /// Values that did not fit, since this was last asked: of all variables, or of those of fixed
    /// size.
    Status take_misfits(bool records);
    /// Whether the ranks have put something into a step that has not ended.
    bool step_is_open(const Agreed& agreed) const;
    /// What is written by now.
    void forget(bool records);
    void note_records(std::int64_t n) { file_records = std::max(file_records, n); }

    std::vector<Part> parts;            ///< of each variable
    std::vector<std::int64_t> misfits;  ///< values that did not fit, of each variable
    std::int64_t record;                ///< that the open step writes
    /// The file has boxes: of this rank, or where the ranks agree before they publish, of any.
    bool boxed = false;
    bool given = false;             ///< this rank has given the records of what it put
    std::int64_t file_records = 0;  ///< of the file when what this rank put is written

    // With service inline:
    std::vector<RecordPart> staged;  ///< wait for the ranks to meet; one of each record
    std::int64_t waiting = 0;        ///< bytes that they would take in a queue
    bool queued = false;             ///< this rank has boxes in its queue

private:
    const FileContext& file_;
};

/// What this rank has put exceeds what a setting allows a step.
Status too_much_put(const FileContext& file, const Variable& variable, const char* setting,
                    std::int64_t bytes);

/**
 * The meeting of all ranks before they write together: the call, earlier failures, who has put
 * what.
 * @param variable  that a collective put writes; else -1
 * @param mine      this rank's own failure
 * @return the same on every rank: also TW_EMISSING and TW_EMISMATCH, of what was put. Once the
 *         ranks are in the same call, agreed.boxed is set, whatever comes out.
 * @note Collective
 */
Status agree_on(FileContext& file, Batch& batch, Call call, int variable, const Status& mine,
                Agreed& agreed);

}  // namespace thalweg::detail
