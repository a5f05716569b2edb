// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "storage/storage.hpp"

/// Writes a whole record of a variable of type int.
inline thalweg::detail::Status write_record(thalweg::detail::Storage& storage,
                                            const thalweg::detail::FileMap& map,
                                            std::size_t variable, std::int64_t record,
                                            const std::vector<int>& values) {
    thalweg::detail::Chunk chunk;
    chunk.variable = static_cast<int>(variable);
    chunk.record = record;
    chunk.elements = std::ssize(values);
    chunk.offset = map.offset[variable] + record * map.record_bytes;
    chunk.data = reinterpret_cast<const char*>(values.data());
    chunk.bytes = chunk.elements * 4;
    return storage.write({&chunk, 1});
}
