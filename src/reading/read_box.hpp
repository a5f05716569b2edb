// Reads sections of a variable that each rank chooses by itself, over any records.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reading/read_context.hpp"

namespace thalweg::detail {

/// The arguments of tw_get_box, for all dimensions of the variable.
struct GetBoxArguments {
    std::string name;
    int type = 0;
    const std::int64_t* start = nullptr;
    const std::int64_t* count = nullptr;
    const std::int64_t* stride = nullptr;  ///< stride of each dimension; null: 1
    void* data = nullptr;
};

class ReadCaches;

/// @param read_caches  caches of the file, which are paused during the read
/// @note Collective; the same status on every rank
Status read_box(ReadContext& file, const ReadCaches& read_caches, const GetBoxArguments& arguments);

}  // namespace thalweg::detail
