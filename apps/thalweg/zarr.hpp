// thalweg zarr: writes references by which existing files can be read as Zarr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "zarr/references.hpp"

namespace thalweg::app {

struct ZarrOptions {
    std::vector<std::string> files;
    std::string output;  ///< path of the references; empty: the name of the file with .json added
    bool absolute = false;
    detail::ReferenceOptions references;
};

/// Writes the references.
/// @param done   receives what was written
/// @param notes  receives what was left out although the user has not asked for it
/// @return the status of make_references(); TW_EARG, TW_EEXISTS
detail::Status write_zarr_references(const ZarrOptions& options, std::string& done,
                                     std::vector<std::string>& notes);

}  // namespace thalweg::app
