// Checksums of a file's variables: added where it is written, compared where it is read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/team.hpp"
#include "reading/reader.hpp"
#include "restart/checksum.hpp"
#include "restart/registry.hpp"

namespace thalweg::detail {

/// A variable of a file under reading whose checksum is to be compared.
struct ExpectedChecksum {
    const Variable* own;
    const Holding* holding;  ///< of the model's array
    const ArrayView* view;
    int in_file;
    std::string text;  ///< of the attribute
};

/// Sets them as attributes. @param arrays  of the variables @note Collective
Status add_checksums(Team& team, std::span<const RegisteredArray> arrays, Definitions& definitions);

/// Compares what has been read with the checksums of the file. Where the arrays have not every
/// element as it is in the file, because no rank holds some or by conversion, the file is read
/// again. @note Collective
Status verify_checksums(Team& team, Reader& reader, const std::string& path,
                        std::span<const ExpectedChecksum> checks);

}  // namespace thalweg::detail
