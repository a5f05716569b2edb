// Maps of the data in a file: made in plain order, or broadcast.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/reserve.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

FileMap plain_map(const Definitions& definitions, bool padded) {
    FileMap map;
    map.offset.resize(definitions.variables.size());
    map.padded.resize(definitions.variables.size());
    const auto records = std::count_if(definitions.variables.begin(), definitions.variables.end(),
                                       [](const Variable& v) { return v.record; });
    std::int64_t at = 0;
    for (const bool record : {false, true}) {
        if (record) map.fixed_end = map.record_begin = at;
        for (std::size_t i = 0; i < definitions.variables.size(); ++i) {
            const Variable& v = definitions.variables[i];
            if (v.record != record) continue;
            const std::int64_t bytes = v.elements() * v.element();
            map.offset[i] = at;
            map.padded[i] = !padded || (record && records == 1) ? bytes : (bytes + 3) / 4 * 4;
            at += map.padded[i];
        }
    }
    map.record_bytes = at - map.record_begin;
    return map;
}

void broadcast(Comm& comm, FileMap& map, int root) {
    std::vector<char> bytes;
    if (comm.rank() == root) bytes = with_reserve([&] { return message_of(map); });
    comm.broadcast(bytes, root);
    map = with_reserve([&] { return value_in<FileMap>(bytes); });
}

}  // namespace thalweg::detail
