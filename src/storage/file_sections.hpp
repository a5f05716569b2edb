// The spaces of a classic file: its fixed-size variables, and one record.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// Makes the space of one record, or that of the fixed-size variables. A space is the range of
/// bytes that is divided among the writers.
/// @param base  receives the offset in the file at which the space begins; for a record, that of
///              record 0
FileSection make_space(const Definitions& definitions, const FileMap& map, bool record,
                       std::int64_t& base);

/// The two spaces of a file: the fixed-size variables, and one record.
struct FileSections {
    FileSection fixed, record;
    FileMap map;
    std::int64_t fixed_base = 0;

    const FileSection& of(bool records) const { return records ? record : fixed; }
    /// Returns the offset in the file at which a space begins.
    std::int64_t base(bool records, std::int64_t number) const {
        return records ? map.record_begin + number * map.record_bytes : fixed_base;
    }
};

FileSections make_spaces(const Definitions& definitions, const FileMap& map);

}  // namespace thalweg::detail
