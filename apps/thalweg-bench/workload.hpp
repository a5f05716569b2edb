// The variables of a model's output step and how its ranks hold them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.hpp"

namespace thalweg::bench {

enum class Element { f4, f8 };

constexpr std::int64_t element_bytes(Element e) { return e == Element::f4 ? 4 : 8; }

struct Dimension {
    std::string name;
    std::int64_t length;
    char role;  ///< 'x', 'y', 'z': set by --nx, --ny, --nz; '-': fixed length
};

/// Variables of the same shape. Dimensions are listed slowest first, without the record dimension
/// `time`, which comes first in the file.
struct VariableGroup {
    std::string prefix;
    int count;
    Element type;
    std::vector<std::string> file_order;    ///< empty: one value per step, the same on all ranks
    std::vector<std::string> memory_order;  ///< the same names in memory order
    bool main = false;                      ///< the group whose size --variables changes
};

/// The time that a model computes relative to its output, for measurements of overlap.
struct Pace {
    std::string output = "inline";  ///< kind of output to which `compute` is relative
    double compute = 2.6;           ///< computing time of a step, relative to that output
};

/// A workload: an entry of the tables in workloads_*.cpp, with the sizes of its paper.
struct Workload {
    std::string name;
    std::string text;
    std::vector<Dimension> dims;
    /// Axes of the process grid, each with the dimensions that it cuts (a variable has at most one
    /// of them). The first axis gets the most ranks. Ranks along an axis that a variable lacks
    /// divide its block along the first axis that it has.
    std::vector<std::vector<std::string>> axes;
    int cut_axes;         ///< number of axes that the default grid cuts
    std::size_t fastest;  ///< axis along which ranks have consecutive numbers
    std::vector<VariableGroup> groups;
    double scale = 1;   ///< default scale, for all dimensions except 'z'
    int variables = 0;  ///< default number of variables in the main group; 0: all
    Pace pace{};
    std::string cut{};  ///< description of the sizes that are smaller than in the paper
};

/// The following functions return the entries for one paper each.
std::vector<Workload> cam_workloads();
std::vector<Workload> cfio_workloads();
std::vector<Workload> cmaq_workloads();
std::vector<Workload> mom5_workloads();
/// Returns workloads that are not from any of the papers.
std::vector<Workload> unstructured_workloads();

const std::vector<Workload>& workloads();

/// Returns the entry for options.workload, with the sizes that the options request and with `cut`.
/// Throws UsageError.
Workload find_workload(const Options& options);

/// Returns the process grid, one factor per axis. Throws UsageError if their product is not
/// `ranks`.
std::vector<int> process_grid(const Workload& workload, const std::string& grid, int ranks);

/// Formats a line of a list: "  name      text".
std::string fmt_line(const std::string& name, const std::string& text);

}  // namespace thalweg::bench
