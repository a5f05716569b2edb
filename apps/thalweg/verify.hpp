// Tests if two files have the same contents, or if files match their checksums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::app {

struct VerifyOptions {
    std::vector<std::string> files;  ///< two, unless their checksums are verified
    bool checksums = false;          ///< compare each file with its checksums
    std::string a, b;                ///< the two files
    double tolerance = 0;            ///< largest difference of two values that are considered equal
    double relative = 0;  ///< the same, as a fraction of the larger of the two magnitudes
    /// Names of attributes: NAME, VARIABLE:NAME, :NAME (global).
    std::vector<std::string> ignored;
    /// Names of variables; none: all, and the global attributes.
    std::vector<std::string> variables;
    bool json = false;
};

/**
 * Compares dimensions, attributes, variables and values of two files of any format that tw_open
 * reads, and prints how they differ. Without tolerances, values are equal if their bits are. The
 * blocks of a variable are divided among the ranks; a rank uses some MiB of memory, whatever the
 * sizes.
 * @return exit code, the same on every rank: 0 equal, 1 different, 2 a file cannot be read, or the
 *         files are equal as far as they can be read
 * @note Collective over MPI_COMM_WORLD
 */
int verify(const VerifyOptions& options);

/**
 * Compares files with their checksums, and prints what does not match: file, variable and record.
 * The ranks share the work.
 * @return exit code, the same on every rank: 0 all match, 1 some do not, 2 a file cannot be read,
 *         or has no checksums, or not of everything
 * @note Collective over comm
 */
int verify_checksums(detail::Comm& comm, const VerifyOptions& options);

}  // namespace thalweg::app
