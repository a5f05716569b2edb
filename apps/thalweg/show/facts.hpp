// The contents of a file, and its state of writing, without reading its values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "inspect/inspect.hpp"
#include "publish/write_lock.hpp"

namespace thalweg::app {

struct VariableFacts {
    std::string name, type;
    std::vector<std::string> dims;
    std::vector<std::int64_t> shape;  ///< lengths of the dimensions, slowest first, including the
                                      ///< record dimension
    std::int64_t bytes = 0;           ///< size of its values in bytes, without compression
    std::int64_t stored = 0;          ///< number of bytes that it occupies in the file
    /// Chunk lengths; empty if the variable is not chunked.
    std::vector<std::int64_t> chunks;
    std::vector<std::string> filters;  ///< filters in the order in which they were applied
    std::string unreadable;  ///< reason why its values cannot be read; empty if they can be read
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
    abandoned,  ///< the run that wrote the file ended before it closed the file
    truncated,  ///< data that the file's header promises are missing
};
/// Returns "complete", "writing", "abandoned" or "truncated".
const char* name_of(State state);

struct FileFacts {
    std::string own;   ///< path of the complete file
    std::string data;  ///< path that was read: `own`, or its temporary name
    std::string format;
    std::int64_t files = 1, bytes = 0;
    /// Numbers of rows and columns of the grid of tiles; 0 if there is no grid.
    std::int64_t rows = 0, columns = 0;
    std::int64_t records = 0;
    std::int64_t attributes = 0, groups = 0;
    State state = State::complete;
    std::string damage;             ///< description of the data that a truncated file lacks
    detail::LockHolder writer;      ///< process that writes this file, or a new file that will
                                    ///< replace it
    std::vector<std::string> kept;  ///< unfinished files of earlier runs
    std::string references;         ///< path of the Zarr references beside the file; empty if there
                                    ///< are none
    bool zarr_store = false;        ///< the folder is also a Zarr store
    std::vector<DimensionFacts> dims;
    std::vector<VariableFacts> variables;
    std::vector<UnlistedObject> unlisted;  ///< objects that netCDF-C does not list
};

/**
 * Finds the facts about a file or a set of tiles. If there is no file of this name, inspects the
 * unfinished file that has its temporary name.
 * @return TW_OK, TW_EIO, TW_EFORMAT
 * @note Local
 */
detail::Status find_facts(const std::string& path, FileFacts& facts);

}  // namespace thalweg::app
