// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/packer.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg::detail {

namespace {

void fill_with(const char* value, std::int64_t element, char* to, std::int64_t elements) {
    for (std::int64_t i = 0; i < elements; ++i)
        std::memcpy(to + i * element, value, static_cast<std::size_t>(element));
}

}  // namespace

Status Packer::add(const Chunk& piece, const Take& take) {
    const ChunkGrid& g = grids_[static_cast<std::size_t>(piece.variable)];
    Part& part = parts_[static_cast<std::size_t>(piece.variable)];
    const char* data = piece.data;
    for (std::int64_t first = piece.first, left = piece.elements; left > 0;) {
        const std::int64_t band = first / g.band, begin = band * g.band;
        const std::int64_t whole = std::min(g.band, g.elements() - begin);
        const std::int64_t n = std::min(left, begin + whole - first);
        if (first == begin) part.have = 0;
        if (part.have != first - begin)
            return failure(TW_EINTERNAL, "variable '{}': elements {} to {} are out of order",
                           definitions_.variables[static_cast<std::size_t>(piece.variable)].name,
                           first, first + n);
        part.bytes.resize(static_cast<std::size_t>(g.band * g.element));
        std::memcpy(part.bytes.data() + part.have * g.element, data,
                    static_cast<std::size_t>(n * g.element));
        part.have += n;
        if (part.have == whole) {
            Status status = pack_band(piece.variable, piece.record, band, part.bytes.data(), take);
            part.have = 0;
            if (!status.ok()) return status;
        }
        data += n * g.element;
        first += n;
        left -= n;
    }
    return {};
}

Status Packer::pack_band(int variable, std::int64_t record, std::int64_t band, char* data,
                         const Take& take) {
    const ChunkGrid& g = grids_[static_cast<std::size_t>(variable)];
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    const FillValue fill = v.fill_value();
    if (v.packing.quantize != Packing::Quantize::none)
        quantize(v.packing, v.type, fill.data(), data,
                 std::min(g.band, g.elements() - band * g.band), band * g.band);
    const std::int64_t chunks = g.chunks_a_band(), elements = g.chunk_elements();
    const Index from_stride = strides_of(g.shape), to_stride = strides_of(g.chunk);
    for (std::int64_t i = 0; i < chunks; ++i) {
        const std::int64_t number = band * chunks + i;
        const Index corner = g.corner(number);
        Index extent{};
        std::int64_t inside = 1;
        for (std::size_t d = 0; d < g.shape.size(); ++d) {
            extent[d] = std::min(g.chunk[d], g.shape[d] - corner[d]);
            inside *= extent[d];
        }
        const std::int64_t offset = (linear(g.shape, corner) - band * g.band) * g.element;
        const char* from = data + offset;
        if (inside != elements || !g.in_order) {
            chunk_.resize(std::max(chunk_.size(), static_cast<std::size_t>(elements * g.element)));
            if (inside != elements) fill_with(fill.data(), g.element, chunk_.data(), elements);
            const int nd = static_cast<int>(g.shape.size());
            copy_rows(nd, extent, g.element, from, from_stride, chunk_.data(), to_stride);
            from = chunk_.data();
        }
        Status status =
            take(variable, record, number, compressor_.apply(v.packing, from, elements, g.element));
        if (!status.ok()) return status;
    }
    return {};
}

}  // namespace thalweg::detail
