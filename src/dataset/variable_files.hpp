// The settings `files=variable` and `zarr_shards` of a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/file_context.hpp"

namespace thalweg::detail {

class VariableFiles {
public:
    explicit VariableFiles(FileContext& file) : file_(file) {}

    /// Whether the other settings allow it. @return TW_OK, TW_ESETTING. Local, the same on every
    /// rank, as the next one
    Status check() const;
    /// The same of the format and the definitions.
    Status check_definitions() const;
    /// Of the complete files, under their temporary name: makes the folder a Zarr store, where the
    /// setting asks for it. Rank 0 does it. @note Collective
    Status make_shards() const;

private:
    Status against(const char* other) const;

    FileContext& file_;
};

}  // namespace thalweg::detail
