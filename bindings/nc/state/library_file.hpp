// The contents of a file that the library has open: definitions and storage.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <string>
#include <vector>

#include "nc/base/session.hpp"
#include "nc/definitions/definitions.hpp"

namespace thalweg::nc {

// Joins names of dimensions to a list for the library.
std::string joined(const std::vector<std::string>& names, std::size_t from = 0);

// Takes over the definitions of a file that is open for reading.
void adopt(Definitions& definitions, const Session& session, tw_file file);

// Makes the definitions of a file that is open for writing, and ends its define mode.
// @param existing  the file exists, so that its storage and its spacing are given
// @note Collective
void define(const Definitions& definitions, const Session& session, int root, tw_file file,
            bool existing);

// Returns the storage of a variable in a file that is read, or that was synced.
// @param path  path at which netCDF-C can read the file
Storage storage_in_file(const Variable& v, const Session& session, tw_file file,
                        const std::string& path);

// Returns the storage of a variable as netCDF-C reports it to the root.
// @note Collective
Storage storage_by_netcdf(const Variable& v, const Session& session, int root,
                          const std::string& path);

// Throws netCDF's errors if a section is not in a variable.
// @param stride  may be null
void check_section(const Definitions& definitions, const Variable& v, const Index* start,
                   const Index* count, const Index* stride, bool reading);

}  // namespace thalweg::nc
