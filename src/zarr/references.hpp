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

struct ReferenceOptions {
    /// Largest chunk in bytes, for data that can be cut freely.
    std::int64_t most_chunk = 16 << 20;
    /// Largest size in bytes of variables that are copied into the references; record variables are
    /// copied if a record has at most a thousandth of it. Readers need such variables from all
    /// files when they open them.
    std::int64_t copied = 64 << 10;
    std::vector<std::string> left_out;  ///< variables
    std::int64_t least_records = 0;     ///< do not write references for files with fewer records
    /// The references are for one file of a stream (ReferenceStream): chunks are cut so that files
    /// can be added.
    bool grows = false;
};

struct ReferencedFile {
    std::string path;  ///< path of the file, and its name in messages
    std::string data;  ///< present path
    std::string name;  ///< name of the file in the references
};

/**
 * Makes the references of a file, or of several that are joined along their record dimension, in
 * that order. All must have the same definitions, except for the number of records.
 * @param text  receives the JSON
 * @return TW_OK; TW_EMISMATCH, naming file and variable, if the files differ; TW_EUNSUPPORTED,
 *         naming the variable, if Zarr cannot express how its data are stored; TW_EIO; TW_EFORMAT
 */
Status make_references(std::span<const ReferencedFile> files, const ReferenceOptions& options,
                       std::string& text);

/// Returns the name by which references in the file `reference` refer to a file: its relative path.
/// @return TW_OK, TW_EARG (a path that JSON cannot contain), TW_EIO
Status reference_name(const std::string& file, const std::string& reference, std::string& name);

}  // namespace thalweg::detail
