// Copies of what is put, until the ranks meet: converted to the file's type, so that their size is
// known from the definitions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "service/file_context.hpp"

namespace thalweg::detail {

class Staging {
public:
    explicit Staging(const FileContext& file);

    /// Bytes of all variables of this rank.
    std::int64_t bytes() const { return bytes_; }

    /// Copies what this rank holds of an array.
    /// @param view     receives the copy
    /// @param misfits  receives the number of values that do not fit
    /// @return TW_OK, TW_ENOMEM
    Status copy(int variable, ArrayView& view, std::int64_t& misfits);
    void release() { memory_.reset(); }

private:
    std::int64_t copy_blocks(const Variable& v, const ArrayView& view, char* to) const;
    std::int64_t copy_list(const Variable& v, const ArrayView& view, char* to) const;

    const FileContext& file_;
    std::vector<std::int64_t> at_;  ///< of each variable
    std::int64_t bytes_ = 0;
    std::unique_ptr<Memory> memory_;  ///< kept from step to step
};

}  // namespace thalweg::detail
