// The elements of a file that were written or filled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "index/ranges.hpp"
#include "storage/spaces.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// A variable, and the number of a record if it has records.
struct VariableRecord {
    int variable;
    std::int64_t record;
    auto operator<=>(const VariableRecord&) const = default;
};

/// The elements that were written: those of records that have not ended and, in a new file, those
/// of fixed-size variables. Everything else is complete.
class WrittenElements {
public:
    WrittenElements(const Definitions& definitions, const Spaces& spaces, Existing existing)
        : definitions_(definitions),
          spaces_(spaces),
          existing_(existing),
          records_(existing.first) {}

    /// Returns the number of records that have ended.
    std::int64_t records() const { return records_; }
    /// Continues a file with a number of complete records.
    void go_on(std::int64_t records) { records_ = records; }
    /// Counts all records that an existing file keeps.
    void keep_records() { records_ = std::max(records_, existing_.kept); }
    /// Ends the next record. From now on, nothing is remembered of it.
    void end_record() {
        for (const Place& p : spaces_.record.places) written_.erase({p.variable, records_});
        ++records_;
    }

    /// Tests if there are no elements that were never written.
    bool is_complete(const VariableRecord& of) const {
        return definitions_.variables[of.variable].record ? of.record < records_ : existing_.is;
    }
    /// Returns the elements that were written, if is_complete() is false.
    Ranges& elements(const VariableRecord& of) { return written_[of]; }
    /// Marks all elements as written.
    void add_all(const VariableRecord& of) {
        if (!is_complete(of)) written_[of].add(0, definitions_.variables[of.variable].elements());
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
    const Spaces& spaces_;
    Existing existing_;
    std::int64_t records_;
    std::map<VariableRecord, Ranges> written_;
};

}  // namespace thalweg::detail
