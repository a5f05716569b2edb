// Joins the files of a set of tiles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "comm/comm.hpp"

namespace thalweg::app {

/**
 * Joins NAME.0000, NAME.0001, ... into one file, which is bit for bit the same as if it had been
 * written as a single file. The output has a temporary name until it is complete. Pieces of the
 * output are distributed over the ranks in turn; a rank needs some MiB of memory, whatever the
 * sizes.
 * @param path    NAME, or one of the files
 * @param output  path of the output; empty: NAME
 * @param common_records  if the files differ in their number of records, join the records that all
 *                        of them have
 * @param done    receives a description of what was done
 * @return TW_OK; TW_EFORMAT (a file does not belong to a set, or belongs to another one); TW_EARG
 *     (the output is one of the files); TW_EUNSUPPORTED (netCDF-4); TW_EIO. The same on every rank
 * @note Collective
 */
detail::Status combine(detail::Comm& comm, const std::string& path, const std::string& output,
                       bool common_records, std::string& done);

}  // namespace thalweg::app
