// Sizes that HDF5's files are laid out by.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::detail {

/// Bytes that are read and written together; what is smaller does not cross its border.
constexpr std::int64_t page = 4096;

/// The next multiple of `to` that is not below.
constexpr std::int64_t rounded(std::int64_t bytes, std::int64_t to) {
    return (bytes + to - 1) / to * to;
}

}  // namespace thalweg::detail
