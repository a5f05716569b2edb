// Checksums of a file's variables: added when it is written, compared when it is read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/team.hpp"
#include "reading/reader.hpp"
#include "restart/checksum.hpp"
#include "restart/registry.hpp"

namespace thalweg::detail {

/// A variable in a file, with the checksum that is expected of it.
struct ExpectedChecksum {
    const Variable* own;
    const Holding* holding;  ///< holding of the model's array
    const ArrayView* view;
    int in_file;
    std::string text;  ///< text of the attribute
};

/// Adds the checksums of variables as attributes.
/// @param arrays  the arrays with their values
/// @note Collective
Status add_checksums(Team& team, std::span<const RegisteredArray> arrays, Definitions& definitions);

/// Compares the data that were read with the checksums in the file. Reads the file again if the
/// arrays lack elements that no rank holds, or hold converted values.
/// @note Collective
Status verify_checksums(Team& team, Reader& reader, const std::string& path,
                        std::span<const ExpectedChecksum> checks);

}  // namespace thalweg::detail
