// Sections of a variable that each rank gives by itself, over any records.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reading/read_context.hpp"

namespace thalweg::detail {

/// What tw_get_box is given; of all dimensions of the variable.
struct BoxWish {
    std::string name;
    int type = 0;
    const std::int64_t* start = nullptr;
    const std::int64_t* count = nullptr;
    const std::int64_t* stride = nullptr;  ///< null: all 1
    void* data = nullptr;
    int ndims = -1;  ///< of start, count and stride; -1: as many as the variable has
};

class Shelves;

/// @param shelves  which pause meanwhile
/// @note Collective; the same status on every rank
Status read_box(ReadContext& file, const Shelves& shelves, const BoxWish& wish);

}  // namespace thalweg::detail
