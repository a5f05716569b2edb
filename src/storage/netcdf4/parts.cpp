// Divides a variable in chunks among readers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "storage/netcdf4/chunk_reader.hpp"

namespace thalweg::detail {

namespace {

/// Largest size of a band in bytes: half of the cache, as the next band can belong to another
/// variable.
constexpr std::int64_t most_band = ChunkReader::cache_bytes / 2;
constexpr std::int64_t most_parts = 4096;  ///< largest number of parts into which a variable is
                                           ///< divided

}  // namespace

std::vector<SourcePart> parts_of(const Variable& v, const StoredVariable& s, int readers) {
    const std::int64_t element = v.element();
    const std::size_t lead = v.record ? 1 : 0;
    const std::size_t nd = v.shape.size();
    const auto chunk = [&](std::size_t d) { return std::min(s.chunk[d + lead], v.shape[d]); };
    std::size_t first = 0;  // slowest dimension in which chunks are longer than 1
    while (first + 1 < nd && chunk(first) == 1) ++first;
    // All records in a chunk are cached together, so count all of them.
    std::int64_t chunk_bytes = v.record ? s.chunk[0] * element : element;
    for (std::size_t d = 0; d < nd; ++d) chunk_bytes *= chunk(d);
    std::vector<std::int64_t> width(v.shape);  // length of a part in each dimension
    const std::int64_t share = v.elements() * element / std::max(1, readers);
    const std::int64_t most = std::max(chunk_bytes, std::min(most_band, share));
    std::int64_t band = 1, parts = 1;  // number of chunks in a band, and number of parts
    for (std::size_t d = nd; d-- > first + 1;) {
        const std::int64_t chunks = (v.shape[d] + chunk(d) - 1) / chunk(d);
        std::int64_t n = std::clamp<std::int64_t>(most / chunk_bytes / band, 1, chunks);
        n = std::max(n, chunks / std::max<std::int64_t>(1, most_parts / parts));
        width[d] = std::min(v.shape[d], n * chunk(d));
        band *= n;
        parts *= (chunks + n - 1) / n;
    }
    std::vector<SourcePart> result;
    Box box = whole_box(v.shape);
    for (bool more = true; more;) {
        SourcePart part;
        for (std::size_t d = 0; d < nd; ++d)
            box.count[d] = std::min(d > first ? width[d] : v.shape[d], v.shape[d] - box.low[d]);
        part.box = box;
        std::int64_t rest = element;
        for (std::size_t d = first + 1; d < nd; ++d) rest *= box.count[d];
        // Outside the slowest dimension, a short last chunk recurs for each slower index. The grain
        // must then span the whole dimension.
        const bool slowest = volume(std::span(v.shape).first(first)) == 1;
        const bool even = slowest || v.shape[first] % chunk(first) == 0;
        part.grain = rest * (even ? chunk(first) : v.shape[first]);
        result.push_back(part);
        more = false;
        for (std::size_t d = nd; d-- > first + 1 && !more;) {
            box.low[d] += width[d];
            more = box.low[d] < v.shape[d];
            if (!more) box.low[d] = 0;
        }
    }
    return result;
}

}  // namespace thalweg::detail
