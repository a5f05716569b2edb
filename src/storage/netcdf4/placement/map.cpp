// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/placement/map.hpp"

#include <algorithm>

namespace thalweg::detail {

namespace {

constexpr std::int64_t aligned = 8;
constexpr std::int64_t most_at_once = 1 << 20;

/// Returns the size in bytes of a node in HDF5's chunk index (file format specification, "Version 1
/// B-trees"). A node has 64 entries; the key of an entry consists of a size, a mask, an offset in
/// each dimension and one further offset.
std::int64_t node_bytes(const Variable& v) {
    const std::int64_t key = 8 + 8 * (v.dims.size() + 1);
    return rounded(24 + 65 * key + 64 * 8, page);
}

/// Returns the size in bytes of the index for a number of chunks. Chunks are added in order, so
/// HDF5 begins the next node when one is about nine tenths full.
std::int64_t index_bytes(const Variable& v, std::int64_t chunks) {
    return (chunks / 40 + 2) * node_bytes(v);
}

}  // namespace

Netcdf4Map::Netcdf4Map(const Definitions& d, std::span<const ChunkGrid> grids,
                       std::span<const char> packed) {
    std::int64_t chunks = 0;
    first_room_ = 16 * page;
    for (std::size_t i = 0; i < grids.size(); ++i) {
        if (!grids[i].chunked) continue;
        std::int64_t bytes = d.variables[i].record ? 2 * node_bytes(d.variables[i])
                                                   : index_bytes(d.variables[i], grids[i].chunks());
        // There may be fewer chunks, and more room can be had later.
        if (packed[i]) bytes = std::min(bytes, most_at_once);
        if (const std::int64_t n = d.variables[i].packing.cmip7; n > 0)
            bytes = std::max(
                bytes,
                index_bytes(d.variables[i], (d.variables[i].record ? n / grids[i].records + 1 : 1) *
                                                grids[i].chunks()));
        first_room_ += bytes;
        if (d.variables[i].record && !packed[i]) chunks += grids[i].chunks();
    }
    group_ = std::max<std::int64_t>(1, 1024 / std::max<std::int64_t>(1, chunks));
    for (std::size_t i = 0; i < grids.size(); ++i)
        if (d.variables[i].record && !packed[i])
            room_ += index_bytes(d.variables[i], group_ * grids[i].chunks());
    first_room_ = rounded(first_room_, page);
}

FileMap file_map(const Definitions& d, std::span<const ChunkGrid> grids,
                 std::span<const char> packed, std::int64_t begin,
                 std::span<const std::int64_t> addresses) {
    FileMap map;
    const std::size_t n = grids.size();
    map.offset.assign(n, 0);
    map.padded.assign(n, 0);
    map.grain.assign(n, 0);
    std::int64_t at = begin;
    const auto is_placed = [&](std::size_t i) { return !addresses.empty() && !grids[i].chunked; };
    for (std::size_t i = 0; i < n; ++i) {
        if (!is_placed(i)) continue;
        map.offset[i] = std::max<std::int64_t>(0, addresses[i]);
        map.padded[i] = grids[i].bytes();
        map.grain[i] = grids[i].element;
        at = std::max(at, map.offset[i] + map.padded[i]);
    }
    const auto add = [&](std::size_t i) {
        const ChunkGrid& g = grids[i];
        map.offset[i] = at;
        map.padded[i] = rounded(g.elements() * g.element, aligned);
        map.grain[i] = packed[i] ? g.band * g.element : g.element;
        at += packed[i] ? map.padded[i] : rounded(g.bytes(), aligned);
    };
    at = rounded(at, page);
    // Variables whose chunks have known addresses (late = false) come first.
    for (const bool late : {false, true})
        for (std::size_t i = 0; i < n; ++i)
            if (!d.variables[i].record && !is_placed(i) && (packed[i] != 0) == late) add(i);
    map.fixed_end = at;
    at = rounded(std::max(at, page), page);
    map.record_begin = at;
    for (std::size_t i = 0; i < n; ++i)
        if (d.variables[i].record && !is_placed(i)) add(i);
    map.record_bytes = rounded(at - map.record_begin, aligned);
    if (map.record_bytes == 0) map.record_begin = 0;
    return map;
}

Room Netcdf4Map::room(const FileMap& map, std::int64_t definitions_bytes, std::int64_t n) const {
    const std::int64_t begin = rounded(definitions_bytes, page);
    if (n == 0) return {begin, begin + first_room_};
    if (room_ == 0) return {};
    const std::int64_t at = map.record_begin + n * group_ * map.record_bytes + (n - 1) * room_;
    return {at, at + room_};
}

}  // namespace thalweg::detail
