// SPDX-License-Identifier: Apache-2.0
#include "storage/chunked/band_store.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg::detail {

BandStore::BandStore(StoredChunks& chunks, const std::string& path, const Definitions& definitions,
                     const ChunkLayout& layout, IndexConvention wording, int threads,
                     std::int64_t memory, BandPlaces* in_file)
    : chunks_(chunks),
      path_(path),
      definitions_(definitions),
      layout_(layout),
      wording_(wording),
      packer_(definitions, layout.grids, layout.filters, threads, memory / 2),
      bands_(
          path_, definitions, layout.grids,
          [this](const Band& band, char* to) { return load(band, to); },
          [this](const Band& band, const char* elements) { return pack(band, elements); },
          [this](const Band& band, const char* elements, std::int64_t bytes) {
              return layout_.sparse[band.variable] != 0 &&
                     are_all(layout_.fills[band.variable], layout_.grids[band.variable].element,
                             elements, bytes) &&
                     is_new(band);
          },
          memory, in_file) {}

Status BandStore::end_unit(std::int64_t records, bool mark,
                           const std::function<bool(const Band&)>& passes) {
    const bool packs = mark || records > ended_;
    ended_ = std::max(ended_, records);
    const auto complete = [&](const Band& b) {
        return !definitions_.variables[b.variable].record ||
               (passes ? passes(b) : b.record < records);
    };
    Status status = packs ? bands_.pass_on(complete) : Status{};
    return status.ok() ? packer_.finish(take_) : status;
}

Status BandStore::pack(const Band& band, const char* elements) {
    if (definitions_.variables[band.variable].packing.quantize != Packing::Quantize::none) {
        const ChunkGrid& g = layout_.grids[band.variable];
        changed_.assign(elements, elements + g.records * g.elements_of(band.number) * g.element);
        if (Status s = quantize_changes(band, changed_.data()); !s.ok()) return s;
        elements = changed_.data();
    }
    const auto lacks = [&](std::int64_t number) {
        return layout_.sparse[band.variable] != 0 &&
               !chunks_.has(band.variable, band.record, number);
    };
    return packer_.pack_band(band.variable, band.record, band.number, elements, take_, lacks);
}

/// Quantizes the elements that have changed since the band was last packed. Elements that did not
/// change are left alone, as quantizing them again could change them.
Status BandStore::quantize_changes(const Band& band, char* elements) {
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
bool BandStore::is_new(const Band& band) const {
    const std::int64_t chunks = layout_.grids[band.variable].chunks_a_band();
    for (std::int64_t i = band.number * chunks; i < (band.number + 1) * chunks; ++i)
        if (chunks_.has(band.variable, band.record, i)) return false;
    return !packer_.waits(band.variable, band.record, band.number);
}

/// Reads the elements of a band as they were last packed; returns fill values for chunks that were
/// never packed.
Status BandStore::load(const Band& band, char* to) {
    const std::size_t v = band.variable;
    const ChunkGrid& g = layout_.grids[v];
    if (packer_.waits(band.variable, band.record, band.number))
        if (Status s = packer_.finish(take_); !s.ok()) return s;
    const auto give = [&](std::int64_t number, std::vector<char>& elements) -> Status {
        elements.resize(std::max<std::size_t>(elements.size(), g.chunk_bytes()));
        if (!chunks_.has(band.variable, band.record, number)) {
            fill_with(layout_.fills[v], g.element, elements.data(), g.chunk_bytes() / g.element);
            return {};
        }
        std::uint32_t skipped = 0;
        if (Status s = chunks_.get(band.variable, band.record, number, raw_, skipped); !s.ok())
            return s;
        if (!unpacker_) unpacker_.emplace();
        const char* wrong =
            unpacker_->undo(layout_.filters[v], skipped, raw_, g.chunk_bytes(), elements);
        if (wrong == nullptr) return {};
        return failure(TW_EIO, "{}: variable '{}', record {}: chunk {} is damaged: {}",
                       OfFile{path_}, OfVariable{definitions_.variables[v].name},
                       OfRecord{wording_.index(band.record)}, number, wrong);
    };
    return packer_.unpack_band(band.variable, band.number, to, give);
}

Status BandStore::cut(int variable, std::int64_t records) {
    const ChunkGrid& g = layout_.grids[variable];
    Band band{variable, g.first_record(records)};
    const std::int64_t kept = records - band.record;
    if (kept == 0) return {};
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
    return status.ok() ? packer_.finish(take_) : status;
}

}  // namespace thalweg::detail
