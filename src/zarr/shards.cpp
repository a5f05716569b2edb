// SPDX-License-Identifier: Apache-2.0
#include "zarr/shards.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "base/text/text.hpp"
#include "index/box.hpp"
#include "storage/chunked/chunk_grid.hpp"
#include "storage/classic/header_reader.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"
#include "storage/source.hpp"
#include "storage/variables/variables.hpp"
#include "zarr/base64.hpp"
#include "zarr/metadata.hpp"

namespace thalweg::detail {

namespace {

/// Returns the CRC-32C checksum (Castagnoli) of the bytes.
std::uint32_t crc32c(std::span<const char> bytes) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            made[i] = i;
            for (int bit = 0; bit < 8; ++bit)
                made[i] = (made[i] >> 1) ^ ((made[i] & 1) != 0 ? 0x82F63B78u : 0u);
        }
        return made;
    }();
    std::uint32_t crc = ~0u;
    for (const char c : bytes)
        crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 255];
    return ~crc;
}

/// A range of the file in which a chunk is stored.
struct ChunkPlace {
    std::int64_t offset = 0, bytes = 0;
};

/// Encodes the offset and size of each chunk, followed by a checksum; all little-endian.
std::string shard_index(std::span<const ChunkPlace> chunks) {
    std::string index;
    const auto add = [&](std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) index += static_cast<char>(value >> (8 * i) & 255);
    };
    for (const ChunkPlace& chunk : chunks) {
        add(static_cast<std::uint64_t>(chunk.offset), 8);
        add(static_cast<std::uint64_t>(chunk.bytes), 8);
    }
    add(crc32c(index), 4);
    return index;
}

/// The array of a file with only one variable.
struct Shard {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> chunk;  ///< chunk lengths in the shard
    std::vector<ChunkPlace> places;   ///< places of all chunks, in row-major order
};

/// Cuts contiguous elements along their slow dimensions into the largest chunks of at most 16 MiB
/// that divide a dimension evenly, or larger ones where these would have less than 1 MiB.
std::vector<std::int64_t> cut(std::span<const std::int64_t> shape, std::int64_t element) {
    constexpr std::int64_t most = 16 << 20;
    std::vector<std::int64_t> chunk(shape.size(), 1);
    std::int64_t row = element;
    for (std::size_t d = shape.size(); d-- > 0;) {
        const std::int64_t n = std::max<std::int64_t>(1, shape[d]);
        if (n > 1 && n > most / row) {
            chunk[d] = largest_divisor(n, most / row);
            if (chunk[d] * row < most / 16) chunk[d] = n;
            break;  // chunks have length 1 along all slower dimensions
        }
        chunk[d] = n;
        row *= n;
    }
    return chunk;
}

Shard cut_shard(const Source& file) {
    const int last = static_cast<int>(file.definitions().variables.size()) - 1;
    const Variable& v = file.definitions().variables.back();
    const FileMap& map = file.contents().header->map;
    const std::int64_t offset = map.offset.back(), stride = map.record_bytes;
    Shard shard{shape_of(file, last), {}, {}};
    const std::int64_t size = v.element();
    const std::int64_t record_bytes = v.elements() * size;
    // In a file with only one record variable, records are adjacent, so a chunk can contain
    // several.
    const bool side_by_side = !v.record || stride == record_bytes;
    shard.chunk = cut(side_by_side ? shard.shape : v.shape, size);
    const std::int64_t bytes = volume(shard.chunk) * size;
    if (!side_by_side) shard.chunk.insert(shard.chunk.begin(), 1);
    const std::int64_t all = volume(shard.shape) * size;
    for (std::int64_t at = 0; at < all; at += bytes) {
        const std::int64_t record = side_by_side ? 0 : at / record_bytes;
        shard.places.push_back({offset + record * stride + (at - record * record_bytes), bytes});
    }
    return shard;
}

std::string type_text(tw_type type) {
    switch (type) {
        case TW_CHAR:
            return R"({"name":"null_terminated_bytes","configuration":{"length_bytes":1}})";
        case TW_SHORT: return R"("int16")";
        case TW_INT: return R"("int32")";
        case TW_FLOAT: return R"("float32")";
        case TW_DOUBLE: return R"("float64")";
        case TW_UBYTE: return R"("uint8")";
        case TW_USHORT: return R"("uint16")";
        case TW_UINT: return R"("uint32")";
        case TW_INT64: return R"("int64")";
        case TW_UINT64: return R"("uint64")";
        default: return R"("int8")";
    }
}

/// Formats a fill value as xarray does in Zarr version 3: a floating-point value is a double in
/// base64.
std::string fill_attribute_text(tw_type type, const Attribute& fill) {
    if (type != TW_FLOAT && type != TW_DOUBLE) return fill_text(type, fill.values.data());
    const double value = number_of(type, fill.values.data());
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    return json_string(base64({bytes, sizeof bytes}));
}

std::string array_metadata(const Definitions& d, const Variable& v, const Shard& shard) {
    std::vector<std::int64_t> whole = shard.shape;
    for (std::int64_t& n : whole) n = std::max<std::int64_t>(1, n);
    std::vector<std::string> attributes = attribute_members(d, &v);
    if (const Attribute* fill = fill_attribute(v))
        attributes.push_back("\"_FillValue\":" + fill_attribute_text(v.type, *fill));
    const char* const bytes = v.element() == 1
                                  ? R"({"name":"bytes"})"
                                  : R"({"name":"bytes","configuration":{"endian":"big"}})";
    return fmt::format(
        R"({{"zarr_format":3,"node_type":"array","shape":{},"data_type":{},)"
        R"("chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{}}}}},)"
        R"("chunk_key_encoding":{{"name":"default","configuration":{{"separator":"."}}}},)"
        R"("fill_value":{},"codecs":[{{"name":"sharding_indexed","configuration":)"
        R"({{"chunk_shape":{},"codecs":[{}],"index_codecs":[{{"name":"bytes","configuration":)"
        R"({{"endian":"little"}}}},{{"name":"crc32c"}}],"index_location":"end"}}}}],)"
        R"("attributes":{{{}}},"dimension_names":{}}})",
        list_text(shard.shape), type_text(v.type), list_text(whole),
        fill_text(v.type, v.fill_value().data()), list_text(shard.chunk), bytes,
        joined(attributes, ","), dimensions_text(d, v));
}

Status append(const std::string& path, const std::string& bytes, bool durable) {
    return with_file(path, O_WRONLY, [&](int fd) {
        const std::int64_t size = lseek(fd, 0, SEEK_END);
        Status status = size < 0 ? system_failure(path, "cannot get its size")
                                 : write_fully(fd, path, bytes.data(), std::ssize(bytes), size);
        return status.ok() && durable ? sync_file(fd, path, true) : status;
    });
}

Status write_metadata(const std::string& folder, const std::string& text, bool durable) {
    const std::string path = folder + "/zarr.json", part = temporary_path(path);
    Status status = with_file(part, O_WRONLY | O_CREAT | O_TRUNC, [&](int fd) {
        Status written = write_fully(fd, part, text.data(), std::ssize(text), 0);
        return written.ok() && durable ? sync_file(fd, part, true) : written;
    });
    if (status.ok() && std::rename(part.c_str(), path.c_str()) != 0)
        status = system_failure(part, "cannot rename to " + path);
    if (!status.ok()) unlink(part.c_str());
    return status.ok() && durable ? sync_folder_of(path) : status;
}

/// Moves a file into the folder of its array, under the name of the array's only chunk, and leaves
/// a link for netCDF readers. The file keeps its old name until the link replaces it, so nothing is
/// lost if the process is killed in between; on file systems without hard links there is a moment
/// without the old name.
Status move_file(const std::string& folder, const std::string& name, std::size_t ndims) {
    const std::string path = variable_path(folder, name), array = folder + "/" + name;
    std::string key = name + "/c";
    for (std::size_t d = 0; d < ndims; ++d) key += ".0";
    const std::string chunk = folder + "/" + key, made = array + "/link";
    if (mkdir(array.c_str(), 0777) != 0) return system_failure(array, "cannot create the folder");
    if (symlink(key.c_str(), made.c_str()) != 0)
        return system_failure(made, "cannot create the symbolic link");
    if (link(path.c_str(), chunk.c_str()) != 0 && std::rename(path.c_str(), chunk.c_str()) != 0)
        return system_failure(path, "cannot rename to " + chunk);
    if (std::rename(made.c_str(), path.c_str()) != 0)
        return system_failure(made, "cannot rename to " + path);
    return {};
}

/// @param metadata  receives the array's metadata
Status make_array(const std::string& folder, const std::string& name, bool durable,
                  std::string& metadata) {
    const std::string path = variable_path(folder, name);
    Status status;
    const std::unique_ptr<Source> file = open_source(*make_serial_comm(), path, false, status);
    if (!status.ok()) return status;
    file->forget();
    const Shard shard = cut_shard(*file);
    if (!shard.places.empty()) status = append(path, shard_index(shard.places), durable);
    if (status.ok()) status = move_file(folder, name, shard.shape.size());
    const Definitions& d = file->definitions();
    metadata = array_metadata(d, d.variables.back(), shard);
    return status.ok() ? write_metadata(folder + "/" + name, metadata, durable) : status;
}

}  // namespace

Status make_zarr_store(const std::string& folder, const Definitions& definitions, bool durable) {
    const std::vector<VariableFile> files = files_of_variables(definitions);
    Status status;
    const std::unique_ptr<Source> first =
        open_source(*make_serial_comm(), variable_path(folder, files.front().name), false, status);
    std::vector<std::string> arrays;
    for (const VariableFile& file : files) {
        std::string metadata;
        if (status.ok()) status = make_array(folder, file.name, durable, metadata);
        arrays.push_back(json_string(file.name) + ":" + metadata);
    }
    if (!status.ok()) return status;
    return write_metadata(
        folder,
        fmt::format(R"({{"zarr_format":3,"node_type":"group","attributes":{{{}}},)"
                    R"("consolidated_metadata":{{"kind":"inline",)"
                    R"("must_understand":false,"metadata":{{{}}}}}}})",
                    joined(attribute_members(first->definitions(), nullptr), ","),
                    joined(arrays, ",")),
        durable);
}

}  // namespace thalweg::detail
