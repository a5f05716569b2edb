// The contents of a netCDF-4 file, as its readers need to know them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "definitions/definitions.hpp"
#include "storage/netcdf4/index/stored_variable.hpp"
#include "storage/posix/opened_file.hpp"

namespace thalweg::detail {

/// Explains why a file cannot be appended to if one of its variables cannot be listed among the
/// definitions.
inline constexpr char unreadable_attributes[] = "netCDF-C cannot read the attributes of a variable";

struct Netcdf4Contents {
    Definitions definitions;  ///< definitions of the root group, without decompositions
    std::vector<StoredVariable> stored;
    std::int64_t records = 0;
    std::int64_t size = 0;  ///< size of the file in bytes, when the contents were read
    Format format = Format::netcdf4;
    int groups = 0;  ///< number of child groups of the root group
    /// Reason why nothing can be appended to the file; empty if appending is possible.
    std::string no_append;
    /// Name of a variable whose records cannot be read because it is in another group; empty if
    /// there is none.
    std::string other_records;
};

/**
 * Reads the contents of a file: the definitions by netCDF-C, the rest by HDF5. Variables and
 * attributes of types that netCDF's classic model does not have get the type 0; a single string is
 * text. The record dimension is the first one without a fixed length; other unlimited dimensions
 * have their present length. Local.
 * @return TW_OK, TW_EIO, TW_EFORMAT
 */
Status read_netcdf4_contents(const std::string& path, Netcdf4Contents& contents);

/// Does the same for an open file that another program may be writing. Checks that the path still
/// leads to this file, because netCDF-C opens it by its path.
/// @param opened  receives the identity of the file
Status read_steady_contents(const ReadFile& file, const std::string& path,
                            Netcdf4Contents& contents, OpenedFile& opened);

std::vector<char> to_bytes(const Netcdf4Contents& contents);
Netcdf4Contents netcdf4_contents_of(const std::vector<char>& bytes);

}  // namespace thalweg::detail
