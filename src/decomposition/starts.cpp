// SPDX-License-Identifier: Apache-2.0
#include "decomposition/starts.hpp"

#include <algorithm>
#include <iterator>

#include "comm/words.hpp"

namespace thalweg::detail {

namespace {

constexpr int starts_tag = 5;

/// Each list as its length and its entries.
std::vector<char> packed(const Starts& lists) {
    std::vector<std::int64_t> words;
    for (const auto& list : lists) {
        words.push_back(list.size());
        words.insert(words.end(), list.begin(), list.end());
    }
    return to_bytes(words);
}

Starts unpacked(std::span<const char> bytes, std::size_t lists) {
    const std::vector<std::int64_t> words = to_words(bytes);
    Starts result;
    auto at = words.begin();
    for (std::size_t i = 0; i < lists; ++i) {
        const std::int64_t n = *at++;
        result.emplace_back(at, at + n);
        at += n;
    }
    return result;
}

void thin(std::vector<std::int64_t>& list, std::size_t most) {
    while (list.size() > most) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < list.size(); i += 2) list[kept++] = list[i];
        list.resize(kept);
    }
}

}  // namespace

Starts unite_starts(Comm& comm, Starts own, std::size_t most) {
    for (auto& list : own) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        thin(list, most);
    }
    const int rank = comm.rank();
    for (int bit = 1; bit < comm.size(); bit *= 2) {
        if ((rank & bit) != 0) {
            const std::vector<char> bytes = packed(own);
            std::vector<MPI_Request> sends{
                comm.start_send(bytes.data(), bytes.size(), rank - bit, starts_tag)};
            comm.finish(sends);
            break;
        }
        if (rank + bit >= comm.size()) continue;
        std::vector<char> bytes(own.size() * (most + 1) * sizeof(std::int64_t));
        bytes.resize(comm.receive(bytes.data(), bytes.size(), rank + bit, starts_tag));
        const Starts theirs = unpacked(bytes, own.size());
        for (std::size_t i = 0; i < own.size(); ++i) {
            std::vector<std::int64_t> both;
            std::set_union(own[i].begin(), own[i].end(), theirs[i].begin(), theirs[i].end(),
                           std::back_inserter(both));
            thin(both, most);
            own[i] = std::move(both);
        }
    }
    std::vector<char> bytes = packed(own);
    comm.broadcast(bytes, 0);
    return unpacked(bytes, own.size());
}

}  // namespace thalweg::detail
