// What a rank has put since the last step of a file ended.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "exchange/part.hpp"
#include "service/deferred.hpp"
#include "service/file_context.hpp"

namespace thalweg::detail {

/// What the ranks together have put.
struct Agreed {
    std::vector<char> put;  ///< per variable, by tw_put
    bool any_record = false;
    bool boxed = false;  ///< some rank has put sections or records, or has done so before
    /// With service inline: all ranks have put parts of the same records, by the same keys.
    bool same_parts = false;
    /// In a close: all ranks have given the same late attributes.
    bool same_late = true;
};

/// A part that waits for the ranks to meet.
struct WaitingPart : Part {
    bool by_put = false;     ///< of tw_put: of the open step, or of a fixed-size variable
    bool deferred = false;   ///< the model's array stays as it is until then
    Glimpse glimpse;         ///< of an array that is deferred
    std::int64_t bytes = 0;  ///< that its packed values take
};

class Batch {
public:
    /// The state of a variable in the record that the open step writes, by tw_put.
    struct Put {
        bool put = false;
        bool written = false;      ///< in this step already, by a collective put
        bool boxed = false;        ///< in this step by sections or records of the same record
        Form form = Form::either;  ///< of the array that was put
    };
    using Key = std::pair<int, std::int64_t>;  ///< variable, record

    explicit Batch(const FileContext& file);

    Put& operator[](int variable) { return puts[variable]; }
    const Put& operator[](int variable) const { return puts[variable]; }
    bool is_record(std::size_t variable) const {
        return file_.definitions.variables[variable].record;
    }
    /// The record into which tw_put puts a variable; 0 for a fixed-size one.
    std::int64_t record_of(int variable) const { return is_record(variable) ? record : 0; }
    /// The parts of a variable and record that wait, in the order of the calls; null if none does.
    std::vector<WaitingPart>* find(Key key);
    /// The part that tw_put has put of a variable; null if none waits.
    WaitingPart* find_put(int variable);

    /// Whether the arrays that were deferred are still what they were; of all variables, or of
    /// those of fixed size.
    Status check_deferred(bool records) const;
    /// Values that did not fit, since this was last asked: of all variables, or of those of fixed
    /// size.
    Status take_misfits(bool records);
    /// Whether the ranks have put something into a step that has not ended.
    bool step_is_open(const Agreed& agreed) const;
    /// Forgets the parts of tw_put, which are written or queued: of all variables, or of those of
    /// fixed size.
    void forget_puts(bool records);
    void note_records(std::int64_t n) { file_records = std::max(file_records, n); }

    std::vector<Put> puts;              ///< of each variable
    std::vector<std::int64_t> misfits;  ///< values that did not fit, of each variable
    std::map<Key, std::vector<WaitingPart>> parts;
    std::int64_t waiting = 0;  ///< bytes of the parts that are not of tw_put
    std::int64_t record;       ///< that the open step writes
    /// Sections or records were put: by this rank, or where the ranks agree before they publish, by
    /// any.
    bool boxed = false;
    bool given = false;             ///< this rank has given the records of what it put
    std::int64_t file_records = 0;  ///< of the file when what this rank put is written

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
