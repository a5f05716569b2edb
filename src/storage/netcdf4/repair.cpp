// Repairs files that a killed run has left: puts the chunks that it has logged into HDF5's index,
// and cuts off records.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>

#include "storage/netcdf4/chunks/layout.hpp"
#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/index/page.hpp"
#include "storage/netcdf4/index/place_log.hpp"
#include "storage/netcdf4/whole.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Finds the logged variables in the file.
/// @return false if the file lacks one of them, so that the log belongs to another file
bool find_variables(const std::vector<std::string>& names, const Netcdf4Contents& contents,
                    Definitions& definitions) {
    definitions = contents.definitions;
    definitions.variables.clear();
    for (const std::string& name : names) {
        const Variable* const v = contents.definitions.variables.get(name);
        if (v == nullptr) return false;
        definitions.variables.push_back(*v);
    }
    return true;
}

/// Tests if a logged chunk is possible in this file: its variable, position, address and size are
/// valid.
bool fits(const PlacedChunk& c, const std::vector<ChunkGrid>& grids, std::int64_t size) {
    if (c.variable < 0 || c.variable >= std::ssize(grids) || c.record < 0) return false;
    const ChunkGrid& g = grids[c.variable];
    return g.chunked && c.number >= 0 && c.number < g.chunks() && c.address >= 0 &&
           c.address < size && c.bytes >= 0 && c.bytes <= INT64_MAX / 2;
}

Status enter(const std::string& path, const Definitions& definitions,
             const std::vector<ChunkGrid>& grids, std::span<const LoggedChunks> logged,
             std::int64_t size) {
    Status status;
    std::int64_t end = 0;
    const auto index = Netcdf4Index::open(path, definitions, grids, rooms_from(end), status);
    if (!index) return status;
    end = index->end();
    for (const LoggedChunks& one : logged)
        for (const PlacedChunk& c : one.chunks)
            end = std::max(end,
                           c.address + (c.bytes > 0 ? c.bytes : grids[c.variable].chunk_bytes()));
    // Remove the data of incomplete records, so that the index has space to grow.
    if (end < size)
        status = with_file(path, O_WRONLY, [&](int fd) { return set_file_size(fd, path, end); });
    end = rounded(end, page);
    for (const LoggedChunks& one : logged) {
        if (status.ok() && one.records > index->records()) status = index->set_records(one.records);
        for (PlacedChunk c : one.chunks) {
            c.replaces = true;  // HDF5 replaces an entry if the index already contains the chunk
            if (status.ok()) status = index->add(c);
        }
    }
    if (status.ok()) status = index->commit(true);
    Status closed = index->close(true);
    return status.ok() ? closed : status;
}

}  // namespace

std::int64_t logged_records(const std::string& path) {
    std::vector<std::string> names;
    std::vector<LoggedChunks> logged;
    const bool any = read_place_log(path, names, logged) && !logged.empty();
    return any ? logged.back().records : 0;
}

Status enter_logged(const std::string& path) {
    std::vector<std::string> names;
    std::vector<LoggedChunks> logged;
    if (!read_place_log(path, names, logged) || logged.empty()) return {};
    Netcdf4Contents contents;
    if (Status s = read_netcdf4_contents(path, contents); !s.ok()) return s;
    Definitions definitions;
    if (!find_variables(names, contents, definitions)) return {};
    Netcdf4Layout layout;
    layout.take(definitions, contents);
    const std::vector<ChunkGrid>& grids = layout.chunks.grids;
    const auto bad = std::find_if(logged.begin(), logged.end(), [&](const LoggedChunks& one) {
        return !std::all_of(one.chunks.begin(), one.chunks.end(),
                            [&](const PlacedChunk& c) { return fits(c, grids, contents.size); });
    });
    logged.erase(bad, logged.end());
    return logged.empty() ? Status{} : enter(path, definitions, grids, logged, contents.size);
}

Status cut_netcdf4(const std::string& path, std::int64_t records) {
    Netcdf4Contents contents;
    if (Status s = read_netcdf4_contents(path, contents); !s.ok()) return s;
    Netcdf4Layout layout;
    layout.take(contents.definitions, contents);
    Status status;
    std::int64_t end = rounded(contents.size, page);
    const auto index = Netcdf4Index::open(path, contents.definitions, layout.chunks.grids,
                                          rooms_from(end), status);
    if (!index) return status;
    status = index->drop_records(records);
    if (status.ok()) status = index->commit_together(true, true);
    Status closed = index->close(true);
    return status.ok() ? closed : status;
}

}  // namespace thalweg::detail
