// The checksum of Zarr's codec crc32c.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace thalweg::detail {

/// Returns the CRC-32C checksum (Castagnoli; RFC 3720, appendix B.4).
std::uint32_t crc32c(std::span<const char> bytes);

}  // namespace thalweg::detail
