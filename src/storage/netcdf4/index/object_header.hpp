// Inspects blocks of HDF5's object headers (HDF5 file format specification, "Data Object Headers").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace thalweg::detail {

/// Tests if a block of an object header (the first one or a continuation) contains the length of a
/// data set. Returns true if the block cannot be parsed.
bool has_length(std::span<const char> block);

}  // namespace thalweg::detail
