// Tests if two files have the same contents, or if files match their checksums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::app {

struct VerifyOptions {
    std::vector<std::string> files;  ///< paths of the files; two, unless checksums are verified
    bool checksums = false;          ///< compare each file with its own checksums
    std::string a, b;                ///< paths of the two files to compare
    double tolerance = 0;            ///< largest difference of two values that count as equal
    double relative = 0;             ///< largest difference as a fraction of the larger magnitude
    /// Names of attributes to ignore: NAME, VARIABLE:NAME or, for global attributes, :NAME.
    std::vector<std::string> ignored;
    /// Names of variables to compare; empty: all variables and the global attributes.
    std::vector<std::string> variables;
    bool json = false;
};

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
