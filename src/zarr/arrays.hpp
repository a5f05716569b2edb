// Which Zarr arrays the variables of a file, or of several that are joined, become.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "zarr/metadata.hpp"
#include "zarr/references.hpp"

namespace thalweg::detail {

struct OpenFile {
    const ReferencedFile* file = nullptr;
    std::unique_ptr<Places> places;
    std::vector<int> variable;      ///< its own, of each of the first file's
    std::int64_t first_record = 0;  ///< of all files

    std::int64_t records() const { return places->source().records(); }
};

/// A variable as a Zarr array.
struct ReferencedArray {
    int variable = 0;  ///< of the first file
    std::int64_t bytes = 0;
    std::string why;         ///< it cannot be referred to
    bool copied = false;     ///< its data are in the references
    std::vector<char> data;  ///< those
    ZarrArray zarr;

    /// Of each dimension.
    std::vector<std::int64_t> chunks() const;
};

/// What must be the same of a variable in all files that are joined: its type, dimensions and byte
/// order (by the name ""), and the attributes that decide what values mean; as texts.
using Decisive = std::map<std::string, std::string>;
Decisive decisive_of(const Places& places, int variable);

/// How a variable differs from that of the first file, at `path`; empty if it does not.
std::string difference(const Decisive& first, const Decisive& other, const std::string& path);

/// @return TW_OK; TW_EDIFFERENT, TW_EUNSUPPORTED: files cannot be joined to this one
Status check_record_first(const OpenFile& file);

/// Opens files, all of which must have the first one's definitions.
/// @return TW_OK, TW_EDIFFERENT, and what open_places() returns
Status open_files(std::span<const ReferencedFile> files, std::vector<OpenFile>& open);

/// The arrays of all variables that are not left out, in the order of the first file, but for their
/// fill values and data.
/// @return TW_OK; TW_ENOTFOUND (a variable to leave out); TW_EIO (a file is too short);
///         TW_EUNSUPPORTED
Status plan_arrays(const std::vector<OpenFile>& files, const ReferenceOptions& options,
                   std::vector<ReferencedArray>& arrays);

/// Has the references hold the data of an array, if it is not too large.
bool copy_instead(ReferencedArray& array, bool record);

/// Of a record variable that is copied: records of a chunk.
std::int64_t copied_records(std::int64_t records, std::int64_t record_bytes);

/// Beyond so many references, which no reader of JSON likes, it is an error.
inline constexpr std::int64_t most_references = 1'000'000;

}  // namespace thalweg::detail
