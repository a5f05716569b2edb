// Makes a folder with one file per variable a Zarr store of version 3: every file is the only shard
// of its array. The shard's index lies after netCDF's data, where netCDF readers do not look.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/**
 * Moves each file NAME.nc to NAME/c.0.0 (with a zero for each dimension) and leaves a link in its
 * place. Then writes Zarr's metadata, those of the folder last. The files must be complete and have
 * a classic format.
 * @param definitions  definitions of all variables
 * @return TW_OK, TW_EIO, TW_EFORMAT
 */
Status make_zarr_store(const std::string& folder, const Definitions& definitions, bool durable);

}  // namespace thalweg::detail
