// SPDX-License-Identifier: Apache-2.0
#include "decomposition/starts.hpp"

#include <algorithm>
#include <iterator>

#include "base/words.hpp"

namespace thalweg::detail {

namespace {

constexpr int starts_tag = 5;

/// Packs lists; each list becomes its length and its entries.
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
    if (own.empty()) return own;
    std::vector<char> bytes, room;
    std::vector<MPI_Request> sends;
    bool have = true;
    const auto act = [&](auto&& what) {
        have = have && alone([&]() -> Status {
                           what();
                           return {};
                       }).ok();
    };
    act([&] {
        room.resize(own.size() * (most + 1) * sizeof(std::int64_t));
        sends.reserve(1);
        for (auto& list : own) {
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
            thin(list, most);
        }
    });
    if (!comm.all_have(have)) throw NoMemoryAnywhere();
    // A rank that runs out of memory sends an empty message; its parents in the tree then do, too.
    const int rank = comm.rank();
    for (int bit = 1; bit < comm.size(); bit *= 2) {
        if ((rank & bit) != 0) {
            act([&] { bytes = packed(own); });
            sends.push_back(
                comm.start_send(bytes.data(), have ? bytes.size() : 0, rank - bit, starts_tag));
            comm.finish(sends);
            break;
        }
        if (rank + bit >= comm.size()) continue;
        const std::size_t n = comm.receive(room.data(), room.size(), rank + bit, starts_tag);
        have = have && n > 0;
        act([&] {
            const Starts theirs = unpacked(std::span(room).first(n), own.size());
            for (std::size_t i = 0; i < own.size(); ++i) {
                std::vector<std::int64_t> both;
                std::set_union(own[i].begin(), own[i].end(), theirs[i].begin(), theirs[i].end(),
                               std::back_inserter(both));
                thin(both, most);
                own[i] = std::move(both);
            }
        });
    }
    if (rank == 0) act([&] { bytes = packed(own); });
    if (!comm.all_have(have)) throw NoMemoryAnywhere();
    comm.broadcast(bytes, 0);
    act([&] { own = unpacked(bytes, own.size()); });
    if (!comm.all_have(have)) throw NoMemoryAnywhere();
    return own;
}

}  // namespace thalweg::detail
