// The source of a set of tiles. Each tile is a source of its own, and its part of a variable is a
// part of the whole variable.
//
// SPDX-License-Identifier: Apache-2.0
#include "storage/source.hpp"

#include <algorithm>

#include "storage/several_files.hpp"
#include "storage/tiles/set.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t copy_bytes = 1 << 20;  ///< number of bytes that are compared at a time

class TileSource final : public SeveralFiles {
public:
    TileSource(std::string path) : path_(std::move(path)) {}

    Status open(Comm& comm) {
        int files = 1;
        for (int k = 0; k < files; ++k) {
            const std::string path = tile_path(path_, k);
            Status status;
            auto tile = open_source(comm, path, false, status);
            if (!status.ok()) {
                if (k > 0) reword(status, "{} (the set has {} files)", status.text, files);
                return status;
            }
            tile->forget();
            if (status = join(std::move(tile), path, files); !status.ok()) return status;
        }
        contents_.definitions = set_.whole();
        contents_.files = set_.size();
        count_records();
        if (set_.find_grid(grid_))
            contents_.grid = &grid_;
        else
            contents_.no_append = "the tiles are not parts of a grid";
        return set_.check_cover();
    }

    Status check_files(Comm& comm, bool common_records) override;

    std::vector<SourcePart> parts(int variable, int readers) const override {
        std::vector<SourcePart> all;
        const std::vector<int> holders = set_.holders(variable);
        const int of_each = std::max(1, readers / static_cast<int>(holders.size()));
        for (const int t : holders) {
            const Box box = set_.box(variable, t);
            for (SourcePart part : at(t).parts(variable, of_each)) {
                for (int d = 0; d < box.nd; ++d) part.box.low[d] += box.low[d];
                part.file = t;
                all.push_back(part);
            }
        }
        return all;
    }

    std::int64_t position(int, std::int64_t record) const override { return record; }

    Status check(int variable, std::int64_t record) const override {
        for (int t = 0; t < set_.size(); ++t) {
            Status status = at(t).check(variable, record);
            if (status.ok()) continue;
            status.text = fmt::format("{}: {}", tile_path(path_, t), status.text);
            return status;
        }
        return {};
    }

private:
    class Comparison;

    Status for_files(std::span<const ReadRange> ranges, const Visit& visit) const override {
        for (std::size_t i = 0; i < ranges.size();) {
            const int t = ranges[i].part->file;
            std::vector<ReadRange> own;
            std::vector<SourcePart> parts;
            std::size_t end = i;
            while (end < ranges.size() && ranges[end].part->file == t) ++end;
            // Reserve memory, because ranges point to the elements, which must not move.
            parts.reserve(end - i);
            for (; i < end; ++i) {
                const Box box = set_.box(ranges[i].variable, t);
                parts.push_back(*ranges[i].part);
                for (int d = 0; d < box.nd; ++d) parts.back().box.low[d] -= box.low[d];
                own.push_back(ranges[i]);
                own.back().part = &parts.back();
            }
            if (Status status = visit(t, own); !status.ok()) return status;
        }
        return {};
    }

    /// @param files  number of files in the set; set by the call for the first file
    Status join(std::unique_ptr<Source> joined, const std::string& path, int& files) {
        const Source& tile = *joined;
        if (files_.empty()) {
            files = TileSet::files(tile.definitions());
            contents_ = tile.contents();
            contents_.header = nullptr;
        }
        if (files == 0)
            return failure(TW_EFORMAT, "{}: not part of a set of tiles: it has no attribute {}",
                           OfFile{path}, files_attribute);
        files_.push_back(std::move(joined));
        if (Status status = set_.add(path, tile.definitions()); !status.ok()) return status;
        const auto limit = [&](std::string& all, const std::string& own) {
            if (!own.empty()) all = fmt::format("{}: {}", path, own);
        };
        limit(contents_.no_append, tile.contents().no_append);
        bool same = tile.contents().format == contents_.format;
        for (std::size_t v = 0; v < tile.definitions().variables.size(); ++v) {
            limit(contents_.variables[v].no_append, tile.contents().variables[v].no_append);
            same &= tile.order(v) == order(v);
        }
        if (same) return {};
        return failure(TW_EFORMAT, "{}: its format differs from that of {}", OfFile{path},
                       tile_path(path_, 0));
    }

    std::string path_;
    TileSet set_;
    Grid grid_;
};

/// Compares the tiles of a set.
class TileSource::Comparison {
public:
    explicit Comparison(TileSource& set) : set_(set) {}

    /// Divides the comparisons among the ranks. @return this rank's own status
    Status run(const Comm& comm, bool common_records) {
        Status status = common_records ? Status{} : compare_records();
        for (std::size_t v = 0; v < set_.definitions().variables.size() && status.ok(); ++v)
            status = compare_copies(v, comm.rank(), comm.size());
        return status;
    }

private:
    Status compare_records() const {
        const int dim = set_.definitions().record_dim();
        for (int t = 1; t < set_.contents().files && dim >= 0; ++t)
            if (at(t).records() != at(0).records())
                return failure(TW_EFORMAT,
                               "{}: has {} records along dimension '{}', but {} has {}; "
                               "common_records=yes reads those that all files have",
                               OfFile{path(t)}, at(t).records(), set_.definitions().dims[dim].name,
                               path(0), at(0).records());
        return {};
    }

    /// Compares the values of all tiles that hold the same part of a variable.
    Status compare_copies(int variable, int rank, int ranks) {
        const Variable& v = set_.definitions().variables[variable];
        if (!valid_type(v.type) || v.shape.size() > static_cast<std::size_t>(max_dims)) return {};
        Status status;
        for (const std::vector<int>& tiles : set_.set_.copies(variable)) {
            for (std::size_t i = 1; i < tiles.size() && status.ok(); ++i) {
                if (tiles[i] % ranks != rank) continue;
                status = compare_copy(variable, tiles.front(), tiles[i]);
                at(tiles[i]).forget();
            }
            at(tiles.front()).forget();
        }
        return status;
    }

    Status compare_copy(int variable, int first, int tile) {
        const Variable& v = set_.definitions().variables[variable];
        const std::int64_t piece = copy_bytes / v.element();
        std::vector<char> a, b;
        for (std::int64_t r = 0; r < (v.record ? set_.records() : 1); ++r) {
            // Skip this record: the error will be reported when the variable is read.
            if (!at(first).check(variable, r).ok() || !at(tile).check(variable, r).ok()) continue;
            for (const SourcePart& part : at(tile).parts(variable, 1)) {
                const std::int64_t elements = part.box.volume();
                for (std::int64_t done = 0; done < elements; done += piece) {
                    const std::int64_t n = std::min(piece, elements - done);
                    a.resize(n * v.element());
                    b.resize(a.size());
                    const ReadRange of_a{variable, r, &part, done, n, a.data()},
                        of_b{variable, r, &part, done, n, b.data()};
                    if (Status s = at(first).read({&of_a, 1}); !s.ok()) return s;
                    if (Status s = at(tile).read({&of_b, 1}); !s.ok()) return s;
                    if (a != b) return differ(v, r, first, tile);
                }
            }
        }
        return {};
    }

    Status differ(const Variable& v, std::int64_t record, int first, int tile) const {
        std::string dims;
        for (const int dim : v.dims)
            dims +=
                fmt::format("{}'{}'", dims.empty() ? "" : ", ", set_.definitions().dims[dim].name);
        return failure(TW_EFORMAT,
                       "{}: variable '{}'{} has other values than in {}, although no attribute "
                       "says that the files have different parts of it{}{}",
                       OfFile{path(tile)}, OfVariable{v.name},
                       v.record ? fmt::format(", record {},", record) : "", path(first),
                       dims.empty() ? "" : ": its dimensions are ", dims);
    }

    Source& at(int tile) const { return set_.at(tile); }
    std::string path(int tile) const { return tile_path(set_.path_, tile); }

    TileSource& set_;
};

Status TileSource::check_files(Comm& comm, bool common_records) {
    return agree(comm, Comparison(*this).run(comm, common_records));
}

}  // namespace

std::unique_ptr<Source> open_tile_source(Comm& comm, const std::string& path, Status& status) {
    return opened_source<TileSource>(comm, status, path);
}

}  // namespace thalweg::detail
