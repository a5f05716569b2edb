// Writes a file again in another format, with other chunks and compression.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::app {

struct RepackOptions {
    std::string input, output;
    std::string format;  ///< empty: the format of the input
    /// Settings for all variables of two or more dimensions, as for tw_create; empty: not given.
    std::string chunks, deflate, zstd, shuffle, quantize;
    std::vector<std::string> variables;            ///< VARIABLE:SETTINGS
    bool common_records = false;                   ///< copy only the records that all tiles have
    bool fixed = false;                            ///< give the record dimension a fixed length
    std::int64_t memory = std::int64_t(64) << 20;  ///< bytes per rank
};

/**
 * Copies a file that tw_open reads, of any format, with its attributes, types and values. From
 * netCDF-4 to netCDF-4, chunks, deflate, zstd and shuffle stay as they are unless options set
 * them. The output has a temporary name until it is complete. Ranks take turns at pieces of the
 * output; a rank takes about `memory` bytes, or twice a row of chunks of the output.
 * @return exit code, the same on every rank: 0, or 1 after an error
 * @note Collective over MPI_COMM_WORLD
 */
int repack(const RepackOptions& options);

}  // namespace thalweg::app
