// Sizes for the layout of HDF5 files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::detail {

/// Size in bytes of a page of memory, which the system reads and writes as a whole. Smaller blocks
/// of metadata are placed so that each lies within one page.
constexpr std::int64_t page = 4096;

/// Rounds a number of bytes up to a multiple of `to`.
constexpr std::int64_t rounded(std::int64_t bytes, std::int64_t to) {
    return (bytes + to - 1) / to * to;
}

}  // namespace thalweg::detail
