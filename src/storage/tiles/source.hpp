// The source of a set of tiles, read as if it were one file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/source.hpp"

namespace thalweg::detail {

/// Opens a set of tiles; see open_source().
std::unique_ptr<Source> open_tile_source(Comm& comm, const std::string& path, Status& status);

}  // namespace thalweg::detail
