// Parts: the values that this rank has put of a variable and record. They lie in the model's array,
// or packed in memory of the library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "exchange/holding.hpp"
#include "exchange/pack/kernels.hpp"

namespace thalweg::detail {

struct Part {
    int variable = 0;
    std::int64_t record = 0;  ///< 0 for fixed-size variables
    std::shared_ptr<const Holding> holding;
    ArrayView array;               ///< the model's array; used while `packed` is null
    const char* packed = nullptr;  ///< values in packed form, see pack(); null: they are in `array`

    bool has_any() const { return holding->elements > 0; }
    /// Returns the boxes of the holding in the order in which the values lie.
    std::span<const HeldBox> boxes() const {
        return packed != nullptr ? holding->packed : holding->held;
    }
    /// Returns the address of the first element of boxes()[at], or of position 0 of a list, and its
    /// byte strides in file order, like locate() of a decomposition.
    Strided locate(std::size_t at, std::int64_t element) const;
    /// Returns the kernel that converts the values to a file's type and byte order.
    RowKernel kernel(tw_type type, Order order) const {
        return packed != nullptr ? move_kernel(size_of(type))
                                 : pack_kernel(array.type, type, order);
    }
};

/// The values of a held box that were put: in file order, dense, in the byte order of the file.
struct PackedValues {
    int variable = 0;
    std::int64_t record = 0;  ///< record of a record variable
    HeldBox held;
    std::int64_t at = 0;  ///< offset of the values, in bytes from a base; see UnitPart::entries
    const char* data = nullptr;      ///< address of the values
    std::optional<Box> within = {};  ///< the part of `held` that was put; otherwise all of it
};

}  // namespace thalweg::detail
