// The contents of a file for the inquiry functions: of an existing file, or of one that is being
// written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/source.hpp"

namespace thalweg::detail {

struct Contents {
    const Definitions& definitions;
    std::int64_t records = 0;
    const char* format = "";
    bool byte_of_any_sign = false;  ///< in this format, bytes are signed or unsigned

    /// Returns the length of a dimension. For the record dimension this is the number of records.
    std::int64_t length(int dim) const {
        return definitions.is_record_dim(dim) ? records : definitions.dims[dim].length;
    }
};

inline Contents contents_of(const Source& source) {
    return {source.definitions(), source.records(), name_of(source.contents().format),
            !has_new_types(source.contents().format)};
}

}  // namespace thalweg::detail
