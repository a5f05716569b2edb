// Storage of one file per variable: NAME is a folder, with a netCDF file for each variable. Besides
// its own variable, each file holds the global attributes and the variables that CF's conventions
// require to understand its own one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/storage.hpp"

namespace thalweg::detail {

/// Name of the driver, for make_storage().
inline constexpr char variable_storage[] = "variables";

/// The contents of one variable's file.
struct VariableFile {
    std::string name;         ///< file name in the folder, without ".nc"
    Definitions definitions;  ///< definitions of the file; its own variable is the last one
    std::vector<int> of;      ///< for each variable in the file, its number in the whole data set
};

/// Returns the files of all variables, in the order of the variables. All names differ, even on
/// file systems that ignore case, and contain no characters that are special in shells or Zarr.
std::vector<VariableFile> files_of_variables(const Definitions& definitions);

/// Tests if files_of_variables() may have chosen this name for a variable's file.
bool is_file_of(const std::string& name, const std::string& variable);

/// Returns the names of the netCDF files in a folder, sorted; empty if the folder cannot be read.
std::vector<std::string> netcdf_files(const std::string& path);

/// Tests if the open file is a folder of netCDF files.
/// @param path  path of the folder
bool is_variable_folder(int fd, const std::string& path);

/// Returns the path of a variable's file in the folder at `path`.
std::string variable_path(const std::string& path, const std::string& name);

/// Makes a driver that stores each variable in its own file, and also in the files of variables
/// that need it.
std::unique_ptr<Storage> make_variable_storage();

}  // namespace thalweg::detail
