// Selects the driver that writes a file, and the source that reads one.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include "storage/netcdf4/index/superblock.hpp"
#include "storage/posix/system.hpp"
#include "storage/source.hpp"
#include "storage/storage.hpp"
#include "storage/tiles/tiles.hpp"
#include "storage/variables/variables.hpp"
#include "storage/zarr/store/contents.hpp"

namespace thalweg::detail {

namespace {

enum class Kind { classic, netcdf4, tiles, variables, zarr };

/// Finds the kind of a file from its first bytes. Only opening the file shows if it is valid.
Status find_kind(const std::string& path, Kind& kind) {
    // O_NONBLOCK makes open() of a pipe without a writer return at once.
    const Descriptor fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        if (is_tile_set(path)) kind = Kind::tiles;
        return {};
    }
    if (is_variable_folder(fd, path)) kind = Kind::variables;
    if (is_zarr_store(path)) {
        kind = Kind::zarr;
        return {};
    }
    Superblock superblock;
    Status status = find_superblock(fd, path, superblock);
    if (superblock.at >= 0) kind = Kind::netcdf4;
    return status;
}

}  // namespace

std::unique_ptr<Source> open_source(Comm& comm, const std::string& path, bool reader,
                                    Status& status) {
    Kind kind = Kind::classic;
    if (comm.rank() == 0) status = find_kind(path, kind);
    if (status = agree(comm, status); !status.ok()) return nullptr;
    comm.broadcast(&kind, sizeof kind, 0);
    switch (kind) {
        case Kind::netcdf4: return open_netcdf4_source(comm, path, reader, status);
        case Kind::tiles: return open_tile_source(comm, path, status);
        case Kind::variables: return open_variable_source(comm, path, status);
        case Kind::zarr: return open_zarr_source(comm, path, status);
        case Kind::classic: break;
    }
    return open_classic_source(comm, path, reader, status);
}

std::vector<SourcePart> Source::parts(int variable, int) const {
    return {{whole_box(definitions().variables[variable].shape), 0, 0}};
}

std::string missing(const SourceContents& contents, const std::string& name) {
    if (!contents.unlisted.empty()) return contents.unlisted;
    if (contents.groups == 0 || name.find('/') == std::string::npos) return {};
    return "variables of groups other than the root group cannot be read";
}

Status find_writable(const SourceContents& contents, Definitions& writable) {
    if (!contents.no_append.empty())
        return failure(TW_EUNSUPPORTED, "mode=append is not possible: {}", contents.no_append);
    writable = contents.definitions;
    writable.variables.clear();
    for (std::size_t i = 0; i < contents.variables.size(); ++i) {
        Variable v = contents.definitions.variables[i];
        // Skip types of other programs, as a model cannot define a variable of such a type.
        if (!valid_type(v.type)) continue;
        const SourceVariable& its = contents.variables[i];
        if (!its.no_append.empty())
            return failure(TW_EUNSUPPORTED, "mode=append is not possible: variable '{}': {}",
                           OfVariable{v.name}, its.no_append);
        v.packing = its.packing;
        if (its.fill) v.fill = its.fill;
        writable.variables.push_back(std::move(v));
    }
    return {};
}

Status Source::read_stored(int, std::int64_t, std::int64_t, std::vector<char>&) {
    return failure(TW_EUNSUPPORTED, "its variables are not stored in chunks");
}

Status Storage::open(Comm&, const std::string& path, const Definitions&, const StorageOptions&,
                     bool, FileMap&) {
    return failure(TW_EUNSUPPORTED, "{}: storage={} cannot append to a file", OfFile{path},
                   traits().name);
}

void broadcast(Comm& comm, FileMap& map, int root) {
    std::vector<char> bytes;
    if (comm.rank() == root) bytes = message_of(map);
    comm.broadcast(bytes, root);
    map = value_in<FileMap>(bytes);
}

std::unique_ptr<Storage> make_storage(const std::string& name) {
    if (name == "pnetcdf") return make_pnetcdf_storage();
    if (name == "netcdf4") return make_netcdf4_storage();
    if (name == "zarr") return make_zarr_storage();
    if (name == "memory") return make_memory_storage();
    if (name == variable_storage) return make_variable_storage();
    return make_posix_storage();
}

}  // namespace thalweg::detail
