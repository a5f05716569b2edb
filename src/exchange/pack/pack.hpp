// The packed form of a part: the boxes of its holding, one after another (Holding::packed), each
// dense in file order, in the type and byte order of the file. Copies, queues and messages use this
// form.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "exchange/pack/packers.hpp"
#include "exchange/part.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

// All functions named pack return the number of values that do not fit the variable's type.

/// Packs all values of a part.
std::int64_t pack(Packers& packers, const Variable& variable, Order order, const Part& part,
                  char* to);

/// Packs those values of boxes()[at] that lie in a smaller box.
std::int64_t pack(Packers& packers, const Variable& variable, Order order, const Part& part,
                  std::size_t at, const Box& box, char* to);

/// Returns the address of the values of a box that lies in part.boxes()[at], if they are in packed
/// form where they are; otherwise null.
const char* find_packed(const Variable& variable, Order order, const Part& part, std::size_t at,
                        const Box& box);

}  // namespace thalweg::detail
