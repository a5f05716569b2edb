// Reasons why the library cannot append to a netCDF-4 file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>

#include "definitions/packing.hpp"
#include "storage/netcdf4/index/stored_variable.hpp"

namespace thalweg::detail {

/// Returns the reason why the library cannot append to a file with a user block; empty if the file
/// has none.
std::string user_block_limit(hid_t file);

/// Returns the reason why nothing can be appended to a file; empty if appending is possible.
std::string append_limit(hid_t file, const Definitions& definitions);

/// Returns the reason why a readable variable cannot be appended to; empty if appending is
/// possible.
/// @param record_dim  number of the record dimension; -1: there is none
std::string append_limit(hid_t set, const Variable& variable, const StoredVariable& stored,
                         int record_dim);

/// Returns the chunk lengths, filters and quantization for further elements of a variable.
Packing packing_of(const Variable& variable, const StoredVariable& stored);

}  // namespace thalweg::detail
