// The pack pass of a part of what a rank holds: dense, in file order, ready for a message or a
// queue.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"
#include "exchange/kernels.hpp"
#include "exchange/packers.hpp"

namespace thalweg::detail {

/// Packs what a held box has of a part of itself; of a list, in the order of its indices.
/// @param from  the first element of the held box; of a list, position 0
/// @param size  bytes of a packed element
/// @return values that did not fit
std::int64_t pack_part(Packers& packers, const HeldBox& held, const Box& part, Strided from,
                       char* to, RowKernel kernel, std::int64_t size, const char* fill);

}  // namespace thalweg::detail
