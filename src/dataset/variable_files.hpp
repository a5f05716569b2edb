// The settings `files=variable` and `zarr_shards` of a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/file_context.hpp"

namespace thalweg::detail {

class VariableFiles {
public:
    explicit VariableFiles(FileContext& file) : file_(file) {}

    /// Checks that the other settings permit one file per variable. Local, the same on every rank,
    /// as is the next function.
    /// @return TW_OK, TW_ESETTING
    Status check() const;
    /// Checks that the format and the definitions permit it.
    Status check_definitions() const;
    /// Turns the folder of complete files, under its temporary name, into a Zarr store, if the
    /// setting asks for it. Rank 0 does the work.
    /// @note Collective
    Status make_shards() const;

private:
    Status against(const char* other) const;

    FileContext& file_;
};

}  // namespace thalweg::detail
