// The written part of a file, as the ranks that write the file know it, and the decision what a
// write does with a variable, which all services share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "definitions/definitions.hpp"
#include "exchange/pieces.hpp"
#include "index/ranges.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// A variable, and the number of a record if it has records.
struct VariableRecord {
    int variable;
    std::int64_t record;
    auto operator<=>(const VariableRecord&) const = default;
};

/// The number of complete records and of those that the file's header counts, and the elements that
/// were written of other records and, in a new file, of fixed-size variables. Everything else is
/// complete.
class Progress {
public:
    /// @param definitions  must outlive this object
    Progress(const Definitions& definitions, Existing existing)
        : definitions_(definitions),
          existing_(existing),
          records_(existing.first),
          counted_(existing.first),
          begun_(definitions.variables.size(), existing.is ? 1 : 0) {}

    /// Returns the number of complete records.
    std::int64_t records() const { return records_; }
    /// Counts all records that an existing file keeps.
    void keep_records() { records_ = std::max(records_, existing_.kept); }
    /// Notes that all records before this one are complete. Nothing more is remembered of them.
    void note_records(std::int64_t records) {
        for (; records_ < records; ++records_)
            for (int v = 0; v < std::ssize(definitions_.variables); ++v)
                if (definitions_.variables[v].record) written_.erase({v, records_});
    }

    /// Notes that a record is complete, if all of its variables have values and it is the first one
    /// that is not noted.
    void note_if_complete(std::int64_t record) {
        if (record != records_) return;
        for (int v = 0; v < std::ssize(definitions_.variables); ++v)
            if (definitions_.variables[v].record && !has_values({v, record})) return;
        note_records(record + 1);
    }

    /// Returns the number of records that the header counts.
    std::int64_t counted() const { return counted_; }
    void note_counted(std::int64_t records) { counted_ = records; }

    /// Tests if there are values that must stay where no others replace them.
    bool has_values(const VariableRecord& of) const {
        if (!definitions_.variables[of.variable].record) return begun_[of.variable] != 0;
        return of.record < records_ || written_.contains(of);
    }
    /// Notes that all fixed-size variables have values.
    void note_values() { std::fill(begun_.begin(), begun_.end(), 1); }

    /// Tests if there are no elements that were never written.
    bool is_complete(const VariableRecord& of) const {
        return definitions_.variables[of.variable].record ? of.record < records_ : existing_.is;
    }
    /// Returns the elements that were written, if is_complete() is false.
    Ranges& elements(const VariableRecord& of) { return written_[of]; }
    /// Marks all elements as written.
    void add_all(const VariableRecord& of) {
        const Variable& v = definitions_.variables[of.variable];
        if (!v.record) begun_[of.variable] = 1;
        if (!is_complete(of)) written_[of].add(0, v.elements());
    }
    /// Returns the elements that were never written, and marks them as written.
    std::vector<ElementRange> take_missing(const VariableRecord& of) {
        std::vector<ElementRange> missing;
        if (is_complete(of)) return missing;
        const std::int64_t elements = definitions_.variables[of.variable].elements();
        Ranges& written = written_[of];
        written.split(0, elements, [&](std::int64_t begin, std::int64_t end, bool inside) {
            if (!inside) missing.push_back({begin, end});
        });
        written.add(0, elements);
        return missing;
    }

private:
    const Definitions& definitions_;
    Existing existing_;
    std::int64_t records_, counted_;
    std::vector<char> begun_;  ///< fixed-size variables that have values
    std::map<VariableRecord, Ranges> written_;
};

/// Facts about a variable of a record, or a fixed-size variable, when ranks write.
struct VariableFacts {
    bool put = false;         ///< all ranks have put their parts of it
    bool complete = false;    ///< the parts cover all elements
    bool has_values = false;  ///< the file has values that must stay where no part covers them
    bool ends = false;        ///< elements that were never written get fill values now
    bool hole = false;        ///< never written elements stay a hole, or the storage fills them
};

/// Returns what a write does: it writes the parts, and fill values where no part covers an element
/// (data); merges the parts with the values of the file; only fills; or does nothing.
inline Action classify(const VariableFacts& facts) {
    if (facts.put) return facts.complete || !facts.has_values ? Action::data : Action::merge;
    return facts.ends && !facts.has_values && !facts.hole ? Action::fill : Action::skip;
}

}  // namespace thalweg::detail
