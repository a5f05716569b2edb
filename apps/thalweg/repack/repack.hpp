// Writes a file again in another format, with other chunks and compression.
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
    std::string chunks, deflate, zstd, shuffle, quantize;
    std::vector<std::string> variables;            ///< VARIABLE:SETTINGS
    bool common_records = false;                   ///< copy only the records that all tiles have
    bool fixed = false;                            ///< give the record dimension a fixed length in
                                                   ///< the output
    std::int64_t memory = std::int64_t(64) << 20;  ///< memory of each rank in bytes
};

/**
 * Copies a file, with its attributes, types and values. The file can have any format that tw_open
 * reads. From netCDF-4 to netCDF-4, chunks, deflate, zstd and shuffle do not change unless options
 * set them. The output has a temporary name until it is complete. Pieces of the output are
 * distributed over the ranks in turn; a rank needs about `memory` bytes, but at least twice a row
 * of chunks of the output.
 * @return exit code, the same on every rank: 0, or 1 after an error
 * @note Collective over MPI_COMM_WORLD
 */
int repack(const RepackOptions& options);

}  // namespace thalweg::app
