// What is written: the variables of a model's output step and how its ranks hold them.
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
    char role;  ///< 'x', 'y', 'z': set by --nx, --ny, --nz; '-': by none of them
};

/// Variables of one shape. Names of dimensions are listed slowest first; the record dimension
/// `time` comes before them in the file and is not listed.
struct VariableGroup {
    std::string prefix;
    int count;
    Element type;
    std::vector<std::string> file_order;    ///< empty: one value a step, the same on all ranks
    std::vector<std::string> memory_order;  ///< the same names
    bool main = false;                      ///< the group that --variables changes
};

/// How a model's computing compares with its output, for the overlap.
struct Pace {
    std::string output = "inline";  ///< the way of output of which `compute` is told
    double compute = 2.6;           ///< computing a step, in times of that output
};

/// A workload is one entry of the tables in workloads_*.cpp, in the size of the paper that it comes
/// from.
struct Workload {
    std::string name;
    std::string text;
    std::vector<Dimension> dims;
    /// Axes of the process grid, each with the dimensions it cuts (a variable has at most one of
    /// them). The first gets the most ranks. The ranks along an axis that a variable does not have
    /// share its block along the first axis that it has.
    std::vector<std::vector<std::string>> axes;
    int cut_axes;         ///< how many of the axes the default grid cuts
    std::size_t fastest;  ///< the axis along which neighbouring ranks lie
    std::vector<VariableGroup> groups;
    double scale = 1;   ///< by default, of all dimensions but 'z'
    int variables = 0;  ///< by default, of the main group; 0: all
    Pace pace{};
    std::string cut{};  ///< what is smaller than in the paper, in words
};

/// The entries, paper by paper.
std::vector<Workload> cam_workloads();
std::vector<Workload> cfio_workloads();
std::vector<Workload> cmaq_workloads();
std::vector<Workload> mom5_workloads();
/// In none of the papers.
std::vector<Workload> unstructured_workloads();

const std::vector<Workload>& workloads();

/// The entry of options.workload with the sizes that the options ask for, and `cut` filled in.
/// Throws UsageError.
Workload find_workload(const Options& options);

/// The process grid, one factor an axis. Throws UsageError if it does not have `ranks` members.
std::vector<int> process_grid(const Workload& workload, const std::string& grid, int ranks);

/// "  name      text" of a listing.
std::string fmt_line(const std::string& name, const std::string& text);

}  // namespace thalweg::bench
