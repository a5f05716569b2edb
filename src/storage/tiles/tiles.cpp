// SPDX-License-Identifier: Apache-2.0
#include "storage/tiles/tiles.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "storage/classic/header_reader.hpp"
#include "storage/posix/paths.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

namespace {

Attribute integers(std::string name, const std::vector<std::int32_t>& values) {
    Attribute a;
    a.name = std::move(name);
    a.type = TW_INT;
    a.n = values.size();
    a.values.resize(values.size() * sizeof values[0]);
    std::memcpy(a.values.data(), values.data(), a.values.size());
    return a;
}

class TileStorage final : public Storage {
public:
    TileStorage(std::unique_ptr<Storage> inner, Grid grid, int tile, std::string path)
        : inner_(std::move(inner)), grid_(std::move(grid)), tile_(tile), path_(std::move(path)) {}

    StorageTraits traits() const override {
        StorageTraits traits = inner_->traits();
        traits.opens_alone = traits.closes_early = false;
        // Each tile has its own record count, which its writer sets.
        traits.header_writer_counts = false;
        return traits;
    }
    bool collective() const override { return inner_->collective(); }

    Status create(Comm& comm, const std::string&, const Definitions& definitions,
                  const StorageOptions& options, bool, FileMap& map) override {
        plain_ = map = plain_map(definitions);
        Status status;
        if (tile_ >= 0) {
            definitions_ = tile_definitions(definitions, grid_, tile_);
            std::string data;
            status = find_data_path(tile_path(path_, tile_), options.live, data);
            if (status.ok())
                status =
                    inner_->create(*alone_, data, definitions_, of_one_writer(options), true, map_);
        }
        return agree(comm, status);
    }

    Status open(Comm& comm, const std::string&, const Definitions& definitions,
                const StorageOptions& options, bool, FileMap& map) override {
        plain_ = map = plain_map(definitions);
        return agree(comm, tile_ < 0 ? Status{} : open_tile(definitions, options));
    }

    void complete_records() override {
        if (tile_ >= 0) inner_->complete_records();
    }
    Status end_unit(std::int64_t records, bool mark) override {
        Status status = tile_ < 0 ? Status{} : inner_->end_unit(records, mark);
        counts_ = inner_->counts();
        return status;
    }

    Status reserve(std::int64_t offset, std::int64_t bytes) override {
        if (tile_ < 0 || bytes == 0) return {};
        if (plain_.record_bytes == 0 || offset < plain_.record_begin)
            return inner_->reserve(0, map_.fixed_end);
        const std::int64_t record = (offset - plain_.record_begin) / plain_.record_bytes;
        return inner_->reserve(map_.record_begin + record * map_.record_bytes, map_.record_bytes);
    }

    Status write(std::span<const Chunk> chunks) override {
        std::vector<Chunk> own;
        for (const Chunk& c : chunks) own.push_back(placed(c));
        Status status = inner_->write(own);
        counts_ = inner_->counts();
        return status;
    }

    void begin_boxes() override {
        if (tile_ >= 0) inner_->begin_boxes();
    }

    Status read(const Chunk& chunk, char* to) override { return inner_->read(placed(chunk), to); }

    Status set_records(std::int64_t records, bool durable) override {
        return tile_ < 0 ? Status{} : inner_->set_records(records, durable);
    }
    Status catch_up() override { return tile_ < 0 ? Status{} : inner_->catch_up(); }
    Status sync() override { return tile_ < 0 ? Status{} : inner_->sync(); }
    Status close(std::int64_t records, const LateAttributes& late) override {
        return tile_ < 0 ? Status{} : inner_->close(records, late);
    }

private:
    static StorageOptions of_one_writer(StorageOptions options) {
        options.header_writer = 0;
        options.writers = 1;
        return options;
    }

    /// Opens an existing tile. Uses the definitions in its file, except for fill values that the
    /// model has set.
    Status open_tile(const Definitions& whole, const StorageOptions& options) {
        const std::string path = tile_path(path_, tile_);
        Status status;
        const std::unique_ptr<Source> source = open_source(*alone_, path, false, status);
        if (status.ok()) status = find_writable(source->contents(), definitions_);
        if (!status.ok()) return status;
        const Definitions expected = tile_definitions(whole, grid_, tile_);
        const auto same = [](const Variable& a, const Variable& b) {
            return a.name == b.name && a.type == b.type && a.shape == b.shape;
        };
        if (!std::equal(expected.variables.begin(), expected.variables.end(),
                        definitions_.variables.begin(), definitions_.variables.end(), same))
            return failure(TW_ESTATE, "{}: its definitions have changed; open the set again",
                           OfFile{path});
        for (std::size_t i = 0; i < expected.variables.size(); ++i)
            definitions_.variables[i].fill = expected.variables[i].fill;
        if (const ClassicHeader* header = source->contents().header) map_ = header->map;
        return inner_->open(*alone_, path, definitions_, of_one_writer(options), true, map_);
    }

    /// Converts a chunk of the whole data set to its position in the tile's file.
    Chunk placed(Chunk c) const {
        const std::size_t v = c.variable;
        const Variable& variable = definitions_.variables[v];
        c.offset = map_.offset[v] + (variable.record ? c.record * map_.record_bytes : 0) +
                   c.first * variable.element();
        return c;
    }

    std::unique_ptr<Storage> inner_;
    std::unique_ptr<Comm> alone_ = make_serial_comm();
    Grid grid_;
    int tile_;
    std::string path_;
    Definitions definitions_;
    FileMap map_, plain_;
};

}  // namespace

std::string tile_path(const std::string& path, int tile) {
    return fmt::format("{}.{:04}", path, tile);
}

bool is_tile_set(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) != 0 && errno == ENOENT &&
           access(tile_path(path, 0).c_str(), F_OK) == 0;
}

DecompositionPlace decomposition_place(const Definitions& definitions, int dim) {
    const std::string& name = definitions.dims[dim].name;
    const int own = definitions.find_variable(name);
    if (own >= 0 && definitions.variables[own].dims == std::vector<int>{dim})
        return {own, decomposition_attribute};
    return {-1, fmt::format("{}_{}", decomposition_attribute, name)};
}

Definitions tile_definitions(const Definitions& definitions, const Grid& grid, int tile) {
    Definitions own = definitions;
    own.attributes.set(integers(files_attribute, {grid.parts()}));
    auto narrow = [&](const std::vector<Cut>& cuts, int part) {
        for (const Cut& cut : cuts) {
            const std::size_t k = part;
            Dimension& dim = own.dims[cut.dim];
            const std::int64_t length = definitions.dims[cut.dim].length;
            const std::int64_t end = k + 1 < cut.begin.size() ? cut.begin[k + 1] : length;
            dim.length = end - cut.begin[k];
            const DecompositionPlace place = decomposition_place(definitions, cut.dim);
            (place.variable < 0 ? own.attributes : own.variables[place.variable].attributes)
                .set(integers(place.attribute, {1, static_cast<std::int32_t>(length),
                                                static_cast<std::int32_t>(cut.begin[k] + 1),
                                                static_cast<std::int32_t>(end)}));
        }
    };
    narrow(grid.y, tile / grid.columns);
    narrow(grid.x, tile % grid.columns);
    for (Variable& v : own.variables)
        for (std::size_t d = 0; d < v.shape.size(); ++d) {
            v.shape[d] = own.dims[v.dims[d + (v.record ? 1 : 0)]].length;
            if (d < v.packing.chunks.size())
                v.packing.chunks[d] = std::min(v.packing.chunks[d], v.shape[d]);
        }
    return own;
}

std::unique_ptr<Storage> make_tile_storage(std::unique_ptr<Storage> inner, Grid grid, int tile,
                                           std::string path) {
    return std::make_unique<TileStorage>(std::move(inner), std::move(grid), tile, std::move(path));
}

}  // namespace thalweg::detail
