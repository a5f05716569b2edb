// Checksums of a file's variables: added when it is written, compared when it is read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/team.hpp"
#include "reading/reader.hpp"
#include "restart/checksum.hpp"
#include "restart/registry.hpp"

namespace thalweg::detail {

/// A variable of a file that is read, and its expected checksum.
struct ExpectedChecksum {
    const Variable* own;
    const Holding* holding;  ///< holding of the model's array
    const ArrayView* view;
    int in_file;
    std::string text;  ///< text of the attribute
};

/// Sets the checksums as attributes.
/// @param arrays  arrays of the variables
/// @note Collective
Status add_checksums(Team& team, std::span<const RegisteredArray> arrays, Definitions& definitions);

/// Compares the data that were read with the checksums of the file. If the arrays lack elements,
/// because no rank holds them, or were converted, the file is read again.
/// @note Collective
Status verify_checksums(Team& team, Reader& reader, const std::string& path,
                        std::span<const ExpectedChecksum> checks);

}  // namespace thalweg::detail
