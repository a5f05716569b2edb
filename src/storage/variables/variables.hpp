// Storage of one file per variable: NAME is a folder, with a netCDF file for each variable. Every
// file holds the global attributes, and the variables that belong to its own one by CF's
// conventions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/storage.hpp"

namespace thalweg::detail {

/// The driver's name for make_storage() and name().
inline constexpr char variable_storage[] = "variables";

/// The contents of the file of one variable.
struct VariableFile {
    std::string name;         ///< file name in the folder, without ".nc"
    Definitions definitions;  ///< the variable itself is the last one
    std::vector<int> of;      ///< index of each variable in the definitions of the whole data set
};

/// Returns the files of all variables, in the variables' order. All names differ, also on file
/// systems that ignore case; none has a character that is special to shells or Zarr.
std::vector<VariableFile> files_of_variables(const Definitions& definitions);

/// Tests if files_of_variables() may give a variable's file this name.
bool is_file_of(const std::string& name, const std::string& variable);

/// Returns the path of a variable's file in the folder at `path`.
std::string variable_path(const std::string& path, const std::string& name);

/// Makes a driver that writes each variable to all files that hold it.
std::unique_ptr<Storage> make_variable_storage();

}  // namespace thalweg::detail
