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
    char role;  ///< 'x', 'y' or 'z': length that --nx, --ny or --nz sets; '-': fixed length
};

/// Variables of the same shape. Dimensions are listed slowest first, without the record dimension
/// `time`, which comes first in the file.
struct VariableGroup {
    std::string prefix;
    int count;
    Element type;
    std::vector<std::string> file_order;    ///< names of the dimensions; empty: one value per step,
                                            ///< the same on all ranks
    std::vector<std::string> memory_order;  ///< the same names in memory order
    bool main = false;                      ///< the group has the number of variables that
                                            ///< --variables sets
};

/// The computing time of a model relative to its output time, for measurements of overlap.
struct Pace {
    std::string output = "inline";  ///< kind of output with which `compute` is compared
    double compute = 2.6;           ///< computing time of a step, divided by the time of that
                                    ///< output
};

/// A workload: an entry of the table in workload.cpp. Its sizes are those of its paper.
struct Workload {
    std::string name;
    std::string text;
    std::vector<Dimension> dims;
    /// Axes of the process grid, each with the dimensions that it divides; a variable has at most
    /// one of them. The first axis gets most ranks. If a variable lacks an axis, the ranks along
    /// that axis divide its block along the first axis that the variable has.
    std::vector<std::vector<std::string>> axes;
    int cut_axes;         ///< number of axes that the default grid divides
    std::size_t fastest;  ///< axis along which ranks have consecutive numbers
    std::vector<VariableGroup> groups;
    double scale = 1;   ///< default scale, for all dimensions except 'z'
    int variables = 0;  ///< default number of variables in the main group; 0: all
    Pace pace{};
    std::string cut{};        ///< description of the sizes that are smaller than in the paper
    Mode mode = Mode::write;  ///< the only measurement that knows the workload; write: all do
    std::string list{};       ///< kind of the generated lists by which ranks hold it (lists.hpp)
    bool flattened = false;   ///< lists are over all dimensions, also those that are held whole
    /// Height and width of the blocks of the last two dimensions that ranks get in turn, with a
    /// halo around each; 0: one block per rank.
    std::int64_t block[2] = {0, 0};
    int steps = 0;  ///< default number of steps; 0: as --steps says
    bool file_per_step = false;
};

const std::vector<Workload>& workloads();

/// Returns the entry for options.workload, with the sizes that the options request, and sets its
/// `cut`. Throws UsageError.
Workload find_workload(const Options& options);

/// Returns the workload of one of the maps "f", "g", "c" and "i" with about `elements` elements.
Workload map_workload(const std::string& kind, const Options& options);

/// Returns the process grid, one factor per axis. Throws UsageError if their product is not
/// `ranks`.
std::vector<int> process_grid(const Workload& workload, const std::string& grid, int ranks);

}  // namespace thalweg::bench
