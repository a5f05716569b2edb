// References: a JSON file (kerchunk's, version 1) that tells where the data of netCDF files lie, so
// that they are read as one Zarr group (version 2) without a copy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/places.hpp"

namespace thalweg::detail {

struct ReferenceOptions {
    std::int64_t most_chunk = 16 << 20;  ///< bytes, where the data can be cut freely
    /// Variables of so few bytes, and record variables of a thousandth of it a record, are copied
    /// into the references: what readers need of all files when they open them.
    std::int64_t copied = 64 << 10;
    std::vector<std::string> left_out;  ///< variables
    std::int64_t least_records = 0;     ///< of files with fewer there is no text
    /// They are of one file of a stream, for ReferenceStream: cut so that others can be added.
    bool grows = false;
};

struct ReferencedFile {
    std::string path;  ///< what messages call it
    std::string data;  ///< where it is now
    std::string name;  ///< what the references call it
};

/**
 * Makes the references of a file, or of several that are joined along their record dimension, in
 * that order. All must have the same definitions but the number of records.
 * @param text  receives the JSON
 * @return TW_OK; TW_EMISMATCH, naming file and variable, if the files differ; TW_EUNSUPPORTED,
 *         naming the variable, if Zarr cannot express how its data lie; TW_EIO; TW_EFORMAT
 */
Status make_references(std::span<const ReferencedFile> files, const ReferenceOptions& options,
                       std::string& text);

/// What to call a file in references that lie in `reference`: by its relative path.
/// @return TW_OK, TW_EARG (a path that JSON cannot hold), TW_EIO
Status reference_name(const std::string& file, const std::string& reference, std::string& name);

}  // namespace thalweg::detail
