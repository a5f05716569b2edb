// The contents of a file for the inquiry functions: of an existing file, or of one that is being
// written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/source.hpp"

namespace thalweg::detail {

/// The contents of a file, for inquiries. The objects passed to the constructor must outlive this
/// one.
class Contents {
public:
    explicit Contents(const Source& source)
        : Contents(source.definitions(), source.records(), name_of(source.format()),
                   !has_new_types(source.format())) {}
    Contents(const Definitions& definitions, std::int64_t records, const char* format,
             bool byte_of_any_sign)
        : definitions_(&definitions),
          records_(records),
          format_(format),
          byte_of_any_sign_(byte_of_any_sign) {}

    const Definitions& definitions() const { return *definitions_; }
    std::int64_t records() const { return records_; }
    const char* format() const { return format_; }
    bool byte_of_any_sign() const { return byte_of_any_sign_; }
    /// Returns the length of a dimension. For the record dimension this is the number of records.
    std::int64_t length(int dim) const {
        return definitions_->is_record_dim(dim) ? records_ : definitions_->dims[dim].length;
    }

private:
    const Definitions* definitions_;
    std::int64_t records_;
    const char* format_;
    bool byte_of_any_sign_;
};

}  // namespace thalweg::detail
