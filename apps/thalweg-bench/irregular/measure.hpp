// The measurement of index maps: every method writes the same variables, in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "irregular/methods.hpp"

namespace thalweg::bench::irregular {

struct Sample {
    double seconds = 0;       ///< steps and close, slowest rank
    double open_seconds = 0;  ///< create and define, slowest rank
    double cpu_seconds = 0;   ///< of all ranks, without open
};

struct Row {
    MethodInfo info;
    std::string share;  ///< what is whole and what is listed, in words
    std::string error;  ///< why it could not be measured
    std::vector<Sample> samples;
    std::vector<double> set_up_seconds;      ///< slowest rank
    std::vector<double> set_up_cpu;          ///< seconds of all ranks
    std::vector<std::int64_t> set_up_bytes;  ///< largest rank
    std::vector<double> set_up_to_list;      ///< bytes of all ranks / bytes of their lists
    double kept_to_list = 0;                 ///< likewise, kept once the file is defined
    std::int64_t peak_bytes = 0;
    std::int64_t file_bytes = 0;
    std::string details;
    bool verified = false;
    std::string wrong;  ///< what the verification found
};

/// One map with its rows.
struct MapResult {
    std::string name, text;
    std::vector<Dim> dims;
    std::int64_t held = 0, pieces = 0;
    int variables = 0, steps = 0;
    std::vector<Row> rows;

    std::int64_t elements() const;
    std::int64_t bytes() const;  ///< of a repetition
};

struct Measurement {
    std::vector<MapResult> maps;
    bool peaks_reset = true;
    bool good = true;
    int ranks = 1;
};

/// @note Collective
Measurement measure(const Meeting& meeting, const IrregularOptions& options);

/// Compares a file's variables with the fields, what no rank holds with the fill value if the file
/// is made of lists. Returns "" or, on every rank, what is wrong. @note Collective
std::string check_file(const Meeting& meeting, const IndexMap& map, bool lists, int variables,
                       int steps, const std::string& path);

}  // namespace thalweg::bench::irregular
