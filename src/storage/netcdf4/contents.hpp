// The contents of a netCDF-4 file, as its readers need to know them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "storage/chunked/filters.hpp"
#include "storage/posix/opened_file.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// Explains why a file cannot be appended to if one of its variables cannot be listed among the
/// definitions.
inline constexpr char unreadable_attributes[] = "netCDF-C cannot read the attributes of a variable";

/// The storage of a variable's elements in HDF5.
struct StoredVariable {
    enum class Way : char {
        none,    ///< the elements cannot be read; `why` is the reason
        range,   ///< one contiguous range of the file
        chunks,  ///< chunks whose filters the library undoes
        /// Only HDF5 can read and convert the elements; they are read in boxes, which take the
        /// place of chunks.
        hdf5,
    };
    Way way = Way::none;
    std::string why;
    std::string name;  ///< name of the data set in HDF5
    bool big_endian = false;
    std::int64_t address = -1;         ///< address of a range; -1: never written
    std::vector<std::int64_t> extent;  ///< shape of the data set, record dimension included
    bool chunked = false;              ///< the data set has chunks
    std::vector<std::int64_t> chunk;   ///< lengths of a chunk, or of a box to read
    std::vector<StoredFilter> filters;
    /// True if chunks that reach beyond the extent were stored without filters
    /// (H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS).
    bool unfiltered_edges = false;
    /// Values of elements that were never written (`fill`) and of elements beyond the extent
    /// (`beyond`), in the byte order in which elements are read.
    FillValue fill{}, beyond{};
    /// `fill` was set by the program that made the file; otherwise it is the default.
    bool chosen_fill = false;
    std::string no_append;  ///< reason why the variable cannot be appended to; empty if it can
};

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

/// Returns the name of a variable in HDF5: netCDF-C adds a prefix if the variable is named like a
/// dimension, but its first dimension is another one (NetCDF-4 format specification, "Coordinate
/// variables").
std::string name_in_hdf5(hid_t file, const std::string& name);

std::vector<char> to_bytes(const Netcdf4Contents& contents);
Netcdf4Contents netcdf4_contents_of(const std::vector<char>& bytes);

}  // namespace thalweg::detail
