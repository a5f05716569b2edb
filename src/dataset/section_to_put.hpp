// Checks the section of a variable that is passed to tw_put_box, and converts it to a held part of
// each record.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"
#include "definitions/definitions.hpp"

namespace thalweg::detail {

struct SectionToPut {
    HeldBox held;   ///< elements of one record: a box or, if a stride is above 1, a list
    Index count{};  ///< number of elements along each dimension, without the record dimension
    std::int64_t first = 0, records = 1, step = 1;
    bool empty = false;  ///< the section has no elements

    std::int64_t last() const { return first + (records - 1) * step; }
    bool has(std::int64_t record) const {
        return record >= first && record <= last() && (record - first) % step == 0;
    }
    /// Computes the byte strides of the array with the elements of one record.
    /// @return size in bytes of a record in the array
    std::int64_t array_strides(std::int64_t element, Index& stride) const;
};

/// @param start, count, stride  entries for each dimension of the variable; stride may be null: 1
///                              in each
Status read_section(const Definitions& definitions, const Variable& variable,
                    const std::int64_t* start, const std::int64_t* count,
                    const std::int64_t* stride, Wording wording, SectionToPut& section);

}  // namespace thalweg::detail
