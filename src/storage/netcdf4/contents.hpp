// What a netCDF-4 file holds, as its readers need to know it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "storage/chunked/filters.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// Why nothing can be added to a file with a variable that is not among the definitions.
inline constexpr char unreadable_attributes[] = "netCDF-C cannot read the attributes of a variable";

/// How HDF5 keeps the elements of a variable.
struct StoredVariable {
    enum class Way : char {
        none,    ///< they cannot be read: `why`
        range,   ///< side by side
        chunks,  ///< in chunks whose filters we undo
        hdf5,    ///< HDF5 reads them, in boxes that are taken for chunks, and converts them
    };
    Way way = Way::none;
    std::string why;
    std::string name;  ///< of the data set
    bool big_endian = false;
    std::int64_t address = -1;         ///< of a range; -1: never written
    std::vector<std::int64_t> extent;  ///< of the data set, the record dimension included
    bool chunked = false;              ///< in the file
    std::vector<std::int64_t> chunk;   ///< what is read at a time
    std::vector<StoredFilter> filters;
    /// Chunks that reach beyond the extent have no filters (H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS).
    bool unfiltered_edges = false;
    /// What stands for elements that were never written, and for those beyond the extent, in the
    /// byte order in which they are read.
    FillValue fill{}, beyond{};
    bool chosen_fill = false;  ///< the former is one that the file's program has chosen
    std::string no_append;     ///< why it cannot be written on; empty if it can
};

struct Netcdf4Contents {
    Definitions definitions;  ///< of the root group; without decompositions
    std::vector<StoredVariable> stored;
    std::int64_t records = 0;
    std::int64_t size = 0;  ///< of the file
    Format format = Format::netcdf4;
    int groups = 0;             ///< of the root group
    std::string no_append;      ///< why nothing can be added to the file; empty if it can
    std::string other_records;  ///< a variable with records that cannot be read; empty: none
};

/**
 * Reads them on this rank alone: the definitions by netCDF-C, the rest by HDF5. Variables and
 * attributes of types that netCDF's classic model does not know get the type 0; a single string is
 * text. The record dimension is the first one without a fixed length; others have the length they
 * have.
 * @return TW_OK, TW_EIO, TW_EFORMAT
 */
Status read_netcdf4_contents(const std::string& path, Netcdf4Contents& contents);

/// What a variable is called in a file of HDF5: netCDF-C gives another name to one that is called
/// as a dimension which is not its first (NetCDF-4 format specification, "Coordinate variables").
std::string name_in_hdf5(hid_t file, const std::string& name);

std::vector<char> to_bytes(const Netcdf4Contents& contents);
Netcdf4Contents netcdf4_contents_of(const std::vector<char>& bytes);

}  // namespace thalweg::detail
