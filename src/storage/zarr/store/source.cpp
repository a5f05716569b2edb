// The source of Zarr stores. Each shard is a file with an index of its chunks.
// SPDX-License-Identifier: Apache-2.0
#include "storage/source.hpp"

#include <utility>

#include "storage/netcdf4/chunks/chunk_reader.hpp"
#include "storage/zarr/store/contents.hpp"

namespace thalweg::detail {

namespace {

class ZarrSource final : public Source {
public:
    explicit ZarrSource(std::string path) : path_(std::move(path)) {}

    Status open(Comm& comm) {
        ZarrContents contents;
        Status status = read_contents(comm, path_, 0, contents);
        if (!status.ok()) return status;
        contents_.format = Format::zarr;
        contents_.records = contents.records;
        contents_.definitions = contents.definitions;
        arrays_ = std::move(contents.arrays);
        for (std::size_t i = 0; i < arrays_.size(); ++i) {
            const Variable& v = definitions().variables[i];
            SourceVariable its;
            its.order = Order::native;
            its.storage = {describe(arrays_[i], v, 0).chunk, arrays_[i].filters};
            its.packing = v.packing;
            its.fill = v.fill;
            contents_.variables.push_back(std::move(its));
            StoredVariable stored;
            stored.way = StoredVariable::Way::chunks;
            stored.chunked = true;
            stored.chunk = contents_.variables[i].storage.chunk;
            stored.filters = arrays_[i].filters;
            stored.fill = stored.beyond = v.fill_value();
            stored_.push_back(std::move(stored));
        }
        note_extents();
        return {};
    }

    Status refresh(Comm& comm) override {
        ZarrContents contents;
        Status status = read_contents(comm, path_, 0, contents);
        if (!status.ok()) return status;
        forget();
        ahead_.forget();
        contents_.records = contents.records;
        for (std::size_t i = 0; i < arrays_.size() && i < contents.arrays.size(); ++i)
            arrays_[i].absent = std::move(contents.arrays[i].absent);
        note_extents();
        return {};
    }

    std::vector<SourcePart> parts(int variable, int readers) const override {
        const Variable& v = definitions().variables[variable];
        return v.shape.empty() ? Source::parts(variable, readers)
                               : parts_of(v, stored_[variable], readers);
    }
    std::int64_t position(int, std::int64_t record) const override { return record; }
    Status check(int, std::int64_t) const override { return {}; }

    Status read(std::span<const ReadRange> ranges) override { return here_.read(ranges); }
    Status read_stored(int variable, std::int64_t record, std::int64_t number,
                       std::vector<char>& bytes) override {
        Cell cell;
        cell.key = {variable, record / arrays_[variable].grid.records, number};
        StoredChunk place;
        Status status = here_.find(variable, cell, place);
        bytes.resize(status.ok() && place.address >= 0 ? place.bytes : 0);
        if (!status.ok() || bytes.empty()) return status;
        return read_fully(here_.file.fd(), here_.path, bytes.data(), std::ssize(bytes),
                          place.address);
    }
    void forget() override { here_.forget(); }
    RangeReader& ahead() override { return ahead_; }

private:
    void note_extents() {
        for (std::size_t i = 0; i < stored_.size(); ++i)
            stored_[i].extent = shape_of(*this, static_cast<int>(i));
    }

    /// Reads shards one after another.
    struct Reader final : RangeReader, ChunkReader::Finder {
        explicit Reader(ZarrSource& its) : source(its) {}

        Status find(int variable, const Cell& cell, StoredChunk& place) override {
            const ZarrArray& a = source.arrays_[variable];
            const Variable& v = source.definitions().variables[variable];
            std::int64_t inside = 0;
            const ShardKey key =
                shard_of(a, variable, cell.key.record * a.grid.records, cell.key.number, inside);
            if (key != shard) {
                shard = {};
                file.close();
                path = source.path_ + "/" + shard_path(a, v, key);
                std::int64_t before = 0;
                Status s = read_shard_index(path, a.chunks_a_shard(), was_written(a, key, v.record),
                                            places, before);
                if (s.ok() && !places.empty()) s = file.open();
                if (s.ok() && !places.empty()) s = note_opened(file.fd(), path, opened);
                if (!s.ok()) return s;
                shard = key;
            }
            place = {};
            if (places.empty() || places[inside].bytes < 0) return {};
            place.address = places[inside].offset;
            place.bytes = places[inside].bytes;
            if (Decompressor::plausible(a.filters, 0, place.bytes, a.grid.chunk_bytes())) return {};
            return failure(TW_EFORMAT, "{}: the size of chunk {} is wrong", OfFile{path}, inside);
        }
        Status read_by_hdf5(int, const Cell&, char*) override { return {}; }

        Status read(std::span<const ReadRange> ranges) override {
            return chunks.read(ranges, source.throttle_);
        }
        void forget() override {
            shard = {};
            chunks.clear();
            file.close();
        }

        ZarrSource& source;
        ShardKey shard;  ///< shard whose index is `places`
        std::vector<ChunkPlace> places;
        std::string path;
        ReadFile file{path};
        OpenedFile opened;
        ChunkReader chunks{*this,          file,          opened, path, source.definitions(),
                           source.stored_, source.counts_};
    };

    std::string path_;
    std::vector<ZarrArray> arrays_;
    std::vector<StoredVariable> stored_;
    Reader here_{*this}, ahead_{*this};
};

}  // namespace

std::unique_ptr<Source> open_zarr_source(Comm& comm, const std::string& path, Status& status) {
    return opened_source<ZarrSource>(comm, status, path);
}

}  // namespace thalweg::detail
