// The source of a folder with a file a variable, read as if it were one file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/source.hpp"

namespace thalweg::detail {

/// Whether what is open is a folder that holds netCDF files. @param path  of it
bool is_variable_folder(int fd, const std::string& path);

/// See open_source.
std::unique_ptr<Source> open_variable_source(Comm& comm, const std::string& path, Status& status);

}  // namespace thalweg::detail
