// Objects of a netCDF-4 file that its Definitions do not hold: for tools that must not overlook
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::app {

/// A data set or an attribute of the root group that netCDF-C does not list, because its type is
/// unknown to netCDF-C. Examples are booleans and complex numbers of h5py.
struct UnlistedObject {
    /// Name of the data set, or of the variable with the attribute; empty for an attribute of the
    /// file.
    std::string variable;
    std::string attribute;  ///< name of the attribute; empty if the object is a data set
    std::string type;       ///< type and shape as text
    /// A hash of the values; empty if they cannot be compared between files.
    std::string content;
};

struct Inspection {
    bool netcdf4 = false;
    std::vector<std::string> unlimited;  ///< names of all unlimited dimensions in the root group
    std::vector<UnlistedObject> unlisted;
};

/// Inspects a netCDF-4 file. Local. For a file of another format the result is empty.
/// @param with_contents  read and hash the values of unlisted objects
/// @return TW_OK, TW_EIO, TW_EFORMAT
detail::Status inspect_netcdf4(const std::string& path, Inspection& inspection,
                               bool with_contents = true);

/// Adds up the bytes that variables occupy in a netCDF-4 file, according to the index of their
/// chunks. Files of other formats, and variables that are not in the file, add nothing.
/// @param bytes  for each variable in `names`, increased by its size in the file
/// @return TW_OK, TW_EIO, TW_EFORMAT
detail::Status add_stored_bytes(const std::string& path, const std::vector<std::string>& names,
                                std::vector<std::int64_t>& bytes);

}  // namespace thalweg::app
