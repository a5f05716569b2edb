// SPDX-License-Identifier: Apache-2.0
#include "repack/combine.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "exchange/pack/copy.hpp"
#include "progress.hpp"
#include "publish/check_set.hpp"
#include "repack/output.hpp"
#include "storage/classic/header_reader.hpp"
#include "storage/posix/paths.hpp"
#include "storage/source.hpp"
#include "storage/tiles/set.hpp"

namespace thalweg::app {

using namespace detail;

namespace {

constexpr std::int64_t piece_bytes = std::int64_t(4) << 20;

class Set {
public:
    Set(Comm& comm, std::string path) : comm_(comm), path_(std::move(path)) {}

    Status check(bool common_records, const std::string& output);
    Status read();
    Status write(const std::string& output);
    std::string text() const {
        return fmt::format("{} files, {} records", tiles_.size(), records_);
    }

private:
    Status copy(Output& out);
    Status copy_piece(Output& out, const Variable& v, std::size_t variable, std::int64_t record,
                      const Box& box);
    Status read_part(Source& tile, int variable, std::int64_t record, const Box& whole,
                     const Box& box, const Box& part);

    Comm& comm_;
    std::string path_;
    int files_ = 0;
    std::int64_t records_ = 0;
    std::unique_ptr<Comm> alone_ = make_serial_comm();
    std::vector<std::unique_ptr<Source>> tiles_;
    TileSet set_;
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

/// Opens the tiles, each of which any rank may read.
Status Set::read() {
    // Raise the limit of open files, because a set may have more files than a process may open by
    // default.
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int k = 0; k < files_; ++k) {
        Status status;
        const std::string path = tile_path(path_, k);
        std::unique_ptr<Source> tile = open_source(*alone_, path, true, status);
        if (status.ok()) status = set_.add(path, tile->definitions());
        if (!status.ok()) return status;
        records_ = k == 0 ? tile->records() : std::min(records_, tile->records());
        tiles_.push_back(std::move(tile));
    }
    return {};
}

/// Reads a part of a variable that is contiguous in the tile's file.
Status Set::read_part(Source& tile, int variable, std::int64_t record, const Box& whole,
                      const Box& box, const Box& part) {
    const Variable& own = tile.definitions().variables[static_cast<std::size_t>(variable)];
    const auto size = static_cast<std::int64_t>(own.element());
    Box there = part;
    for (int d = 0; d < part.nd; ++d) there.low[d] -= whole.low[d];
    part_.resize(static_cast<std::size_t>(part.volume() * size));
    const SourcePart all{whole_box(own.shape)};
    const ReadRange range{variable,      record,      &all, linear(own.shape, there.low),
                          part.volume(), part_.data()};
    if (Status status = tile.read({&range, 1}); !status.ok()) return status;
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
        Source& tile = *tiles_[static_cast<std::size_t>(k)];
        Status status = read_part(tile, number, record, whole, box, part);
        if (!status.ok()) return status;
    }
    const Chunk chunk = out.chunk(number, record, first, elements, piece_.data());
    return out.write({&chunk, 1});
}

Status Set::copy(Output& out) {
    std::int64_t turn = 0, total = 0;
    const Definitions& d = set_.whole();
    for (const Variable& v : d.variables)
        total += v.elements() * static_cast<std::int64_t>(v.element()) * (v.record ? records_ : 1);
    Progress progress(total, comm_.rank());
    for (std::size_t i = 0; i < d.variables.size(); ++i) {
        const Variable& v = d.variables[i];
        const auto size = static_cast<std::int64_t>(v.element());
        for (std::int64_t record = 0; record < (v.record ? records_ : 1); ++record) {
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
    Output out(comm_, output, set_.whole());
    StorageOptions options;
    const ClassicHeader& header = *tiles_.front()->contents().header;
    const auto& offsets = header.map.offset;
    const auto first = std::min_element(offsets.begin(), offsets.end());
    options.format = header.format;
    options.spacing.header_pad = first == offsets.end() ? 0 : *first - header.bytes;
    if (Status status = out.create(options); !status.ok()) return status;
    return out.finish(copy(out), records_);
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
