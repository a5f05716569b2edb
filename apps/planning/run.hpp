// The description of a run: its output, how often it is written, and its machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/model.hpp"

namespace thalweg::planning {

/// Record variables with the same dimensions.
struct RunVariables {
    std::string name;
    std::int64_t count = 1;
    std::int64_t element = 4;  ///< bytes of an element
    /// Numbers of the dimensions in file order, without the record dimension.
    std::vector<int> dims;

    bool operator==(const RunVariables&) const = default;
};

/// A dimension, and the number of parts into which the decomposition cuts it.
struct Cuts {
    int dim = 0;
    std::int64_t parts = 1;

    bool operator==(const Cuts&) const = default;
};

struct Run {
    std::string file;  ///< path of the description
    std::string title;
    int ranks = 1, nodes = 1, cores = 1;  ///< numbers of ranks, nodes, and cores of a node
    std::int64_t memory = 0;              ///< bytes of memory of a node; 0: unknown
    double step_seconds = 0;              ///< computing time of a model step
    std::int64_t output_interval = 1;     ///< steps from one output to the next
    std::int64_t outputs = 1;
    std::int64_t outputs_per_file = 0;  ///< 0: all
    std::vector<std::string> dimensions;
    std::vector<std::int64_t> lengths;
    std::vector<Cuts> grid;  ///< the process grid, with consecutive ranks along the last dimension
    std::vector<RunVariables> variables;
    std::string writers = "auto";   ///< the setting `writers`
    std::string storage = "posix";  ///< posix, pnetcdf or netcdf4
    std::int64_t deflate = 0;       ///< the setting
    double stored = 1;              ///< compressed size as a fraction of the original size
    /// Mean number of consecutive indices in the ranks' lists; 0: they hold boxes.
    double list_run = 0;
    bool deferred = false;  ///< puts with TW_DEFERRED, which do not copy
    bool durable = false;
    Limits limits;
    /// Path of the calibration file; empty: the machine's figures are assumed.
    std::string calibration;
    detail::FileSystem file_system;
    std::int64_t stripe_size = -1;  ///< in bytes; -1: unknown
    Machine machine;
    Folder folder;

    bool operator==(const Run&) const = default;
    /// Tests if writers compress the chunks.
    bool compressed() const { return deflate > 0; }
    double compute() const { return step_seconds * output_interval; }
    std::vector<std::int64_t> shape(const RunVariables& v) const {
        std::vector<std::int64_t> shape;
        for (const int d : v.dims) shape.push_back(lengths[d]);
        return shape;
    }
};

/// Reads a description and the calibration file that it names (relative to its own folder).
/// @param calibration  replaces the named file; may be empty
/// @return TW_OK; TW_ENOTFOUND; TW_EIO; TW_ESETTING, which names the file and the key
detail::Status read_run(const std::string& path, const std::string& calibration, Run& run);

}  // namespace thalweg::planning
