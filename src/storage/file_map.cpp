// Where the data of a file lies, handed from rank to rank.
// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "comm/reserve.hpp"
#include "comm/words.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

std::vector<std::int64_t> words_of(const FileMap& map) {
    std::vector<std::int64_t> words{map.record_begin, map.record_bytes, map.fixed_end};
    words.insert(words.end(), map.offset.begin(), map.offset.end());
    words.insert(words.end(), map.padded.begin(), map.padded.end());
    std::vector<std::int64_t> grain = map.grain;
    grain.resize(map.offset.size());  // of a map without, none
    words.insert(words.end(), grain.begin(), grain.end());
    return words;
}

FileMap map_of(std::span<const std::int64_t> words) {
    FileMap map;
    map.record_begin = words[0];
    map.record_bytes = words[1];
    map.fixed_end = words[2];
    const auto n = static_cast<std::ptrdiff_t>((words.size() - 3) / 3);
    map.offset.assign(words.begin() + 3, words.begin() + 3 + n);
    map.padded.assign(words.begin() + 3 + n, words.begin() + 3 + 2 * n);
    map.grain.assign(words.begin() + 3 + 2 * n, words.end());
    return map;
}

void broadcast(Comm& comm, FileMap& map, int root) {
    std::vector<char> bytes;
    Status status = alone([&]() -> Status {
        if (comm.rank() == root) bytes = to_bytes(words_of(map));
        return {};
    });
    if (!agree(comm, status).ok()) throw NoMemoryAnywhere();
    comm.broadcast(bytes, root);
    status = alone([&]() -> Status {
        map = map_of(to_words(bytes));
        return {};
    });
    if (!agree(comm, status).ok()) throw NoMemoryAnywhere();
}

}  // namespace thalweg::detail
