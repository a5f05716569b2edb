// The settings `files=variable` and `files=zarr` of a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/file_context.hpp"

namespace thalweg::detail {

class VariableFiles {
public:
    explicit VariableFiles(FileContext& file) : file_(file) {}

    /// Checks that the other settings permit one file per variable. Local; the result is the same
    /// on every rank, as is that of the next function.
    /// @return TW_OK, TW_ESETTING
    Status check() const;
    /// Checks that the format and the definitions permit one file per variable.
    Status check_definitions() const;
    /// If the setting asks for it, turns the folder of complete files into a Zarr store. The folder
    /// still has its temporary name. Rank 0 does the work.
    /// @note Collective
    Status make_shards() const;

private:
    Status against(const char* other) const;

    FileContext& file_;
};

}  // namespace thalweg::detail
