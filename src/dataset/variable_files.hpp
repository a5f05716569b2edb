// The settings `files=variable` and `zarr_shards` of a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/file_context.hpp"

namespace thalweg::detail {

class VariableFiles {
public:
    explicit VariableFiles(FileContext& file) : file_(file) {}

    /// Checks that the other settings permit it. Local, the same on every rank, as is the next
    /// function.
    /// @return TW_OK, TW_ESETTING
    Status check() const;
    /// Checks the format and the definitions.
    Status check_definitions() const;
    /// Makes the folder of the complete files, under its temporary name, a Zarr store, if the
    /// setting asks for it. Rank 0 does the work.
    /// @note Collective
    Status make_shards() const;

private:
    Status against(const char* other) const;

    FileContext& file_;
};

}  // namespace thalweg::detail
