// An array that a model gives for what it holds by a decomposition.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

struct ArrayToPut {
    int type = 0;
    const void* data = nullptr;
    std::int64_t n = 0;  ///< elements of a dense array
    int rank = 0;        ///< of a strided one, as are the next two
    const std::int64_t* extent = nullptr;
    const std::int64_t* byte_stride = nullptr;
    bool strided = false;
    bool deferred = false;  ///< it stays as it is until the ranks meet

    static ArrayToPut dense(int type, const void* data, std::int64_t n, bool deferred) {
        ArrayToPut array;
        array.type = type;
        array.data = data;
        array.n = n;
        array.deferred = deferred;
        return array;
    }
    static ArrayToPut with_strides(int type, const void* data, int rank, const std::int64_t* extent,
                                   const std::int64_t* byte_stride, bool deferred) {
        ArrayToPut array = dense(type, data, 0, deferred);
        array.rank = rank;
        array.extent = extent;
        array.byte_stride = byte_stride;
        array.strided = true;
        return array;
    }

    /// Whether it is this rank's part by a decomposition. @param view  receives it
    Status check(const Decomposition& d, ArrayView& view) const {
        view.data = static_cast<const char*>(data);
        view.type = static_cast<tw_type>(type);
        return strided ? check_strided(d, rank, extent, byte_stride, view)
                       : check_dense(d, n, view);
    }
    bool lacks_data(const Decomposition& d) const { return data == nullptr && d.stored > 0; }
};

}  // namespace thalweg::detail
