// The objects of files that their readers do not show.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "inspect/inquiry.hpp"
#include "inspect/inspect.hpp"

namespace thalweg::app {

/// Returns the paths of the files that tw_open would read for a path: the tiles of a set, the files
/// in a folder, or the file itself.
std::vector<std::string> files_of(const std::string& path);

/// Inspects all files that tw_open would read for a path. If there are several, values of unlisted
/// objects cannot be compared.
/// @note Collective; the same result on every rank
detail::Status inspect(detail::Comm& comm, const std::string& path, Inspection& result);

/// Returns the unlimited dimensions of a file.
/// @param inspection  result of inspect() for the same file
Names unlimited_of(const Reader& file, const Inspection& inspection);

/// Formats the name of an object, for example "variable 'mask'" or "attribute 'mask:flag'".
std::string name_of(const UnlistedObject& object);

}  // namespace thalweg::app
