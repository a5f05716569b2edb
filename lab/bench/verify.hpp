// Checks that a file has the contents that were written. Every rank checks its share of the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "methods/method.hpp"

namespace thalweg::bench {

/// The range of steps that a file contains.
struct Steps {
    int number = 0;
    int first = 0;  ///< number of the first step within the run
};

/// Compares the variables in a file with the fields. Elements that no rank holds must have the fill
/// value. Returns a description of the first difference, or an empty text; the same on every rank.
/// @note Collective
std::string check_values(const RankGroup& rank_group, const Problem& problem, FileKind kind,
                         const std::string& path, Steps steps);

/// Compares arrays, laid out as the fields, with the fields of a step, in the same way.
/// @note Collective
std::string check_arrays(const RankGroup& rank_group, const Problem& problem,
                         const std::byte* arrays, int step);

/// Returns a hash of a file's bytes, which does not depend on the number of ranks.
/// @note Collective
std::uint64_t hash_file(const RankGroup& rank_group, const std::string& path);

/// @note Collective
std::int64_t file_bytes(const RankGroup& rank_group, const std::string& path);

}  // namespace thalweg::bench
