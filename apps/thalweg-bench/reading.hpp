// The measurement of reading: a restart file of one record, taken by the ranks of a model.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "options.hpp"
#include "problem.hpp"
#include "run.hpp"

namespace thalweg::bench {

/// A way to read the file. It keeps what a model would keep. @note All functions are collective.
class ReadMethod {
public:
    virtual ~ReadMethod() = default;
    virtual void open(const std::string& path) = 0;
    /// Fills this rank's arrays.
    virtual void read() = 0;
    virtual void close() = 0;
};

/// Where a rank's fields go: laid out as the problem's own.
struct Arrays {
    const Problem& problem;
    std::byte* memory;

    void* of(const Variable& v) const {
        return memory + (static_cast<const std::byte*>(problem.values(v, 0)) - problem.memory());
    }
};

/// The files that a way can read.
enum class Reads { all, classic, netcdf4 };

struct ReadMethodInfo {
    const char* name;
    const char* text;
    Reads reads;
    bool fills;  ///< the arrays hold the fields afterwards
    std::unique_ptr<ReadMethod> (*make)(const Context& context, const Arrays& arrays);
};

const std::vector<ReadMethodInfo>& read_methods();

/// "thalweg-bench read ...". Throws UsageError.
Parsed parse_read_options(int argc, char** argv, Options& options, std::string& text);

/// Measures and reports; rows with "ratio_to_raw". @note Collective
nlohmann::ordered_json measure_reading(const Meeting& meeting, Problem& problem,
                                       const Options& options,
                                       const nlohmann::ordered_json& machine,
                                       const std::string& command, bool& good);

std::string reading_table(const nlohmann::ordered_json& report);

}  // namespace thalweg::bench
