// The run whose output is planned, as lab/plan/description.py checked it, and ways to write a step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "storage/posix/file_system.hpp"

namespace thalweg::planning {

/// Record variables with the same dimensions.
struct RunVariables {
    std::int64_t count = 1;
    std::int64_t element = 4;  ///< bytes of an element
    /// Numbers of the dimensions in file order, without the record dimension.
    std::vector<int> dims;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(RunVariables, count, element, dims)
};

/// An axis of the process grid: a dimension, and the number of parts into which it is divided.
struct Cuts {
    int dim = 0;
    std::int64_t parts = 1;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Cuts, dim, parts)
};

struct Run {
    int ranks = 1, nodes = 1;
    int cores = 1;  ///< cores of a node
    std::int64_t outputs = 1;
    std::int64_t outputs_per_file = 0;  ///< 0: all in one file
    std::vector<std::int64_t> lengths;  ///< lengths of the dimensions
    std::vector<Cuts> grid;  ///< axes; neighbours along the last one have consecutive ranks
    std::vector<RunVariables> variables;
    std::string writers;            ///< value of the setting "writers"
    std::string storage;            ///< posix, pnetcdf or netcdf4
    std::string file_system;        ///< name as in FileSystem::name
    std::int64_t stripe_size = -1;  ///< stripe size in bytes; -1: unknown
    bool compressed = false;        ///< writers compress the chunks
    double stored = 1;              ///< compressed size as a fraction of the original size
    /// Mean number of consecutive indices in the ranks' lists; 0 if they hold boxes.
    double list_run = 0;
    bool deferred = false;  ///< puts are deferred (TW_DEFERRED) and do not copy
    bool durable = false;
    double buffer = 0, staging = 0, piece = 0;  ///< settings that limit memory, in bytes
    NLOHMANN_DEFINE_TYPE_INTRUSIVE_WITH_DEFAULT(Run, ranks, nodes, cores, outputs, outputs_per_file,
                                                lengths, grid, variables, writers, storage,
                                                file_system, stripe_size, compressed, stored,
                                                list_run, deferred, durable, buffer, staging, piece)

    std::vector<std::int64_t> shape(const RunVariables& v) const {
        std::vector<std::int64_t> shape;
        for (const int d : v.dims) shape.push_back(lengths[d]);
        return shape;
    }
    /// Returns the file system; the name must be known.
    detail::FileSystem system() const {
        detail::FileSystem found;
        (void)detail::file_system_named(file_system, found);
        return found;
    }
};

/// A way to write a step.
struct Way {
    std::string method{};
    bool own_files = false;  ///< each tile is a separate file
    std::string writers{};   ///< "N" or "N/node"; auto: the library's choice
    int servers = 0;         ///< number of servers; 0: ranks of the model write
    bool queued = false;     ///< true: a service writes; false: the model's calls write
    NLOHMANN_DEFINE_TYPE_INTRUSIVE_WITH_DEFAULT(Way, method, own_files, writers, servers, queued)
};

}  // namespace thalweg::planning
