// The description of a run: its output, how often it is written, and its machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/model.hpp"

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

/// A dimension, and the number of parts into which the decomposition divides it.
struct Cuts {
    int dim = 0;
    std::int64_t parts = 1;

    bool operator==(const Cuts&) const = default;
};

struct Run {
    std::string file;  ///< path of the description
    std::string title;
    int ranks = 1, nodes = 1, cores = 1;  ///< numbers of ranks and of nodes, and of the cores of a
                                          ///< node
    std::int64_t memory = 0;              ///< memory of a node in bytes; 0: unknown
    double step_seconds = 0;              ///< seconds of computing in a model step
    std::int64_t output_interval = 1;     ///< number of steps from one output to the next
    std::int64_t outputs = 1;
    std::int64_t outputs_per_file = 0;  ///< 0: all in one file
    std::vector<std::string> dimensions;
    std::vector<std::int64_t> lengths;
    std::vector<Cuts> grid;  ///< the process grid; neighbours along the last dimension have
                             ///< consecutive ranks
    std::vector<RunVariables> variables;
    std::string writers = "auto";   ///< value of the setting "writers"
    std::string storage = "posix";  ///< posix, pnetcdf or netcdf4
    std::int64_t deflate = 0;       ///< value of the setting "deflate"
    double stored = 1;              ///< compressed size as a fraction of the original size
    /// Mean number of consecutive indices in the ranks' lists; 0 if they hold boxes.
    double list_run = 0;
    bool deferred = false;  ///< puts are deferred (TW_DEFERRED) and do not copy
    bool durable = false;
    Limits limits;
    /// Path of the calibration file; empty if the machine's figures are assumed.
    std::string calibration;
    detail::FileSystem file_system;
    std::int64_t stripe_size = -1;  ///< stripe size in bytes; -1: unknown
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

/// Reads a description of a run, and the calibration file that it names, relative to the
/// description's folder.
/// @param calibration  path of a calibration file to use in place of the named one; may be empty
/// @return TW_OK; TW_ENOTFOUND; TW_EIO; TW_ESETTING, with the file and the key
detail::Status read_run(const std::string& path, const std::string& calibration, Run& run);

}  // namespace thalweg::planning
