// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunks/chunk_store.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace thalweg::detail {

ChunkStore::ChunkStore(ChunkPlacer& placer, Read read, Reserve reserve, const std::string& path,
                       const Definitions& definitions, const ChunkLayout& layout,
                       IndexConvention wording, int threads, std::int64_t memory)
    : placer_(placer),
      read_(std::move(read)),
      reserve_(std::move(reserve)),
      definitions_(definitions),
      layout_(layout),
      bands_(*this, path, definitions, layout, wording, threads, memory, this) {}

Status ChunkStore::end_unit(std::int64_t records, bool mark, bool all) {
    const std::int64_t before = layout_.in_chunks(bands_.ended());
    const std::int64_t now = layout_.in_chunks(records);
    const auto passes = [&](const Band& b) {
        if (all || now == records) return b.record < records;
        return b.record + layout_.grids[b.variable].records <= records ||
               (layout_.late[b.variable] == 0 && now > before && b.record < records);
    };
    return catch_errors([&] {
        Status status = bands_.end_unit(records, mark || (all && now < records), passes);
        return status.ok() ? placer_.write_waiting() : status;
    });
}

Status ChunkStore::cut(int variable, std::int64_t records) {
    move_ = true;
    Status status = bands_.cut(variable, records);
    if (status.ok()) status = placer_.write_waiting();
    move_ = false;
    return status;
}

Status ChunkStore::get(int variable, std::int64_t record, std::int64_t number,
                       std::vector<char>& raw, std::uint32_t& skipped) {
    PlacedChunk c{variable, record, number};
    const bool waits = placer_.find(c, raw);
    skipped = c.skipped;
    if (waits) return {};
    raw.resize(c.bytes);
    return read_(raw.data(), c.bytes, c.address);
}

std::int64_t ChunkStore::place(const Band& band, bool& is_new) {
    constexpr std::int64_t least = 4 << 10;  // bytes of a record that are worth a system call
    const ChunkGrid& g = layout_.grids[band.variable];
    const std::int64_t elements = g.elements_of(band.number);
    const bool as_is =
        layout_.filters[band.variable].empty() && g.in_order && elements == g.chunk_elements() &&
        elements * g.element >= least &&
        definitions_.variables[band.variable].packing.quantize == Packing::Quantize::none;
    if (!as_is || (sums_ != nullptr && sums_->on())) return -1;
    const std::int64_t at = placer_.place(chunk_of(band), is_new);
    if (at >= 0 && is_new) reserve_(at, g.chunk_bytes());
    return at;
}

/// Writes a chunk at its present place if possible; otherwise keeps it in memory until it has a new
/// one.
Status ChunkStore::put(int variable, std::int64_t record, std::int64_t number,
                       const FilteredChunk& chunk) {
    PlacedChunk placed{variable, record, number};
    if (sums_ != nullptr)
        if (Status s = sums_->note_stored(variable, record, number, chunk.data, chunk.bytes);
            !s.ok())
            return s;
    // Without filters a chunk has a fixed length, so overwrite it in place.
    Status status;
    const bool stays = layout_.filters[variable].empty() && !move_;
    if (stays && placer_.change(placed, chunk.data, status)) return status;
    placed.replaces = placer_.has(placed);
    placed.bytes = chunk.bytes;
    return placer_.put(placed, chunk.data);
}

std::vector<PlacedChunk> ChunkStore::take_placed(std::int64_t records) {
    const auto key = [](const PlacedChunk& c) { return std::tie(c.variable, c.record, c.number); };
    const auto before = [&](const PlacedChunk& a, const PlacedChunk& b) {
        if (key(a) != key(b)) return key(a) < key(b);
        return a.bytes == 0 && b.bytes > 0;
    };
    std::vector<PlacedChunk> taken = placer_.take_counted([&](const PlacedChunk& c) {
        return c.record < records || !definitions_.variables[c.variable].record;
    });
    std::stable_sort(taken.begin(), taken.end(), before);
    std::size_t n = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
        if (i + 1 == taken.size() || key(taken[i]) != key(taken[i + 1])) taken[n++] = taken[i];
    taken.resize(n);
    return taken;
}

}  // namespace thalweg::detail
