// The places of chunks in a netCDF-4 file, for references to them.
// SPDX-License-Identifier: Apache-2.0
#include "storage/places.hpp"

#include "storage/netcdf4/chunks/hdf5_places.hpp"

namespace thalweg::detail {

namespace {

using Way = StoredVariable::Way;

/// Tests if a data set that is shorter than its dimensions ends at a chunk boundary. If it does
/// not, the rest of its last chunk is undefined.
bool ends_between_chunks(const StoredVariable& s, const std::vector<std::int64_t>& shape) {
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (s.extent[d] < shape[d] && s.extent[d] % s.chunk[d] != 0) return false;
    return true;
}

Status find_chunk(Hdf5Places& index, int variable, const StoredVariable& s, const Cell& cell,
                  VariablePlaces& places) {
    for (std::size_t d = 0; d < cell.corner.size(); ++d)
        if (static_cast<std::int64_t>(cell.corner[d]) >= s.extent[d]) {
            places.chunks.emplace_back();
            return {};
        }
    StoredChunk chunk;
    if (Status status = index.find(variable, cell, chunk); !status.ok()) return status;
    places.chunks.push_back({chunk.address < 0 ? 0 : chunk.address, chunk.bytes});
    if (chunk.skipped != 0)
        places.why = fmt::format("the chunk at byte {} was written without some of its filters",
                                 chunk.address);
    return {};
}

}  // namespace

VariablePlaces places_of(const StoredVariable& s, const Variable& v,
                         const std::vector<std::int64_t>& shape) {
    VariablePlaces places;
    places.fill = s.fill;
    places.readable = s.way != Way::none;
    if (!places.readable) {
        places.why = s.why;
    } else if (s.way == Way::hdf5) {
        places.why = "Zarr has no equivalent of its type, its filters or its layout in HDF5";
    } else if (s.way == Way::range) {
        places.offset = s.address;
        places.stride = v.elements() * v.element();
    } else {
        places.chunked = true;
        places.chunk = s.chunk;
        places.filters = s.filters;
        if (s.extent != shape && (!ends_between_chunks(s, shape) || s.beyond != s.fill))
            places.why = "its data set in HDF5 is shorter than its dimensions, and ends in a chunk";
    }
    return places;
}

Status find_chunks(Hdf5Places& index, int variable, const Variable& v, const StoredVariable& s,
                   std::int64_t records, VariablePlaces& places) {
    if (v.elements() == 0) return {};
    index.begin();
    Status status;
    for (std::int64_t r = 0; r < (v.record ? records : 1) && status.ok();
         r += v.record ? s.chunk.front() : 1)
        status = for_cells(v, s, variable, r, whole_box(v.shape), [&](const Cell& cell) {
            return find_chunk(index, variable, s, cell, places);
        });
    return status;
}

}  // namespace thalweg::detail
