// Objects of a netCDF-4 file that its Definitions do not hold: for tools that must not overlook
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// A data set or an attribute of the root group that netCDF-C does not list, as it does not know
/// the type: h5py's booleans and complex numbers, for example.
struct UnlistedObject {
    std::string variable;   ///< name of the data set, or of the attribute's owner; empty: the file
    std::string attribute;  ///< name of the attribute; empty: the object is a data set
    std::string type;       ///< type and shape as text
    /// A hash of the values; empty if they cannot be compared.
    std::string content;
};

struct Inspection {
    bool netcdf4 = false;
    std::vector<std::string> unlimited;  ///< all unlimited dimensions of the root group
    std::vector<UnlistedObject> unlisted;
};

/// Inspects a file on this rank alone. Files of other formats give nothing.
/// @param with_contents  read the values of unlisted objects, to compare them
/// @return TW_OK, TW_EIO, TW_EFORMAT
Status inspect_netcdf4(const std::string& path, Inspection& inspection, bool with_contents = true);

/// Adds the bytes that variables occupy in a netCDF-4 file, from the index of their chunks. Files
/// of other formats, and variables that are not in the file, add nothing.
/// @param bytes  sizes of the variables in `names`
/// @return TW_OK, TW_EIO, TW_EFORMAT
Status add_stored_bytes(const std::string& path, const std::vector<std::string>& names,
                        std::vector<std::int64_t>& bytes);

}  // namespace thalweg::detail
