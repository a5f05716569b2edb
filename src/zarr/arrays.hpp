// Plans the Zarr arrays for the variables of a file, or of several joined files.
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
    /// For each variable of the first file, its number in this file.
    std::vector<int> variable;
    std::int64_t first_record = 0;  ///< first record, counted over all files

    std::int64_t records() const { return places->source().records(); }
};

/// A variable as a Zarr array.
struct ReferencedArray {
    int variable = 0;  ///< number of the variable in the first file
    std::int64_t bytes = 0;
    /// Reason why references to it are impossible; empty if they are possible.
    std::string why;
    bool copied = false;     ///< its data are copied into the references
    std::vector<char> data;  ///< these data
    ZarrArray zarr;

    /// Returns the number of chunks along each dimension.
    std::vector<std::int64_t> chunks() const;
};

/// The properties, as texts, that a variable must have in common in all joined files: type,
/// dimensions and byte order (under the name ""), and the attributes that give values their
/// meaning.
using Decisive = std::map<std::string, std::string>;
Decisive decisive_of(const Places& places, int variable);

/// Describes how a variable differs from that of the first file, at `path`; empty if it does not.
std::string difference(const Decisive& first, const Decisive& other, const std::string& path);

/// Checks that other files can be joined to this one.
/// @return TW_OK; TW_EDIFFERENT, TW_EUNSUPPORTED: they cannot
Status check_record_first(const OpenFile& file);

/// Opens files, all of which must have the first one's definitions.
/// @return TW_OK, TW_EDIFFERENT, and what open_places() returns
Status open_files(std::span<const ReferencedFile> files, std::vector<OpenFile>& open);

/// Plans the arrays of all variables that are not left out, in the order of the first file. Does
/// not set fill values and copied data.
/// @return TW_OK; TW_ENOTFOUND (a variable to leave out); TW_EIO (a file is too short);
/// TW_EUNSUPPORTED
Status plan_arrays(const std::vector<OpenFile>& files, const ReferenceOptions& options,
                   std::vector<ReferencedArray>& arrays);

/// Copies an array's data into the references, if it is not too large.
bool copy_instead(ReferencedArray& array, bool record);

/// Returns the number of records per chunk for a copied record variable.
std::int64_t copied_records(std::int64_t records, std::int64_t record_bytes);

/// Largest number of references. More are an error, as JSON readers cannot handle them well.
inline constexpr std::int64_t most_references = 1'000'000;

}  // namespace thalweg::detail
