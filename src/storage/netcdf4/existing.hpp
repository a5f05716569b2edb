// Reasons why the library cannot append to a netCDF-4 file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>

#include "definitions/packing.hpp"
#include "storage/netcdf4/contents.hpp"

namespace thalweg::detail {

/// Returns the reason why the library cannot place data in a file with a user block; empty if the
/// file has none.
std::string user_block_limit(hid_t file);

/// Returns the reason why nothing can be added to a file at all, or an empty text.
std::string append_limit(hid_t file, const Definitions& definitions);

/// Returns the reason why a variable that can be read cannot be appended to, or an empty text.
/// @param record_dim  number of the record dimension; -1: there is none
std::string append_limit(hid_t set, const Variable& variable, const StoredVariable& stored,
                         int record_dim);

/// Returns the chunks, filters and quantization with which a variable's elements are written.
Packing packing_of(const Variable& variable, const StoredVariable& stored);

}  // namespace thalweg::detail
