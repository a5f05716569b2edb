// The contents of a file, and its state of writing, without reading its values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "publish/write_lock.hpp"
#include "storage/netcdf4/inspect.hpp"

namespace thalweg::app {

struct VariableFacts {
    std::string name, type;
    std::vector<std::string> dims;
    std::vector<std::int64_t> shape;  ///< slowest dimension first, including the record dimension
    std::int64_t bytes = 0;           ///< bytes of its values, without compression
    std::int64_t stored = 0;          ///< bytes that it occupies in the file
    /// Lengths of a chunk; empty if the variable is not stored in chunks.
    std::vector<std::int64_t> chunks;
    std::vector<std::string> filters;  ///< in the order in which they were applied
    std::string unreadable;            ///< reason why its values cannot be read; empty if they can
};

struct DimensionFacts {
    std::string name;
    std::int64_t length = 0;
    bool unlimited = false;
};

/// The state of a file.
enum class State {
    complete,
    writing,    ///< a process writes it
    abandoned,  ///< the run that wrote it ended before it closed the file
    truncated,  ///< data that its header promises are missing
};
/// Returns "complete", "writing", "abandoned" or "truncated".
const char* name_of(State state);

struct FileFacts {
    std::string own;   ///< path of the complete file
    std::string data;  ///< path that was read: `own`, or its temporary name
    std::string format;
    std::int64_t files = 1, bytes = 0;
    /// Numbers of rows and columns of the grid of tiles; 0: there is no grid.
    std::int64_t rows = 0, columns = 0;
    std::int64_t records = 0;
    std::int64_t attributes = 0, groups = 0;
    State state = State::complete;
    std::string damage;             ///< description of the data missing from a truncated file
    detail::LockHolder writer;      ///< process that writes this file, or one that will replace it
    std::vector<std::string> kept;  ///< unfinished files of earlier runs
    std::string references;         ///< path of the Zarr references beside it; empty: none
    bool zarr_store = false;        ///< the folder is a Zarr store as well
    std::vector<DimensionFacts> dims;
    std::vector<VariableFacts> variables;
    std::vector<detail::UnlistedObject> unlisted;  ///< objects of types that netCDF-C does not know
};

/**
 * Finds the facts of a file or a set of tiles. If there is no file of the name, inspects the one
 * that a run has not completed yet.
 * @return TW_OK, TW_EIO, TW_EFORMAT
 * @note Local
 */
detail::Status find_facts(const std::string& path, FileFacts& facts);

}  // namespace thalweg::app
