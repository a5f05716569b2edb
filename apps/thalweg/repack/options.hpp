// Options of thalweg repack.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::app {

struct RepackOptions {
    std::string input, output;
    std::string format;  ///< format of the output; empty: that of the input
    /// Settings, as for tw_create, of all variables with at least two dimensions; empty: not given.
    std::string chunks, deflate, zstd, shuffle, quantize, packing;
    std::vector<std::string> variables;            ///< VARIABLE:SETTINGS
    bool common_records = false;                   ///< copy only the records that all tiles have
    bool fixed = false;                            ///< give the record dimension a fixed length in
                                                   ///< the output
    std::int64_t memory = std::int64_t(64) << 20;  ///< memory of each rank in bytes
};

}  // namespace thalweg::app
