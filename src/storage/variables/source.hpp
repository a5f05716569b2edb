// The source of a folder with one file per variable, read as if it were one file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/source.hpp"

namespace thalweg::detail {

/// Tests if the open file is a folder of netCDF files.
/// @param path  path of the folder
bool is_variable_folder(int fd, const std::string& path);

/// Opens a folder of netCDF files, one for each variable; see open_source().
std::unique_ptr<Source> open_variable_source(Comm& comm, const std::string& path, Status& status);

}  // namespace thalweg::detail
