// Maps of the data in a file: made in plain order, or broadcast.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/reserve.hpp"
#include "base/words.hpp"
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

std::vector<std::int64_t> words_of(const FileMap& map) {
    std::vector<std::int64_t> words{map.record_begin, map.record_bytes, map.fixed_end};
    words.insert(words.end(), map.offset.begin(), map.offset.end());
    words.insert(words.end(), map.padded.begin(), map.padded.end());
    std::vector<std::int64_t> grain = map.grain;
    grain.resize(map.offset.size());  // the vector is empty in maps without grains
    words.insert(words.end(), grain.begin(), grain.end());
    return words;
}

FileMap map_of(std::span<const std::int64_t> words) {
    FileMap map;
    map.record_begin = words[0];
    map.record_bytes = words[1];
    map.fixed_end = words[2];
    const std::ptrdiff_t n = (words.size() - 3) / 3;
    map.offset.assign(words.begin() + 3, words.begin() + 3 + n);
    map.padded.assign(words.begin() + 3 + n, words.begin() + 3 + 2 * n);
    map.grain.assign(words.begin() + 3 + 2 * n, words.end());
    return map;
}

void broadcast(Comm& comm, FileMap& map, int root) {
    std::vector<char> bytes;
    if (comm.rank() == root) with_reserve([&] { bytes = to_bytes(words_of(map)); });
    comm.broadcast(bytes, root);
    with_reserve([&] { map = map_of(to_words(bytes)); });
}

}  // namespace thalweg::detail
