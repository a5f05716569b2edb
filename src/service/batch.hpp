// The puts of a rank since the last step of a file ended.
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

/// The puts on which all ranks have agreed.
struct Agreed {
    std::vector<char> put;  ///< for each variable: some rank has put it by tw_put
    bool any_record = false;
    bool boxed = false;      ///< some rank has put sections or records, in this batch or before
    bool by_itself = false;  ///< some rank has written sections by itself, in this batch or before
    /// With service inline: all ranks have put parts of the same records, with equal keys.
    bool same_parts = false;
    /// With service inline: all values that were put lie in memory that the ranks of a node share.
    bool copied = false;
    /// While a file is closed: all ranks have given the same late attributes.
    bool same_late = true;
    /// While a file is closed: all ranks have closed their storage early, so its data are complete.
    bool closed_early = false;
};

/// A part that waits until all ranks agree and write.
struct WaitingPart : Part {
    /// The part was put by tw_put: it belongs to the open step, or to a fixed-size variable.
    bool by_put = false;
    bool deferred = false;    ///< holds no copy: the model's array must not change before the write
    Fingerprint fingerprint;  ///< sample of a deferred array
    std::int64_t bytes = 0;   ///< bytes of its packed values
};

/// A part to be put, and similar parts of later records.
struct PartsToPut {
    Part part;  ///< if it is packed, the arrays are, and do not change before they are written
    std::int64_t records = 1;  ///< 0: the call only returns an earlier error
    std::int64_t step = 1;     ///< distance from record to record
    std::int64_t bytes = 0;    ///< bytes between the arrays of two records
    bool deferred = false;     ///< the arrays do not change until they are written
    bool borrowed = false;     ///< deferred, and not checked for changes
    /// Put by tw_put: one part with the declared holding, of the record of the open step.
    bool by_put = false;
    /// Written at once by this rank alone, or refused with TW_EUNSUPPORTED: then nothing is
    /// written.
    bool alone = false;

    std::int64_t last() const { return part.record + (records - 1) * step; }
};

class Batch {
public:
    /// The state of a variable in the record of the open step, for tw_put.
    struct Put {
        bool put = false;
        bool written = false;  ///< already written in this step, by a collective put
        bool boxed = false;    ///< put into the record of this step by tw_put_box or tw_put_record
        std::int64_t in_step = -1;  ///< number of tw_end_step calls before the latest tw_put
        Form form = Form::either;   ///< form of the array that was put
    };
    using Key = std::pair<int, std::int64_t>;  ///< variable and record

    explicit Batch(const FileContext& file);

    Put& operator[](int variable) { return puts[variable]; }
    const Put& operator[](int variable) const { return puts[variable]; }
    bool is_record(std::size_t variable) const {
        return file_.definitions.variables[variable].record;
    }
    /// Returns the record into which tw_put puts a variable; 0 for a fixed-size one.
    std::int64_t record_of(int variable) const { return is_record(variable) ? record : 0; }
    /// Returns the waiting parts of a variable and record, in the order of the calls; null if there
    /// are none.
    std::vector<WaitingPart>* find(Key key);
    /// Returns the part that tw_put has put of a variable; null if none waits.
    WaitingPart* find_put(int variable);

    /// Checks that deferred arrays have not changed: the arrays of all variables, or only of
    /// fixed-size ones.
    Status check_deferred(bool records) const;
    /// Returns the error for values that did not fit since the last call: in all variables, or only
    /// in fixed-size ones. Keeps the first error until all ranks know it.
    Status keep_misfits(bool records);
    /// Returns the error that was kept, which is then forgotten, or that of keep_misfits().
    Status first_misfit(bool records);
    /// Tests if the ranks have put data into a step that has not ended.
    bool step_is_open(const Agreed& agreed) const;
    /// Forgets the parts put by tw_put that have been written or queued: those of all variables, or
    /// only of fixed-size ones. Also forgets which variables were put by other calls.
    void forget_puts(bool records);
    void note_records(std::int64_t n) { file_records = std::max(file_records, n); }
    /// Calls act(part) for the part of each record, after the put was checked.
    template <class Act>
    Status for_parts(PartsToPut put, Act&& act) {
        boxed = given = true;
        const std::int64_t last = put.last();
        puts[put.part.variable].boxed |= is_open(put);
        for (Part& part = put.part; part.record <= last;
             part.record += put.step, part.array.data += put.bytes) {
            if (part.packed != nullptr) part.packed = part.array.data;
            if (Status s = act(part); !s.ok()) return s;
        }
        // Note the record even if this rank holds nothing of it.
        note_records(is_record(put.part.variable) ? last + 1 : 0);
        return {};
    }
    /// Tests if a part belongs to the record that tw_put writes, or to a fixed-size variable.
    bool is_open(const PartsToPut& put) const {
        const std::int64_t first = put.part.record;
        return !is_record(put.part.variable) ||
               (record >= first && record <= put.last() && (record - first) % put.step == 0);
    }

    std::vector<Put> puts;              ///< state of each variable
    std::vector<std::int64_t> misfits;  ///< number of values that did not fit, by variable
    std::map<Key, std::vector<WaitingPart>> parts;
    std::int64_t waiting = 0;  ///< bytes of the parts that are not from tw_put
    std::int64_t record;       ///< record of the open step
    /// Sections or records were put: by this rank or, if the ranks agree before they publish, by
    /// any rank.
    bool boxed = false;
    bool given = false;      ///< this rank has named the records of its puts
    bool in_arrays = true;   ///< values were put that lie in memory of this rank alone
    bool by_itself = false;  ///< this rank has written sections by itself (Service::write_alone)
    /// Number of records that the file has, as far as this rank knows, once its puts are written.
    /// After tw_sync, if records or sections were put, at least one rank knows the true number.
    std::int64_t file_records = 0;

private:
    const FileContext& file_;
    Status misfit_;  ///< error of keep_misfits()
};

/// Returns the error for puts that exceed the limit of a setting in one step.
Status too_much_put(const char* setting, std::int64_t bytes);

/**
 * Agrees with all ranks before they write together: on the call, earlier errors, and the puts of
 * each rank.
 * @param variable  variable that a collective put writes; otherwise -1
 * @param mine      this rank's own error
 * @return the same on every rank, including TW_EMISSING and TW_EMISMATCH. If the ranks are in the
 *     same call, agreed.boxed is set in any case.
 * @note Collective
 */
Status agree_on(FileContext& file, Batch& batch, Call call, int variable, const Status& mine,
                Agreed& agreed);

}  // namespace thalweg::detail
