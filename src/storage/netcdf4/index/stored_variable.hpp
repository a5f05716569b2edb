// How HDF5 stores a variable of a netCDF-4 file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "definitions/definitions.hpp"
#include "storage/variable_storage.hpp"

namespace thalweg::detail {

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

/// Prefix that netCDF-C adds in HDF5 to the name of a variable that is named like a dimension, but
/// whose first dimension is another one (NetCDF-4 format specification, "Coordinate variables").
inline constexpr char other_name[] = "_nc4_non_coord_";

/// Returns the name of a variable in HDF5, with the prefix if the file has it.
inline std::string name_in_hdf5(hid_t file, const std::string& name) {
    const std::string other = other_name + name;
    return H5Lexists(file, other.c_str(), H5P_DEFAULT) > 0 ? other : name;
}

}  // namespace thalweg::detail
