// Finds elements that two boxes hold, without any rank seeing all boxes.
// SPDX-License-Identifier: Apache-2.0
#include "decomposition/decomposition.hpp"

#include <algorithm>
#include <map>

#include "base/words.hpp"

namespace thalweg::detail {

namespace {

/// Divides the space into a grid of at most `ranks` cells. Cells have about the shape of the
/// blocks, so that a block overlaps few of them. If there are fewer cells than blocks, cells are
/// divided along their longest side.
/// @param blocks  number of blocks, and the sums of their extents
Index make_grid(std::span<const std::int64_t> shape, std::span<const std::int64_t> blocks,
                int ranks) {
    Index cells{};
    std::int64_t n = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        cells[d] = 1;
        // Compute how many blocks of the mean extent fit side by side.
        const double extents = blocks[1 + d], count = blocks[0];
        const double side_by_side = shape[d] * count / std::max(extents, 1.0);
        while (2 * n <= ranks && 2 * cells[d] <= shape[d] && (2 * cells[d]) <= side_by_side) {
            cells[d] *= 2;
            n *= 2;
        }
    }
    for (; 2 * n <= std::min<std::int64_t>(ranks, blocks[0]); n *= 2) {
        std::size_t longest = 0;
        for (std::size_t d = 1; d < shape.size(); ++d)
            if (shape[d] * cells[longest] > shape[longest] * cells[d]) longest = d;
        if (2 * cells[longest] > shape[longest]) break;
        cells[longest] *= 2;
    }
    return cells;
}

struct Entry {
    Box box;
    int rank;
    int block;
};

Status compare(std::vector<Entry> entries, const Decomposition& d) {
    // Sweep along the dimension in which most blocks begin at different indices.
    int along = 0;
    std::size_t best = 0;
    for (int i = 0; i < d.nd(); ++i) {
        std::vector<std::int64_t> lows;
        for (const Entry& e : entries) lows.push_back(e.box.low[i]);
        std::sort(lows.begin(), lows.end());
        const std::size_t distinct = std::unique(lows.begin(), lows.end()) - lows.begin();
        if (distinct > best) {
            best = distinct;
            along = i;
        }
    }
    std::sort(entries.begin(), entries.end(), [along](const Entry& a, const Entry& b) {
        return a.box.low[along] < b.box.low[along];
    });
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& a = entries[i];
        for (std::size_t j = i + 1; j < entries.size(); ++j) {
            const Entry& b = entries[j];
            if (b.box.low[along] >= a.box.low[along] + a.box.count[along]) break;
            Box common;
            if (!intersect(a.box, b.box, common)) continue;
            std::vector<std::int64_t> at(common.low.begin(), common.low.begin() + d.nd());
            for (std::int64_t& x : at) x = d.wording.index(x);
            return failure(TW_EOVERLAP,
                           "element ({}) of ({}) is held by rank {}, block {}, and by rank {}, "
                           "block {}",
                           d.wording.list(at), d.wording.names(d.dims), OfRank{a.rank},
                           d.wording.index(a.block), b.rank, d.wording.index(b.block));
        }
    }
    return {};
}

/// Packs this rank's blocks for the ranks that own the cells which the blocks overlap.
std::vector<Packet> packets_of(const Decomposition& d, std::span<const std::int64_t> of_all,
                               int ranks) {
    const Index cells = make_grid(d.shape, of_all, ranks);
    const std::size_t nd = d.nd();
    std::map<int, std::vector<std::int64_t>> to_cell;
    auto cell_of = [&](std::size_t dim, std::int64_t index) {
        return std::min(cells[dim] - 1, index / ((d.shape[dim] + cells[dim] - 1) / cells[dim]));
    };
    for (std::size_t b = 0; b < d.blocks.size(); ++b) {
        const Box& box = d.blocks[b];
        if (box.volume() == 0) continue;
        Index first{}, last{};
        for (std::size_t i = 0; i < nd; ++i) {
            first[i] = cell_of(i, box.low[i]);
            last[i] = cell_of(i, box.low[i] + box.count[i] - 1);
        }
        Index at = first;
        for (;;) {
            auto& words = to_cell[linear({cells.data(), nd}, at)];
            words.push_back(b);
            words.insert(words.end(), box.low.begin(), box.low.begin() + d.nd());
            words.insert(words.end(), box.count.begin(), box.count.begin() + d.nd());
            int i = d.nd() - 1;
            while (i >= 0 && ++at[i] > last[i]) {
                at[i] = first[i];
                --i;
            }
            if (i < 0) break;
        }
    }
    std::vector<Packet> packets;
    for (const auto& [cell, words] : to_cell) packets.push_back({cell, to_bytes(words)});
    return packets;
}

std::vector<Entry> entries_of(const std::vector<Packet>& packets, const Decomposition& d) {
    const std::size_t nd = d.nd();
    std::vector<Entry> entries;
    for (const Packet& packet : packets) {
        const std::vector<std::int64_t> words = to_words(packet.bytes);
        for (std::size_t i = 0; i < words.size(); i += 1 + 2 * nd) {
            Entry entry;
            entry.rank = packet.rank;
            entry.block = words[i];
            entry.box.nd = d.nd();
            for (std::size_t k = 0; k < nd; ++k) {
                entry.box.low[k] = words[i + 1 + k];
                entry.box.count[k] = words[i + 1 + nd + k];
            }
            entries.push_back(entry);
        }
    }
    return entries;
}

}  // namespace

Status find_overlap(Comm& comm, const Decomposition& d, std::span<const std::int64_t> blocks) {
    bool have = true;
    const std::vector<Packet> packets = comm.exchange(packets_of(d, blocks, comm.size()), have);
    return have ? compare(entries_of(packets, d), d) : out_of_memory();
}

}  // namespace thalweg::detail
