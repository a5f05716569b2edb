// A file a variable: NAME is a folder, with a netCDF file for each variable. Every file holds the
// global attributes, and the variables that belong to its own one by CF's conventions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/storage.hpp"

namespace thalweg::detail {

/// What make_storage() and name() call the driver.
inline constexpr char variable_storage[] = "variables";

/// What the file of one variable holds.
struct VariableFile {
    std::string name;         ///< in the folder, without ".nc"
    Definitions definitions;  ///< its own variable is the last one
    std::vector<int> of;      ///< the number of each in the whole
};

/// The files of all variables, in their order. No two names are the same, also for file systems
/// that do not tell upper from lower case; none has a character that shells or Zarr take for more.
std::vector<VariableFile> files_of_variables(const Definitions& definitions);

/// Whether files_of_variables() may call a variable's file so.
bool is_file_of(const std::string& name, const std::string& variable);

/// In the folder at `path`.
std::string variable_path(const std::string& path, const std::string& name);

/// A driver that writes each variable to all files that hold it.
std::unique_ptr<Storage> make_variable_storage();

}  // namespace thalweg::detail
