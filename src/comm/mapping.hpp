// Mapping of shared memory into a process before it is used.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace thalweg::detail {

/// Maps pages of shared memory that other ranks touch, many at a time. Otherwise the first write to
/// each is a page fault of its own, which costs several times as much.
void map_pages(char* begin, std::size_t bytes);

}  // namespace thalweg::detail
