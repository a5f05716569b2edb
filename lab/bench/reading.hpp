// Measures reading: a restart file of one record, read by the ranks of a model.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fields.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "run.hpp"

namespace thalweg::bench {

/// A method of reading a file, with the state that a model would keep.
/// @note All functions are collective
class ReadMethod {
public:
    virtual ~ReadMethod() = default;
    virtual void open(const std::string& path) = 0;
    /// Fills this rank's arrays.
    virtual void read() = 0;
    virtual void close() = 0;
};

/// The formats that a method can read.
enum class Reads { all, classic, netcdf4 };

struct ReadMethodInfo {
    const char* name;
    const char* text;
    Reads reads;
    bool fills;  ///< after a read, the arrays contain the fields
    std::unique_ptr<ReadMethod> (*make)(const Context& context, const Arrays& arrays);
};

const std::vector<ReadMethodInfo>& read_methods();

struct ReadOptions {
    Options base;
    std::vector<int> ranks;  ///< numbers of ranks that are measured one after another; empty: all
                             ///< ranks
};

/// Parses "thalweg-bench read ...". Throws UsageError.
Parsed parse_read_options(int argc, char** argv, ReadOptions& options, std::string& text);

/// Measures and returns the report, with "ratio_to_raw" in its rows.
/// @note Collective
nlohmann::ordered_json measure_reading(const RankGroup& world, const ReadOptions& options,
                                       const nlohmann::ordered_json& machine,
                                       const std::string& command, bool& good);

std::string reading_table(const nlohmann::ordered_json& report);

}  // namespace thalweg::bench
