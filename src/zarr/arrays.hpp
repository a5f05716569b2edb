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
    /// Number of each variable in this file, by its number in the first file.
    std::vector<int> variable;

    std::int64_t records() const { return places->source().records(); }
};

/// A variable of the joined files as a Zarr array.
struct ReferencedArray {
    int variable = 0;  ///< number of the variable in the first file
    std::int64_t bytes = 0;
    /// Reason why no references to its data can be made; empty if they can.
    std::string why;
    bool copied = false;            ///< its data are copied into the references instead
    std::vector<std::string> data;  ///< copied data from each file that holds some
    bool big_endian = false;
    ArrayMembers zarr;

    /// Returns the number of chunks along each dimension.
    std::vector<std::int64_t> chunks() const;
};

/// Properties of a variable that must be the same in all joined files, as texts: type, dimensions
/// and byte order (under the name ""), and the attributes that determine what values mean.
using Decisive = std::map<std::string, std::string>;
Decisive decisive_of(const Places& places, int variable);

/// The decisive properties of all variables of a file, by name.
using DecisiveOfAll = std::map<std::string, Decisive>;

/// Checks that a file has the same variables as the first file.
/// @param first_path, path  paths of both files, for messages
/// @return TW_OK, TW_EDIFFERENT
Status check_alike(const DecisiveOfAll& first, const std::string& first_path,
                   const DecisiveOfAll& other, const std::string& path);

/// Checks that all record variables of a file have the record dimension first, so that other files
/// can be joined to it.
/// @return TW_OK; TW_EDIFFERENT, TW_EUNSUPPORTED: they cannot
Status check_record_first(const OpenFile& file);

/// Opens files, all of which must have the first one's definitions.
/// @return TW_OK, TW_EDIFFERENT, or an error of open_places()
Status open_files(std::span<const ReferencedFile> files, std::vector<OpenFile>& open);

/// Plans the arrays of all variables that are not left out, in the order of the first file. Does
/// not set fill values and copied data.
/// @return TW_OK; TW_ENOTFOUND (a variable to leave out does not exist); TW_EIO (a file is too
///     short); TW_EUNSUPPORTED
Status plan_arrays(const std::vector<OpenFile>& files, const ReferenceOptions& options,
                   std::vector<ReferencedArray>& arrays);

/// Decides that an array's data are copied into the references, if they are small enough. Returns
/// true if they are.
bool copy_instead(ReferencedArray& array, bool record);

/// Returns the number of records per chunk for a copied record variable.
std::int64_t copied_records(std::int64_t records, std::int64_t record_bytes);

/// Largest number of references. More of them are an error, because JSON readers cannot handle such
/// files well.
inline constexpr std::int64_t most_references = 1'000'000;

}  // namespace thalweg::detail
