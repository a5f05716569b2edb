// Is what was written what was meant? Every rank checks its share of the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "measurement.hpp"
#include "problem.hpp"
#include "registry.hpp"

namespace thalweg::bench {

/// Steps that a file has.
struct Steps {
    int number = 0;
    int first = 0;  ///< of the run
};

/// Compares a file's variables with the fields. Returns "" or, on every rank, what is wrong.
/// @note Collective
std::string check_values(const Meeting& meeting, const Problem& problem, FileKind kind,
                         const std::string& path, Steps steps);

/// A hash of a file's bytes, the same whatever the number of ranks. @note Collective
std::uint64_t hash_file(const Meeting& meeting, const std::string& path);

/// @note Collective
std::int64_t file_bytes(const Meeting& meeting, const std::string& path);

}  // namespace thalweg::bench
