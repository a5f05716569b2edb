// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunks/chunk_store.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>

namespace thalweg::detail {

ChunkStore::ChunkStore(ChunkPlacer& placer, Read read, std::string path,
                       const Definitions& definitions, const ChunkLayout& layout,
                       IndexConvention wording, int threads, std::int64_t memory)
    : placer_(placer),
      read_(std::move(read)),
      path_(std::move(path)),
      definitions_(definitions),
      layout_(layout),
      wording_(wording),
      packer_(definitions, layout.grids, layout.filters, threads, memory),
      bands_(
          path_, definitions, layout.grids,
          [this](const Band& band, char* to) { return load(band, to); },
          [this](const Band& band, const char* elements) { return pack(band, elements); }, memory) {
}

// ---- pieces of variables ------------------------------------------------------------------------

Status ChunkStore::end_unit(std::int64_t records, bool mark) {
    const bool packs = mark || records > ended_;
    ended_ = std::max(ended_, records);
    return catch_errors([&] {
        Status status;
        if (packs) status = bands_.pass_on(records);
        return status.ok() ? write_waiting() : status;
    });
}

/// Filters and writes the chunks that wait for it.
Status ChunkStore::write_waiting() {
    Status status = packer_.finish(take_);
    return status.ok() ? placer_.write_waiting() : status;
}

// ---- bands --------------------------------------------------------------------------------------

Status ChunkStore::pack(const Band& band, const char* elements) {
    if (definitions_.variables[band.variable].packing.quantize != Packing::Quantize::none) {
        const ChunkGrid& g = layout_.grids[band.variable];
        changed_.assign(elements, elements + g.records * g.elements_of(band.number) * g.element);
        if (Status s = quantize_changes(band, changed_.data()); !s.ok()) return s;
        elements = changed_.data();
    }
    const auto lacks = [&](std::int64_t number) {
        return layout_.sparse[band.variable] != 0 &&
               !placer_.has({band.variable, band.record, number});
    };
    return packer_.pack_band(band.variable, band.record, band.number, elements, take_, lacks);
}

/// Quantizes the elements that have changed since the band was last packed. Elements that did not
/// change are left alone, as quantizing them again could change them.
Status ChunkStore::quantize_changes(const Band& band, char* elements) {
    const ChunkGrid& g = layout_.grids[band.variable];
    const std::size_t size = g.element;
    const std::int64_t n = g.elements_of(band.number);
    if (is_new(band)) {
        for (std::int64_t r = 0; r < g.records; ++r)
            packer_.quantize_band(band.variable, band.number, elements + r * n * g.element);
        return {};
    }
    before_.resize(g.records * n * size);
    if (Status s = load(band, before_.data()); !s.ok()) return s;
    std::vector<char> same(n);
    for (std::int64_t r = 0; r < g.records; ++r) {
        char* const now = elements + r * n * g.element;
        const char* const old = before_.data() + r * n * g.element;
        for (std::size_t i = 0; i < same.size(); ++i)
            same[i] = std::memcmp(now + i * size, old + i * size, size) == 0;
        packer_.quantize_band(band.variable, band.number, now);
        for (std::size_t i = 0; i < same.size(); ++i)
            if (same[i]) std::memcpy(now + i * size, old + i * size, size);
    }
    return {};
}

/// Tests if no chunk of a band was packed before.
bool ChunkStore::is_new(const Band& band) const {
    const std::int64_t chunks = layout_.grids[band.variable].chunks_a_band();
    for (std::int64_t i = band.number * chunks; i < (band.number + 1) * chunks; ++i)
        if (placer_.has({band.variable, band.record, i})) return false;
    return !packer_.waits(band.variable, band.record, band.number);
}

/// Reads the elements of a band as they were last packed; returns fill values for chunks that were
/// never packed.
Status ChunkStore::load(const Band& band, char* to) {
    const std::size_t v = band.variable;
    const ChunkGrid& g = layout_.grids[v];
    if (packer_.waits(band.variable, band.record, band.number))
        if (Status s = packer_.finish(take_); !s.ok()) return s;
    const auto give = [&](std::int64_t number, std::vector<char>& elements) -> Status {
        PlacedChunk c{band.variable, band.record, number};
        elements.resize(std::max<std::size_t>(elements.size(), g.chunk_bytes()));
        if (!placer_.has(c)) {
            fill_with(layout_.fills[v], g.element, elements.data(), g.chunk_bytes() / g.element);
            return {};
        }
        if (!placer_.find(c, raw_)) {
            raw_.resize(c.bytes);
            Status status = read_(raw_.data(), c.bytes, c.address);
            if (!status.ok()) return status;
        }
        if (!unpacker_) unpacker_.emplace();
        const char* wrong =
            unpacker_->undo(layout_.filters[v], c.skipped, raw_, g.chunk_bytes(), elements);
        if (wrong == nullptr) return {};
        return failure(TW_EIO, "{}: variable '{}', record {}: the chunk at byte {} is damaged: {}",
                       OfFile{path_}, OfVariable{definitions_.variables[v].name},
                       OfRecord{wording_.index(band.record)}, c.address, wrong);
    };
    return packer_.unpack_band(band.variable, band.number, to, give);
}

Status ChunkStore::cut(int variable, std::int64_t records) {
    const ChunkGrid& g = layout_.grids[variable];
    Band band{variable, g.first_record(records)};
    const std::int64_t kept = records - band.record;
    if (kept == 0) return {};
    move_ = true;
    Status status;
    std::vector<char> elements;
    for (; band.number * g.band < g.elements() && status.ok(); ++band.number) {
        const std::int64_t n = g.elements_of(band.number);
        elements.resize(g.records * n * g.element);
        status = load(band, elements.data());
        fill_with(layout_.fills[variable], g.element, elements.data() + kept * n * g.element,
                  (g.records - kept) * n);
        if (status.ok())
            status = packer_.pack_band(variable, band.record, band.number, elements.data(), take_);
    }
    if (status.ok()) status = write_waiting();
    move_ = false;
    return status;
}

// ---- chunks -------------------------------------------------------------------------------------

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
