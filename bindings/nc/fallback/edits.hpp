// Changes of the definitions in files that have data, by netCDF-C on one rank.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "nc/definitions/changes.hpp"
#include "nc/fallback/work_file.hpp"

namespace thalweg::nc {

// Changes the definitions in a file. If the process is killed meanwhile, either the old or the new
// file remains, and perhaps a copy, NAME.new, which the next change replaces. Called on one rank.
void edit_file(const std::string& path, const std::vector<Edit>& edits, const Table& table,
               bool netcdf4);

// Makes edits in the file `path` in place. Throws errors.
void make_edits_in_place(const std::string& path, const std::vector<Edit>& edits,
                         const Table& table);
bool has_renames(const std::vector<Edit>& edits);
// Makes edits in the copy of a file. NetCDF-C fails to rename some dimensions and variables, so
// then the copy is written anew.
void edit_copy(const std::string& path, const WorkFile& copy, const std::vector<Edit>& edits,
               const Table& table, bool netcdf4);

}  // namespace thalweg::nc
