// Types and values of HDF5 that netCDF does not know, in words and hashes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>

namespace thalweg::app {

/// Describes a type as text, with the names of its members.
std::string type_words(hid_t type);
/// Describes a shape as text: "(3, 4)", "(scalar)" or "(no elements)".
std::string shape_words(hid_t space);
/// Returns a hash of all values, the same in every byte order; empty if they cannot be read, or are
/// pointers into the file (references, lists of variable length).
std::string hash_of_data_set(hid_t set);
std::string hash_of_attribute(hid_t attribute);

}  // namespace thalweg::app
