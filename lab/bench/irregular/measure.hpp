// Measures index maps: every method writes the same variables, in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "irregular/methods.hpp"

namespace thalweg::bench::irregular {

struct Sample {
    double seconds = 0;       ///< seconds for the steps and the close, on the slowest rank
    double open_seconds = 0;  ///< seconds for creating and defining the file, on the slowest rank
    double cpu_seconds = 0;   ///< CPU seconds of all ranks, without opening the file
};

struct Row {
    MethodInfo info;
    std::string share;  ///< description of the dimensions that are listed and those held completely
    std::string error;  ///< reason why the method could not be measured; empty if it could
    std::vector<Sample> samples;
    std::vector<double> set_up_seconds;      ///< seconds to describe the share, on the slowest rank
    std::vector<double> set_up_cpu;          ///< CPU seconds of all ranks for that
    std::vector<std::int64_t> set_up_bytes;  ///< bytes needed for that, on the rank that needs most
    /// Bytes needed for that on all ranks, divided by the size of their lists.
    std::vector<double> set_up_to_list;
    double kept_to_list = 0;  ///< the same for the bytes that are kept after define mode
    std::int64_t peak_bytes = 0;
    std::int64_t file_bytes = 0;
    std::string details;
    bool verified = false;
    std::string wrong;  ///< error found by the verification; empty if there is none
};

/// The results of one map.
struct MapResult {
    std::string name, text;
    std::vector<Dim> dims;
    std::int64_t held = 0, pieces = 0;
    int variables = 0, steps = 0;
    std::vector<Row> rows;

    std::int64_t elements() const;
    std::int64_t bytes() const;  ///< bytes that are written in a repetition
};

struct Measurement {
    std::vector<MapResult> maps;
    bool peaks_reset = true;
    bool good = true;
    int ranks = 1;
};

/// Measures all maps.
/// @note Collective
Measurement measure(const RankGroup& rank_group, const IrregularOptions& options);

/// Checks that the variables in a file are equal to the fields. If the file was made from lists,
/// also checks that elements which no rank holds have the fill value.
/// @return the difference, or an empty text; the same on every rank
/// @note Collective
std::string check_file(const RankGroup& rank_group, const IndexMap& map, bool lists, int variables,
                       int steps, const std::string& path);

}  // namespace thalweg::bench::irregular
