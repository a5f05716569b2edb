// The objects of files that their readers do not show.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "inquiry.hpp"
#include "storage/netcdf4/inspect.hpp"

namespace thalweg::app {

/// Returns the paths of the files that make up a file for tw_open: those of a set of tiles, or of a
/// folder.
std::vector<std::string> files_of(const std::string& path);

/// Inspects all files that make up a file. The values of unlisted objects in several files cannot
/// be compared.
/// @note Collective; the same result on every rank
detail::Status inspect(detail::Comm& comm, const std::string& path, detail::Inspection& result);

/// Returns the unlimited dimensions of a file.
/// @param inspection  result of inspect() for the same file
Names unlimited_of(const Reader& file, const detail::Inspection& inspection);

/// Formats an object: "variable 'mask'" or "attribute 'mask:flag'".
std::string name_of(const detail::UnlistedObject& object);

}  // namespace thalweg::app
