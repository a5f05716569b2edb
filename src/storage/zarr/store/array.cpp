// SPDX-License-Identifier: Apache-2.0
#include "storage/zarr/store/array.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/crc32c.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Largest size in bytes of a variable's record that is not compressed, and of which a shard holds
/// several: otherwise a reader of the times would open a file for each record.
constexpr std::int64_t joined_record = 1024;
constexpr std::int64_t shard_of_small = 64 << 10;  ///< size in bytes of such a shard

std::vector<StoredFilter> choose_filters(const Variable& v, bool sums) {
    std::vector<StoredFilter> filters;
    const Packing& p = v.packing;
    const bool small = v.elements() * v.element() <= joined_record;
    if (p.codec != Packing::Codec::none &&
        (!small || sums || p.quantize != Packing::Quantize::none))
        filters.push_back(
            {p.codec == Packing::Codec::zstd ? zstd_filter : gzip_filter, 1, p.level});
    if (sums) filters.push_back({crc32c_filter});
    return filters;
}

/// Returns the number of shards along each dimension.
std::vector<std::int64_t> shards_along(const ZarrArray& a) {
    std::vector<std::int64_t> n(a.per.size());
    for (std::size_t d = 0; d < n.size(); ++d) n[d] = (a.grid.number[d] + a.per[d] - 1) / a.per[d];
    return n;
}

/// Converts a row-major position to an index.
Index index_at(std::span<const std::int64_t> shape, std::int64_t position) {
    Index at{};
    for (std::size_t d = shape.size(); d-- > 0; position /= shape[d]) at[d] = position % shape[d];
    return at;
}

}  // namespace

ZarrArray choose_array(const Variable& v, bool sums, std::int64_t target, std::int64_t share) {
    ZarrArray a;
    Variable divided = v;
    divided.record = true;  // divide fixed-size variables, too
    a.grid = choose_grid(divided, target);
    a.filters = choose_filters(v, sums);
    a.plain = a.filters.empty() && v.packing.quantize == Packing::Quantize::none && a.grid.in_order;
    a.per = a.grid.number;
    const std::int64_t bytes = a.grid.elements() * a.grid.element;
    if (a.plain) {
        if (v.record && bytes <= joined_record && a.grid.chunks() == 1)
            a.grid.records = std::max<std::int64_t>(1, shard_of_small / bytes);
        return a;
    }
    // Group whole bands: find the part of a band in each dimension, and divide the space of bands
    // as variables are divided into contiguous chunks.
    std::vector<std::int64_t> band(a.per.size(), 1);
    std::int64_t rest = a.grid.chunks_a_band();
    Variable bands;
    for (std::size_t d = band.size(); d-- > 0; rest /= band[d])
        band[d] = std::min(rest, a.grid.number[d]);
    for (std::size_t d = 0; d < band.size(); ++d) bands.shape.push_back(a.grid.number[d] / band[d]);
    bands.record = true;
    const ChunkGrid shards =
        choose_grid(bands, std::max<std::int64_t>(1, share / (a.grid.band * a.grid.element)));
    for (std::size_t d = 0; d < band.size(); ++d) a.per[d] = band[d] * shards.chunk[d];
    return a;
}

ArrayStorage describe(const ZarrArray& a, const Variable& v, std::int64_t records) {
    ArrayStorage its;
    its.shape = a.grid.shape;
    its.chunk = its.shard = a.grid.chunk;
    for (std::size_t d = 0; d < a.per.size(); ++d) its.shard[d] *= a.per[d];
    if (v.record) {
        its.shape.insert(its.shape.begin(), records);
        its.chunk.insert(its.chunk.begin(), a.grid.records);
        its.shard.insert(its.shard.begin(), a.grid.records);
    }
    if constexpr (std::endian::native == std::endian::big) its.endian = "big";
    for (const StoredFilter& f : a.filters)
        its.codecs.push_back(
            f.id == crc32c_filter
                ? std::string(R"({"name":"crc32c"})")
                : fmt::format(R"({{"name":"{}","configuration":{{"level":{}{}}}}})",
                              f.id == gzip_filter ? "gzip" : "zstd", f.level,
                              f.id == gzip_filter ? "" : R"(,"checksum":false)"));
    return its;
}

std::int64_t shards_a_record(const ZarrArray& a) { return volume(shards_along(a)); }

ShardKey shard_of(const ZarrArray& a, int variable, std::int64_t record, std::int64_t chunk,
                  std::int64_t& inside) {
    Index at = index_at(a.grid.number, chunk), within{};
    for (std::size_t d = 0; d < a.per.size(); ++d) {
        within[d] = at[d] % a.per[d];
        at[d] /= a.per[d];
    }
    inside = linear(a.per, within);
    return {variable, record / a.grid.records, linear(shards_along(a), at)};
}

std::int64_t chunks_of(const ZarrArray& a, const ShardKey& shard) {
    const Index at = index_at(shards_along(a), shard.number);
    std::int64_t n = 1;
    for (std::size_t d = 0; d < a.per.size(); ++d)
        n *= std::min(a.per[d], a.grid.number[d] - at[d] * a.per[d]);
    return n;
}

std::string shard_path(const ZarrArray& a, const Variable& v, const ShardKey& shard) {
    std::string path = v.name + "/c";
    if (v.record) path += fmt::format(".{}", shard.record);
    const std::vector<std::int64_t> all = shards_along(a);
    const Index at = index_at(all, shard.number);
    for (std::size_t d = 0; d < all.size(); ++d) path += fmt::format(".{}", at[d]);
    return path;
}

bool was_written(const ZarrArray& a, const ShardKey& shard, bool counted) {
    const std::int64_t at = shard.record * shards_a_record(a) + shard.number;
    return (a.plain && counted) ||
           (a.absent && std::ranges::none_of(*a.absent, [&](const auto& range) {
                return range[0] <= at && at < range[1];
            }));
}

Status read_shard_index(const std::string& path, std::int64_t chunks, bool written,
                        std::vector<ChunkPlace>& places, std::int64_t& before) {
    places.clear();
    const Descriptor fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT) return system_failure(path, "cannot open");
    if (fd < 0 && written) return failure(TW_EFORMAT, "{}: the file is missing", OfFile{path});
    if (fd < 0) return {};
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
    std::vector<char> bytes(chunks * sizeof(ChunkPlace) + sizeof(std::uint32_t));
    before = info.st_size - std::ssize(bytes);
    if (before < 0) return failure(TW_EFORMAT, "{}: too short for its index", OfFile{path});
    if (Status s = read_fully(fd, path, bytes.data(), std::ssize(bytes), before); !s.ok()) return s;
    places.resize(chunks);
    for (std::size_t i = 0; i < 2 * places.size(); ++i) {
        std::uint64_t value = 0;
        for (std::size_t k = 8; k-- > 0;)
            value = value << 8 | static_cast<unsigned char>(bytes[8 * i + k]);
        (i % 2 == 0 ? places[i / 2].offset : places[i / 2].bytes) =
            static_cast<std::int64_t>(value);
    }
    const bool fits = std::all_of(places.begin(), places.end(), [&](const ChunkPlace& p) {
        return (p.offset == -1 && p.bytes == -1) ||
               (p.offset >= 0 && p.bytes >= 0 && p.offset <= before &&
                p.bytes <= before - p.offset);
    });
    if (!fits || shard_index(places) != std::string_view(bytes.data(), bytes.size()))
        return failure(TW_EFORMAT, "{}: its index is damaged", OfFile{path});
    return {};
}

}  // namespace thalweg::detail
