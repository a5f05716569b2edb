// Tests if two files have the same contents, or if files match their checksums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"
#include "verify/options.hpp"

namespace thalweg::app {

/**
 * Compares dimensions, attributes, variables and values of two files of any format that tw_open
 * reads, and prints how they differ. Without tolerances, values are equal if their bits are. The
 * ranks divide the blocks of a variable among them; a rank needs some MiB of memory, whatever the
 * sizes.
 * @return exit code, the same on every rank: 0 equal, 1 different, 2 a file cannot be read, or the
 *     files are equal as far as they can be read
 * @note Collective over MPI_COMM_WORLD
 */
int verify(const VerifyOptions& options);

/**
 * Compares files with their checksums, and prints what does not match: file, variable and record.
 * The ranks share the work.
 * @return exit code, the same on every rank: 0 all match; 1 some do not; 2 a file cannot be read,
 *     or has no checksums, or lacks some of them
 * @note Collective over comm
 */
int verify_checksums(detail::Comm& comm, const VerifyOptions& options);

}  // namespace thalweg::app
