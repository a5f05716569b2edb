// SPDX-License-Identifier: Apache-2.0
#include "storage/chunked/chunk_grid.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg::detail {

std::int64_t largest_divisor(std::int64_t n, std::int64_t most) {
    std::int64_t best = 1;
    for (std::int64_t d = 1; d <= n / d; ++d) {
        if (n % d != 0) continue;
        if (d <= most) best = std::max(best, d);
        if (n / d <= most) best = std::max(best, n / d);
    }
    return best;
}

std::vector<std::int64_t> range_of(const std::vector<std::int64_t>& shape, std::int64_t element,
                                   std::int64_t target, bool even) {
    constexpr std::int64_t most = std::int64_t(1) << 31;  // half of HDF5's limit in bytes
    std::vector<std::int64_t> chunk(shape.size(), 1);
    std::int64_t bytes = element;
    std::size_t d = shape.size();
    for (; d > 0 && bytes * shape[d - 1] <= target; --d) {
        chunk[d - 1] = shape[d - 1];
        bytes *= shape[d - 1];
    }
    if (d == 0) return chunk;
    const std::int64_t length = shape[d - 1];
    const std::int64_t fitting = std::max<std::int64_t>(1, target / bytes);
    if (!even && volume(std::span(shape).first(d - 1)) == 1) {
        const std::int64_t n = (length + fitting - 1) / fitting;
        chunk[d - 1] = (length + n - 1) / n;
    } else {
        // A shorter last chunk would occur once for each index of the slower dimensions, so choose
        // a length that divides the dimension evenly.
        chunk[d - 1] = largest_divisor(length, fitting);
        if (chunk[d - 1] * bytes < target / 16 && bytes * length < most) chunk[d - 1] = length;
    }
    return chunk;
}

Index ChunkGrid::corner(std::int64_t n) const {
    Index at{};
    for (std::size_t d = number.size(); d-- > 0; n /= number[d]) at[d] = n % number[d] * chunk[d];
    return at;
}

namespace {

/// Derives the other members from shape and chunk lengths.
void complete(ChunkGrid& g) {
    std::size_t first = 0;  // slowest dimension in which chunks are longer than 1
    while (first + 1 < g.chunk.size() && g.chunk[first] == 1) ++first;
    for (std::size_t d = 0; d < g.shape.size(); ++d)
        g.number.push_back((g.shape[d] + g.chunk[d] - 1) / g.chunk[d]);
    if (g.shape.empty()) return;
    const bool slowest = volume(std::span(g.shape).first(first)) == 1;
    const bool even = slowest || g.shape[first] % g.chunk[first] == 0;
    const std::int64_t row = volume(std::span(g.shape).subspan(first + 1));
    g.band = std::max<std::int64_t>(1, (even ? g.chunk[first] : g.shape[first]) * row);
    g.in_order = even && volume(std::span(g.chunk).subspan(first + 1)) == row;
}

constexpr std::int64_t cmip7_chunk = 4 << 20;  ///< least size of a chunk in bytes

/// Returns the number of records in a chunk of a file that is laid out as CMIP7 asks. It divides
/// the file's number of records, unless all such numbers are much larger than needed.
/// @param bytes  size of one record in the chunk
std::int64_t cmip7_records(std::int64_t bytes, std::int64_t records) {
    constexpr std::int64_t most_small = 1 << 20;
    if (bytes <= small_record) return std::clamp<std::int64_t>(most_small / bytes, 1, records);
    const std::int64_t least = std::min((cmip7_chunk + bytes - 1) / bytes, records);
    const std::int64_t even = records / largest_divisor(records, records / least);
    return even <= 2 * least ? even : least;
}

}  // namespace

std::int64_t chunk_target(const Definitions& d, bool packed, std::int64_t writers) {
    constexpr std::int64_t plain = 16 << 20;  // readers can read parts of unfiltered chunks
    constexpr std::int64_t least = 128 << 10, most = 2 << 20;
    if (!packed) return plain;
    std::int64_t bytes = 0;
    for (const Variable& v : d.variables)
        if (v.record) bytes += v.elements() * v.element();
    return std::clamp(bytes / (2 * writers), least, most);
}

ChunkGrid choose_grid(const Variable& v, std::int64_t target) {
    ChunkGrid g;
    g.shape = v.shape;
    g.element = v.element();
    g.chunked = v.record || v.packing.filtered() || !v.packing.chunks.empty();
    const bool cmip7 = g.chunked && v.packing.cmip7 > 0 && v.packing.chunks.empty();
    if (cmip7) target = 2 * cmip7_chunk;
    g.chunk = g.chunked ? range_of(g.shape, g.element, target) : g.shape;
    while (cmip7 && g.chunk != g.shape && g.chunk_elements() * g.element < cmip7_chunk)
        g.chunk = range_of(g.shape, g.element, target *= 2);
    if (cmip7 && v.record)
        g.records = cmip7_records(g.chunk_elements() * g.element, v.packing.cmip7);
    for (std::size_t d = 0; d < v.packing.chunks.size(); ++d) {
        // A dimension without a requested length is not divided; requested lengths of other
        // dimensions stay.
        const std::int64_t arguments = v.packing.chunks[d];
        g.chunk[d] = arguments > 0 ? arguments : g.shape[d];
    }
    complete(g);
    return g;
}

ChunkGrid grid_of(const Variable& v, std::span<const std::int64_t> chunk) {
    ChunkGrid g;
    g.shape = v.shape;
    g.element = v.element();
    g.chunked = !chunk.empty();
    g.chunk = g.shape;
    if (g.chunked) {
        if (v.record) g.records = chunk.front();
        g.chunk.assign(chunk.begin() + (v.record ? 1 : 0), chunk.end());
    }
    complete(g);
    return g;
}

void fill_with(const FillValue& value, std::int64_t element, char* to, std::int64_t elements) {
    for (std::int64_t i = 0; i < elements; ++i)
        std::memcpy(to + i * element, value.data(), element);
}

bool are_all(const FillValue& value, std::int64_t element, const char* elements,
             std::int64_t bytes) {
    return std::memcmp(elements, value.data(), element) == 0 &&
           std::memcmp(elements, elements + element, bytes - element) == 0;
}

void copy_rows(int nd, const Index& count, std::int64_t element, const char* from,
               const Index& from_stride, char* to, const Index& to_stride) {
    const std::size_t bytes = (nd == 0 ? 1 : count[nd - 1]) * element;
    Index at{};
    for (int d = 0; d >= 0;) {
        std::memcpy(to, from, bytes);
        for (d = nd - 2; d >= 0; --d) {
            from += from_stride[d] * element;
            to += to_stride[d] * element;
            if (++at[d] < count[d]) break;
            from -= at[d] * from_stride[d] * element;
            to -= at[d] * to_stride[d] * element;
            at[d] = 0;
        }
    }
}

bool needs_whole_chunks(const Definitions& d) {
    return std::any_of(d.variables.begin(), d.variables.end(), [](const Variable& v) {
        return v.packing.filtered() || !v.packing.chunks.empty() || v.packing.whole ||
               v.packing.cmip7 > 0;
    });
}

}  // namespace thalweg::detail
