// SPDX-License-Identifier: Apache-2.0
#include "repack/combine.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "exchange/pack/copy.hpp"
#include "progress.hpp"
#include "publish/check_set.hpp"
#include "repack/output.hpp"
#include "storage/classic/defined_file.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"
#include "storage/source.hpp"
#include "storage/tiles/set.hpp"

namespace thalweg::app {

using namespace detail;

namespace {

constexpr std::int64_t piece_bytes = std::int64_t(4) << 20;

/// A tile: its file, and what its header contains.
struct Tile {
    DefinedFile file;
    std::string path;
    int fd = -1;
};

class Set {
public:
    Set(Comm& comm, std::string path) : comm_(comm), path_(std::move(path)) {}
    ~Set() {
        for (const Tile& tile : tiles_)
            if (tile.fd >= 0) ::close(tile.fd);
    }
    Set(const Set&) = delete;
    Set& operator=(const Set&) = delete;

    Status check(bool common_records, const std::string& output);
    Status read();
    Status write(const std::string& output);
    std::string text() const {
        return fmt::format("{} files, {} records", tiles_.size(), whole_.records);
    }

private:
    Status copy(Output& out);
    Status copy_piece(Output& out, const Variable& v, std::size_t variable, std::int64_t record,
                      const Box& box);
    Status read_part(Tile& tile, const Variable& v, std::size_t variable, std::int64_t record,
                     const Box& whole, const Box& box, const Box& part);

    Comm& comm_;
    std::string path_;
    int files_ = 0;
    std::vector<Tile> tiles_;
    TileSet set_;
    DefinedFile whole_;
    std::vector<char> piece_, part_;
};

/// Checks that the tiles belong together. @note Collective
Status Set::check(bool common_records, const std::string& output) {
    Status status;
    const std::unique_ptr<Source> source = open_tile_source(comm_, path_, status);
    if (!status.ok()) return status;
    files_ = source->contents().files;
    if (is_netcdf4(source->contents().format))
        return failure(TW_EUNSUPPORTED,
                       "{}: netCDF-4; combine joins files of the classic formats: use thalweg "
                       "repack {} OUT",
                       tile_path(path_, 0), path_);
    if (status = check_set(comm_, *source, path_, common_records); !status.ok()) return status;
    std::vector<std::string> inputs;
    for (int k = 0; k < files_; ++k) inputs.push_back(tile_path(path_, k));
    return agree(comm_, check_not_input(inputs, output));
}

/// Reads the headers of the tiles, from which the offsets of their data follow.
Status Set::read() {
    // Raise the limit of open files, because a set may have more files than a process may open by
    // default.
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int k = 0; k < files_; ++k) {
        Tile tile;
        tile.path = tile_path(path_, k);
        if (Status status = read_definitions(tile.path, tile.file); !status.ok()) return status;
        if (Status status = set_.add(tile.path, tile.file.definitions); !status.ok()) return status;
        if (k == 0) whole_ = tile.file;
        whole_.records = std::min(whole_.records, tile.file.records);
        tile.fd = ::open(tile.path.c_str(), O_RDONLY | O_CLOEXEC);
        if (tile.fd < 0) return system_failure(tile.path, "cannot open");
        tiles_.push_back(std::move(tile));
    }
    whole_.definitions = set_.whole();
    return {};
}

/// Reads a part of a variable that is contiguous in the tile's file.
Status Set::read_part(Tile& tile, const Variable& v, std::size_t variable, std::int64_t record,
                      const Box& whole, const Box& box, const Box& part) {
    const auto size = static_cast<std::int64_t>(v.element());
    const Variable& own = tile.file.definitions.variables[variable];
    Box there = part;
    for (int d = 0; d < part.nd; ++d) there.low[d] -= whole.low[d];
    const std::int64_t bytes = part.volume() * size;
    part_.resize(static_cast<std::size_t>(bytes));
    const std::int64_t offset = tile.file.map.offset[variable] +
                                (v.record ? record * tile.file.map.record_bytes : 0) +
                                linear(own.shape, there.low) * size;
    Status status = read_fully(tile.fd, tile.path, part_.data(), bytes, offset);
    if (!status.ok()) {
        status.text += fmt::format(" (variable '{}')", v.name);
        return status;
    }
    auto strides = [&](const Box& of) {
        Index stride = strides_of(std::span(of.count.data(), static_cast<std::size_t>(of.nd)));
        for (int d = 0; d < of.nd; ++d) stride[d] *= size;
        return stride;
    };
    const Index to = strides(box);
    char* at = piece_.data();
    for (int d = 0; d < part.nd; ++d) at += (part.low[d] - box.low[d]) * to[d];
    copy_box(part.nd, part.count, at, to, part_.data(), strides(part),
             move_kernel(static_cast<std::size_t>(size)), nullptr);
    return {};
}

/// Copies a box that is contiguous in the output. Each tile's part of the box is contiguous in that
/// tile.
Status Set::copy_piece(Output& out, const Variable& v, std::size_t variable, std::int64_t record,
                       const Box& box) {
    const auto number = static_cast<int>(variable);
    const std::int64_t first = linear(v.shape, box.low), elements = box.volume();
    const std::int64_t bytes = elements * static_cast<std::int64_t>(v.element());
    piece_.resize(static_cast<std::size_t>(bytes + out.padding(number, first, elements)));
    for (const int k : set_.holders(number)) {
        const Box whole = set_.box(number, k);
        Box part;
        if (!intersect(box, whole, part)) continue;
        Tile& tile = tiles_[static_cast<std::size_t>(k)];
        Status status = read_part(tile, v, variable, record, whole, box, part);
        if (!status.ok()) return status;
    }
    const Chunk chunk = out.chunk(number, record, first, elements, piece_.data());
    return out.write({&chunk, 1});
}

Status Set::copy(Output& out) {
    std::int64_t turn = 0, total = 0;
    const Definitions& d = whole_.definitions;
    for (const Variable& v : d.variables)
        total +=
            v.elements() * static_cast<std::int64_t>(v.element()) * (v.record ? whole_.records : 1);
    Progress progress(total, comm_.rank());
    for (std::size_t i = 0; i < d.variables.size(); ++i) {
        const Variable& v = d.variables[i];
        const auto size = static_cast<std::int64_t>(v.element());
        for (std::int64_t record = 0; record < (v.record ? whole_.records : 1); ++record) {
            std::vector<Box> todo{whole_box(v.shape)};
            while (!todo.empty()) {
                Box box = todo.back();
                todo.pop_back();
                if (box.volume() > 1 && box.volume() * size > piece_bytes) {
                    todo.push_back(halve(box));
                    todo.push_back(box);
                    continue;
                }
                progress.add(box.volume() * size, v.name);
                if (turn++ % out.writers() != out.writer()) continue;
                if (Status status = copy_piece(out, v, i, record, box); !status.ok()) return status;
            }
        }
    }
    return {};
}

Status Set::write(const std::string& output) {
    Output out(comm_, output, whole_.definitions);
    StorageOptions options;
    options.format = whole_.format;
    options.spacing.header_pad = whole_.free;
    if (Status status = out.create(options); !status.ok()) return status;
    return out.finish(copy(out), whole_.records);
}

}  // namespace

Status combine(Comm& comm, const std::string& path, const std::string& output, bool common_records,
               std::string& done) {
    std::string name = path;
    const std::string number = path.size() > 5 ? path.substr(path.size() - 5) : "";
    if (!number.empty() && number[0] == '.' &&
        number.find_first_not_of("0123456789", 1) == std::string::npos)
        name.resize(path.size() - 5);
    const std::string& own = output.empty() ? name : output;
    std::string from, to;
    Status status = share_path(comm, name, from);
    if (status.ok()) status = share_path(comm, own, to);
    if (!status.ok()) return status;
    Set set(comm, from);
    if (status = set.check(common_records, to); !status.ok()) return status;
    if (status = agree(comm, set.read()); !status.ok()) return status;
    status = set.write(to);
    done = fmt::format("{}: {} joined", own, set.text());
    return status;
}

}  // namespace thalweg::app
