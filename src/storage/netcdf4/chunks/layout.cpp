// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunks/layout.hpp"

#include "definitions/fill.hpp"
#include "storage/netcdf4/index/page.hpp"

namespace thalweg::detail {

void Netcdf4Layout::choose(const Definitions& definitions, std::int64_t writers) {
    const bool whole = needs_whole_chunks(definitions);
    const std::int64_t target = chunk_target(definitions, whole, writers);
    for (const Variable& v : definitions.variables) {
        chunks.grids.push_back(choose_grid(v, target));
        chunks.filters.push_back(filters_of(v.packing, v.element()));
        chunks.whole.push_back(whole && chunks.grids.back().chunked);
        chunks.fills.push_back(v.fill_value());
        // HDF5 gives nothing for a missing chunk of a variable without fill value.
        chunks.sparse.push_back(chunks.whole.back() != 0 && !has_no_fill(v));
        const ChunkGrid& g = chunks.grids.back();
        chunks.late.push_back(g.records > 1 && g.elements() * g.element > small_record);
    }
    rooms = Netcdf4Map(definitions, chunks.grids, chunks.whole);
}

void Netcdf4Layout::take(const Definitions& definitions, const Netcdf4Contents& contents) {
    std::vector<std::int64_t> addresses;
    for (const Variable& v : definitions.variables) {
        const StoredVariable& s = contents.stored[contents.definitions.find_variable(v.name)];
        const bool chunked = s.way == StoredVariable::Way::chunks;
        chunks.grids.push_back(
            grid_of(v, chunked ? std::span(s.chunk) : std::span<const std::int64_t>()));
        chunks.filters.push_back(s.filters);
        chunks.whole.push_back(chunked);
        chunks.fills.push_back(s.fill);
        chunks.sparse.push_back(0);
        chunks.late.push_back(0);
        addresses.push_back(s.address);
    }
    map = file_map(definitions, chunks.grids, chunks.whole, 0, addresses);
}

VariableStorage Netcdf4Layout::stored(const Variable& variable, std::size_t number) const {
    const ChunkGrid& g = chunks.grids[number];
    VariableStorage found;
    if (g.chunked) {
        if (variable.record) found.chunk.push_back(g.records);
        found.chunk.insert(found.chunk.end(), g.chunk.begin(), g.chunk.end());
    }
    found.filters = chunks.filters[number];
    return found;
}

void Netcdf4Layout::add_known(const Definitions& definitions, std::int64_t record,
                              std::vector<PlacedChunk>& to) const {
    for (std::size_t i = 0; i < chunks.grids.size(); ++i) {
        if (!definitions.variables[i].record || chunks.whole[i] != 0) continue;
        const ChunkGrid& g = chunks.grids[i];
        const std::int64_t bytes = g.chunk_bytes();
        const std::int64_t first = in_file(map.offset[i] + record * map.record_bytes);
        for (std::int64_t n = 0; n < g.chunks(); ++n)
            to.push_back({static_cast<std::int64_t>(i), record, n, first + n * bytes, bytes});
    }
}

std::vector<int> give_places(const Definitions& definitions, Netcdf4Contents& contents) {
    std::vector<int> unwritten;
    for (std::size_t i = 0; i < definitions.variables.size(); ++i) {
        const Variable& v = definitions.variables[i];
        StoredVariable& s = contents.stored[contents.definitions.find_variable(v.name)];
        if (s.way != StoredVariable::Way::range || s.address >= 0 || v.elements() == 0) continue;
        s.address = rounded(contents.size, 8);
        contents.size = s.address + v.elements() * v.element();
        unwritten.push_back(static_cast<int>(i));
    }
    return unwritten;
}

}  // namespace thalweg::detail
