// The cost of a file that is written by one method.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/options.hpp"
#include "in_session.hpp"

namespace thalweg::app {

/// Name of the plain writes, with which the methods are compared.
inline constexpr char plain_writes[] = "raw";

/// Seconds of the slowest rank, and CPU seconds of all ranks.
struct FileCost {
    double whole = 0;  ///< seconds from before the file is created until it is complete
    double step = 0;   ///< seconds of a step after the first, or of the first if it is the only one
    double cpu = 0;    ///< CPU seconds of such a step
};

/// Writes files with the same contents by each method.
class FileTrial {
public:
    explicit FileTrial(const CompareOptions& options);

    /// Writes a file in a new session, as the first file of a run.
    /// @note Collective
    FileCost first_file(const std::string& method) const;
    /// Writes a file in an existing session. @note Collective
    FileCost next_file(Session& io, const std::string& method) const;

    /// Returns a hash of the file that was written last. Local.
    std::uint64_t hash() const;
    void remove() const;

    std::int64_t step_bytes() const;
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }

private:
    FileCost write_file(Session& io, const std::string& method) const;
    FileCost write_plain() const;
    int open_file(int flags) const;

    const CompareOptions& options_;
    int rank_ = 0, ranks_ = 1;
    std::int64_t first_ = 0, count_ = 0;      ///< latitudes
    std::vector<std::vector<float>> values_;  ///< values of each field
    std::string path_;
};

/// Begins a session in which all ranks write. Throws Error, or std::runtime_error if settings make
/// some ranks servers.
/// @note Collective over MPI_COMM_WORLD
Session comparing_session();

}  // namespace thalweg::app
