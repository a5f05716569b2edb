// Measures rows: methods of writing or reading, each in turn, in repetitions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "methods/method.hpp"

namespace thalweg::bench {

/// A workload that rows write or read.
struct Case {
    Workload workload;
    int steps = 0;
    std::int64_t step_bytes = 0;
    double held = 0,
           pieces = 0;  ///< lists: elements that ranks hold, and runs of these in the file
};

/// A line of the report.
struct Row {
    std::string name;
    MethodInfo method;
    std::size_t which = 0;    ///< index of the case
    std::string computing{};  ///< sleep or arithmetic
    std::string service{};    ///< service of the library that the row is about; "": any
    int servers = 0;          ///< ranks in addition to the model's
    std::string settings{};   ///< of the library
    bool anew = false;        ///< each file is written in a session of its own

    std::map<std::string, std::vector<double>> samples{};  ///< figures of each repetition by name
    std::string error{};                                   ///< reason why the row was not measured
    std::string wrong{};                                   ///< what verification has found
    bool verified = false;
    nlohmann::ordered_json facts{};  ///< what else is known of the last file
    bool done = false;               ///< not repeated, because the first run took too long
};

struct Measurement {
    std::deque<Case> cases;
    std::vector<Row> rows;
    int ranks = 0;               ///< of the model
    double compute_seconds = 0;  ///< seconds of computing in a step
    double output_seconds = 0;   ///< seconds of a step's output without computing, if measured
    bool good = true;
};

/// Makes the cases and rows that the options ask for. Throws UsageError.
/// @note Collective
Measurement plan_rows(const RankGroup& world, const Options& options);

/// Measures the rows. Throws UsageError before anything is measured.
/// @note Collective
void measure(const RankGroup& world, const Options& options, Measurement& measurement);

}  // namespace thalweg::bench
