// SPDX-License-Identifier: Apache-2.0
#include "storage/chunked/packer.hpp"

#include <algorithm>
#include <cstring>

#include "index/runs.hpp"

namespace thalweg::detail {

namespace {

/// Tests if a chunk has only fill values.
/// @param data  elements of all records in its band, one record after another
bool is_empty(const ChunkGrid& g, std::int64_t band, std::int64_t number, const Index& extent,
              const char* data, const FillValue& fill) {
    const Box box{static_cast<int>(g.shape.size()), g.corner(number), extent};
    const Runs runs = runs_of(box, g.shape);
    bool empty = true;
    for (std::int64_t r = 0; r < g.records && empty; ++r) {
        const char* const first = data + (r * g.elements_of(band) - band * g.band) * g.element;
        for_runs(box, g.shape, runs, each_element, [&](std::int64_t begin) {
            return empty =
                       are_all(fill, g.element, first + begin * g.element, runs.length * g.element);
        });
    }
    return empty;
}

}  // namespace

void Packer::quantize_band(int variable, std::int64_t band, char* data) const {
    const ChunkGrid& g = grids_[variable];
    const Variable& v = definitions_.variables[variable];
    if (v.packing.quantize == Packing::Quantize::none) return;
    quantize(v.packing, v.type, v.fill_value().data(), data, g.elements_of(band), band * g.band);
}

Status Packer::pack_band(int variable, std::int64_t record, std::int64_t band, const char* data,
                         const Take& take, const Lacks& lacks) {
    const ChunkGrid& g = grids_[variable];
    const FillValue fill = definitions_.variables[variable].fill_value();
    const std::int64_t chunks = g.chunks_a_band(), elements = g.chunk_elements();
    const int nd = g.shape.size();
    const Index from_stride = strides_of(g.shape), to_stride = strides_of(g.chunk);
    for (std::int64_t i = 0; i < chunks; ++i) {
        const std::int64_t number = band * chunks + i;
        Index extent;
        std::int64_t offset;
        const std::int64_t inside = locate(g, band, number, offset, extent);
        const char* from = data + offset;
        if (lacks && is_empty(g, band, number, extent, data, fill) && lacks(number)) continue;
        const bool waits = batch_ && !filters_[variable].empty();
        if (waits || inside != elements || !g.in_order || (g.records > 1 && g.chunks() > 1)) {
            char* to = nullptr;
            if (waits) {
                to = batch_->add(variable, record, number, filters_[variable], g.chunk_bytes());
            } else {
                chunk_.resize(std::max<std::size_t>(chunk_.size(), g.chunk_bytes()));
                to = chunk_.data();
            }
            if (inside != elements) fill_with(fill, g.element, to, g.records * elements);
            for (std::int64_t r = 0; r < g.records; ++r)
                copy_rows(nd, extent, g.element, from + r * g.elements_of(band) * g.element,
                          from_stride, to + r * elements * g.element, to_stride);
            from = to;
        }
        Status status;
        if (!waits)
            status = take(variable, record, number,
                          compressor_.apply(filters_[variable], from, g.chunk_bytes()));
        else if (batch_->is_full())
            status = batch_->finish(take);
        if (!status.ok()) return status;
    }
    return {};
}

std::int64_t Packer::locate(const ChunkGrid& g, std::int64_t band, std::int64_t number,
                            std::int64_t& offset, Index& extent) const {
    const Index corner = g.corner(number);
    std::int64_t inside = 1;
    for (std::size_t d = 0; d < g.shape.size(); ++d) {
        extent[d] = std::min(g.chunk[d], g.shape[d] - corner[d]);
        inside *= extent[d];
    }
    offset = (linear(g.shape, corner) - band * g.band) * g.element;
    return inside;
}

Status Packer::unpack_band(int variable, std::int64_t band, char* to, const Give& give) {
    const ChunkGrid& g = grids_[variable];
    const std::int64_t chunks = g.chunks_a_band();
    const Index to_stride = strides_of(g.shape), from_stride = strides_of(g.chunk);
    for (std::int64_t i = 0; i < chunks; ++i) {
        const std::int64_t number = band * chunks + i;
        if (Status status = give(number, chunk_); !status.ok()) return status;
        Index extent;
        std::int64_t offset;
        locate(g, band, number, offset, extent);
        for (std::int64_t r = 0; r < g.records; ++r)
            copy_rows(g.shape.size(), extent, g.element,
                      chunk_.data() + r * g.chunk_elements() * g.element, from_stride,
                      to + offset + r * g.elements_of(band) * g.element, to_stride);
    }
    return {};
}

}  // namespace thalweg::detail
