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
    std::int64_t most_chunk = 16 << 20;  ///< bytes, if the data can be cut freely
    /// Variables of at most so many bytes, and record variables with at most a thousandth of it per
    /// record, are copied into the references: readers need them from all files when they open
    /// them.
    std::int64_t copied = 64 << 10;
    std::vector<std::string> left_out;  ///< variables
    std::int64_t least_records = 0;     ///< files with fewer records get no text
    /// The references are those of one file of a stream, for ReferenceStream: cut so that files can
    /// be added.
    bool grows = false;
};

struct ReferencedFile {
    std::string path;  ///< name in messages
    std::string data;  ///< present path
    std::string name;  ///< name in the references
};

/**
 * Makes the references of a file, or of several that are joined along their record dimension, in
 * that order. All must have the same definitions, except for the number of records.
 * @param text  receives the JSON
 * @return TW_OK; TW_EMISMATCH, naming file and variable, if the files differ; TW_EUNSUPPORTED,
 *     naming the variable, if Zarr cannot express how its data lie; TW_EIO; TW_EFORMAT
 */
Status make_references(std::span<const ReferencedFile> files, const ReferenceOptions& options,
                       std::string& text);

/// Returns the name of a file in references that lie in `reference`: its relative path.
/// @return TW_OK, TW_EARG (a path that JSON cannot hold), TW_EIO
Status reference_name(const std::string& file, const std::string& reference, std::string& name);

}  // namespace thalweg::detail
