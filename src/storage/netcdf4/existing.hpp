// What of a netCDF-4 file the library cannot write on, and why.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>

#include "definitions/packing.hpp"
#include "storage/netcdf4/contents.hpp"

namespace thalweg::detail {

/// Why the library cannot place data in a file with a user block; empty if the file has none.
std::string user_block_limit(hid_t file);

/// Why nothing can be added to a file at all; empty if it can.
std::string append_limit(hid_t file, const Definitions& definitions);

/// Why a variable cannot be written on, as far as it can be read; empty if it can.
/// @param record_dim  number of the record dimension; -1: there is none
std::string append_limit(hid_t set, const Variable& variable, const StoredVariable& stored,
                         int record_dim);

/// How a variable's elements are changed before they are written.
Packing packing_of(const Variable& variable, const StoredVariable& stored);

}  // namespace thalweg::detail
