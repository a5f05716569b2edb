// Joins the files of a set of tiles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "comm/comm.hpp"

namespace thalweg::app {

/**
 * Joins NAME.0000, NAME.0001, ... into one file, which is bit for bit the same as if it had been
 * written as one. The output has a temporary name until it is complete. Ranks take turns at pieces
 * of the output; a rank's memory is some MiB, whatever the sizes.
 * @param path    NAME, or one of the files
 * @param output  empty: NAME
 * @param common_records  join the records that all files have, if their numbers differ
 * @param done    receives a description of what was done
 * @return TW_OK; TW_EFORMAT (a file that belongs to no set, or not to this one); TW_EARG (the
 *         output is one of the files); TW_EUNSUPPORTED (netCDF-4); TW_EIO. The same on every rank
 * @note Collective
 */
detail::Status combine(detail::Comm& comm, const std::string& path, const std::string& output,
                       bool common_records, std::string& done);

}  // namespace thalweg::app
