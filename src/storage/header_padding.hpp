// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Free bytes and alignments in a classic file, as the arguments of nc__enddef.
struct HeaderPadding {
    std::int64_t header_pad = 4096;  ///< free bytes after the header
    std::int64_t var_align = 4;      ///< alignment of the fixed-size variables
    std::int64_t var_pad = 0;        ///< free bytes after them
    std::int64_t record_align = 4;   ///< alignment of the records

    bool operator==(const HeaderPadding&) const = default;
};

/// Changes members by a list "header_pad=1000; record_align=1024". Returns TW_OK or TW_ESETTING.
Status set_spacing(const std::string& list, HeaderPadding& spacing);

}  // namespace thalweg::detail
