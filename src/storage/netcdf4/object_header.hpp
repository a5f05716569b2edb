// What a block of an HDF5 object header holds (HDF5 file format specification, "Data Object
// Headers").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace thalweg::detail {

/// Whether a block of a header, its first one or a continuation, tells how long a data set is. A
/// block that cannot be read is taken for one.
bool has_length(std::span<const char> block);

}  // namespace thalweg::detail
