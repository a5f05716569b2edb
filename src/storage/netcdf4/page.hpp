// Sizes for the layout of HDF5 files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::detail {

/// Bytes that are read and written together; smaller blocks of metadata do not cross a multiple.
constexpr std::int64_t page = 4096;

/// Rounds bytes up to a multiple of `to`.
constexpr std::int64_t rounded(std::int64_t bytes, std::int64_t to) {
    return (bytes + to - 1) / to * to;
}

}  // namespace thalweg::detail
