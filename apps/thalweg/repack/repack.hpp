// Writes a file again in another format, with other chunks and compression.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "repack/options.hpp"

namespace thalweg::app {

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
