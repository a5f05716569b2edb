// References: a JSON file (kerchunk's, version 1) with the places of data in netCDF files, so that
// these can be read as one Zarr group (version 2) without a copy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/places.hpp"

namespace thalweg::detail {

struct JoinedReferences;

struct ReferenceOptions {
    /// Largest size in bytes of a chunk of data that can be divided anywhere.
    std::int64_t most_chunk = 16 << 20;
    /// Largest size in bytes of a variable whose data are copied into the references. A record
    /// variable is copied if each record has at most a thousandth of this size. Readers need such
    /// variables, for example coordinates, from all files when they open the references.
    std::int64_t copied = 64 << 10;
    std::vector<std::string> left_out;  ///< variables
    std::int64_t least_records = 0;     ///< do not write references for files with fewer records
    /// The references are for one file of a stream: chunks must stay the same
    /// when the file grows and others are added.
    bool grows = false;
};

struct ReferencedFile {
    std::string path;  ///< final path of the file, for messages
    std::string data;  ///< path at which the data are now
    std::string name;  ///< name by which the references refer to the file
};

/**
 * Makes the references for one file, or for several files that are joined along their record
 * dimension in the given order. All must have the same definitions, except for the number of
 * records.
 * @param made  receives the references; none if the first file has fewer than least_records
 * @return TW_OK; TW_EMISMATCH, naming file and variable, if the files differ; TW_EUNSUPPORTED,
 *     naming the variable, if Zarr cannot express how its data are stored; TW_EIO; TW_EFORMAT
 */
Status make_references(std::span<const ReferencedFile> files, const ReferenceOptions& options,
                       JoinedReferences& made);

/// Returns the name by which a references file, `reference`, refers to a data file: its relative
/// path.
/// @return TW_OK, TW_EARG (JSON cannot contain the path), TW_EIO
Status reference_name(const std::string& file, const std::string& reference, std::string& name);

}  // namespace thalweg::detail
