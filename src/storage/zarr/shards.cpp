// SPDX-License-Identifier: Apache-2.0
#include "storage/zarr/shards.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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
#include "storage/zarr/base64.hpp"
#include "storage/zarr/metadata.hpp"

namespace thalweg::detail {

namespace {

/// The array of a file with only one variable.
struct Shard {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> whole;  ///< lengths of the shard; 1 where the array has length 0
    std::vector<std::int64_t> chunk;  ///< chunk lengths in the shard
    std::vector<ChunkPlace> places;   ///< places of all chunks, in row-major order
};

Shard cut_shard(const Source& file) {
    const int last = static_cast<int>(file.definitions().variables.size()) - 1;
    const Variable& v = file.definitions().variables.back();
    const FileMap& map = file.contents().header->map;
    const std::int64_t offset = map.offset.back(), stride = map.record_bytes;
    Shard shard{shape_of(file, last), {}, {}, {}};
    for (const std::int64_t n : shard.shape) shard.whole.push_back(std::max<std::int64_t>(1, n));
    const std::int64_t size = v.element();
    const std::int64_t record_bytes = v.elements() * size;
    // In a file with only one record variable, records are adjacent, so a chunk can contain
    // several.
    const bool side_by_side = !v.record || stride == record_bytes;
    constexpr std::int64_t target = 16 << 20;
    shard.chunk = range_of(side_by_side ? shard.whole : v.shape, size, target, true);
    const std::int64_t bytes = volume(shard.chunk) * size;
    if (!side_by_side) shard.chunk.insert(shard.chunk.begin(), 1);
    const std::int64_t all = volume(shard.shape) * size;
    for (std::int64_t at = 0; at < all; at += bytes) {
        const std::int64_t record = side_by_side ? 0 : at / record_bytes;
        shard.places.push_back({offset + record * stride + (at - record * record_bytes), bytes});
    }
    return shard;
}

Status append(const std::string& path, const std::string& bytes, bool durable) {
    return with_file(path, O_WRONLY, [&](int fd) {
        const std::int64_t size = lseek(fd, 0, SEEK_END);
        Status status = size < 0 ? system_failure(path, "cannot get its size")
                                 : write_fully(fd, path, bytes.data(), std::ssize(bytes), size);
        return status.ok() && durable ? sync_file(fd, path, true) : status;
    });
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
    metadata =
        array_metadata(d, d.variables.back(), {shard.shape, shard.whole, shard.chunk, "big", {}});
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
    return write_metadata(folder, group_metadata(first->definitions(), arrays, ""), durable);
}

}  // namespace thalweg::detail
