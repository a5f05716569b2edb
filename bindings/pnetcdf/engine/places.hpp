// The addresses of the header and data in a classic file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "nc/definitions/table.hpp"
#include "storage/header_padding.hpp"

namespace thalweg::pnetcdf::engine {

struct Places {
    nc::Index header = 0, extent = 0, record_bytes = 0;
    nc::Index fixed_end = 0;       // end of the fixed-size variables; set by places_of()
    std::vector<nc::Index> begin;  // address of each variable's data
};

// Returns the addresses that the library gives to the data of a new file.
// @param format  NC_FORMAT_*
Places places_of(const nc::Table& table, int format, const detail::HeaderPadding& spacing);

// Reads the addresses from the header of a file. Throws on errors.
Places read_places(const std::string& path);

}  // namespace thalweg::pnetcdf::engine
