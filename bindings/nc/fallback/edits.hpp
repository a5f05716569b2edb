// Changes of the definitions in files that have data, by netCDF-C on one rank.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "nc/definitions/definitions.hpp"
#include "nc/fallback/work_file.hpp"

namespace thalweg::nc {

// Changes the definitions in a file, or writes it anew if netCDF-C fails to rename dimensions or
// variables. If the process is killed meanwhile, either the old or the new file remains, and
// perhaps a copy, NAME.new, which the next change replaces. Called on one rank.
void edit_file(const std::string& path, const std::vector<Edit>& edits, const Table& table,
               bool netcdf4, WorkFile::Lock lock = WorkFile::Lock::take);

// Changes the definitions in a file that is lost if this fails. Called on one rank.
// @return false if nothing was changed, as the edits may need a new file
bool edit_in_place(const std::string& path, const std::vector<Edit>& edits, const Table& table);

}  // namespace thalweg::nc
