// Measures index maps: every method writes the same variables, in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "irregular/methods.hpp"

namespace thalweg::bench::irregular {

struct Sample {
    double seconds = 0;       ///< steps and close, on the slowest rank
    double open_seconds = 0;  ///< creating and defining the file, on the slowest rank
    double cpu_seconds = 0;   ///< sum over all ranks, without opening the file
};

struct Row {
    MethodInfo info;
    std::string share;  ///< description of the listed and the whole dimensions
    std::string error;  ///< reason why it could not be measured; empty if it was
    std::vector<Sample> samples;
    std::vector<double> set_up_seconds;      ///< on the slowest rank
    std::vector<double> set_up_cpu;          ///< sum over all ranks
    std::vector<std::int64_t> set_up_bytes;  ///< on the rank that needs the most
    /// Bytes of all ranks, relative to those of their lists.
    std::vector<double> set_up_to_list;
    double kept_to_list = 0;  ///< the same for the bytes kept after the definitions
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
Measurement measure(const Meeting& meeting, const IrregularOptions& options);

/// Checks that a file's variables equal the fields. If it is made from lists, also checks that the
/// elements that no rank holds equal the fill value.
/// @return the difference, or an empty text; the same on every rank
/// @note Collective
std::string check_file(const Meeting& meeting, const IndexMap& map, bool lists, int variables,
                       int steps, const std::string& path);

}  // namespace thalweg::bench::irregular
