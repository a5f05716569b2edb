// The source of netCDF-4 files. Readers read and unpack chunks; HDF5 only says where they are.
// SPDX-License-Identifier: Apache-2.0
#include "storage/source.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "storage/chunked/chunk_grid.hpp"
#include "storage/netcdf4/chunks/hdf5_places.hpp"
#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/existing.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

using Way = StoredVariable::Way;

/// Tests if two files have the same variables.
bool same(const Definitions& one, const Definitions& other) {
    return std::equal(one.variables.begin(), one.variables.end(), other.variables.begin(),
                      other.variables.end(), [](const Variable& a, const Variable& b) {
                          return a.name == b.name && a.type == b.type && a.dims == b.dims &&
                                 a.record == b.record;
                      });
}

/// Places of chunks that the model's thread has asked HDF5 for, so that another thread can read
/// them without it. Any thread may call its functions.
class KnownPlaces final : public ChunkReader::Finder {
public:
    explicit KnownPlaces(const std::string& path) : path_(path) {}

    void add(const ChunkCache::Key& key, const StoredChunk& place) {
        constexpr std::size_t most = 1 << 16;
        const std::lock_guard lock(small_);
        // Forget all places: any that are missing later are looked up again.
        if (places_.size() >= most) places_.clear();
        places_[key] = place;
    }
    bool has(const ChunkCache::Key& key) const {
        const std::lock_guard lock(small_);
        return places_.contains(key);
    }
    void clear() {
        const std::lock_guard lock(small_);
        places_.clear();
    }

    Status find(int, const Cell& cell, StoredChunk& place) override {
        const std::lock_guard lock(small_);
        const auto found = places_.find(cell.key);
        if (found == places_.end())
            return failure(TW_ESTATE, "{}: an unknown chunk", OfFile{path_});
        place = found->second;
        return {};
    }
    Status read_by_hdf5(int, const Cell&, char*) override {
        return failure(TW_ESTATE, "{}: only HDF5 can read it", OfFile{path_});
    }

private:
    const std::string& path_;
    mutable std::mutex small_;  ///< guards the members below
    std::map<ChunkCache::Key, StoredChunk> places_;
};

class Netcdf4Source final : public Source {
public:
    Netcdf4Source(std::string path, bool reader) : path_(std::move(path)), reader_(reader) {}

    Status open(Comm& comm) {
        Netcdf4Contents contents;
        Status status = look(comm, contents, file_, opened_);
        if (!status.ok()) return status;
        contents_.definitions = std::move(contents.definitions);
        contents_.format = contents.format;
        contents_.groups = contents.groups;
        if (contents.no_append == unreadable_attributes) contents_.unlisted = contents.no_append;
        contents_.no_append = std::move(contents.no_append);
        contents_.other_records = std::move(contents.other_records);
        for (std::size_t i = 0; i < contents.stored.size(); ++i) {
            const StoredVariable& v = contents.stored[i];
            SourceVariable its;
            its.order = v.big_endian ? Order::big_endian : Order::native;
            its.storage = {v.chunked ? v.chunk : std::vector<std::int64_t>{}, v.filters};
            its.no_append = v.no_append;
            if (v.way != Way::none) its.packing = packing_of(definitions().variables[i], v);
            if (v.chosen_fill) its.fill = v.fill;
            contents_.variables.push_back(std::move(its));
        }
        accept(std::move(contents));
        return {};
    }

    Status refresh(Comm& comm) override {
        Netcdf4Contents contents;
        ReadFile file(path_);
        OpenedFile opened;
        Status status = look(comm, contents, file, opened);
        if (status.ok())
            status = agree(
                comm, same(definitions(), contents.definitions)
                          ? Status{}
                          : failure(TW_ESTATE, "{}: its definitions have changed; open it again",
                                    OfFile{path_}));
        if (status.ok()) {
            forget();
            ahead_.forget();
            ahead_.known.clear();
            accept(std::move(contents));
            file_.swap(file);
            opened_ = opened;
        }
        return status;
    }

    std::vector<SourcePart> parts(int variable, int readers) const override {
        const Variable& v = of(variable);
        const StoredVariable& s = stored_[variable];
        if (s.way == Way::range || v.shape.empty()) return Source::parts(variable, readers);
        return parts_of(v, s, readers);
    }

    std::int64_t position(int variable, std::int64_t record) const override {
        const StoredVariable& s = stored_[variable];
        return s.way == Way::range ? std::max<std::int64_t>(0, s.address) : record;
    }

    Status check(int variable, std::int64_t) const override {
        const StoredVariable& s = stored_[variable];
        if (s.way == Way::none) return failure(TW_EUNSUPPORTED, "{}", s.why);
        const Variable& v = of(variable);
        const std::int64_t bytes = v.elements() * v.element();
        if (s.way != Way::range || s.address <= size_ - bytes) return {};
        return failure(TW_EIO,
                       "the file is truncated: it has {} bytes, but the data begin at byte {}",
                       size_, s.address);
    }

    Status read(std::span<const ReadRange> ranges) override {
        places_.begin();
        return here_.read(ranges, throttle_);
    }

    Status read_stored(int variable, std::int64_t record, std::int64_t number,
                       std::vector<char>& bytes) override {
        const StoredVariable& s = stored_[variable];
        const Variable& v = of(variable);
        if (s.way != Way::chunks)
            return failure(TW_EUNSUPPORTED, "variable '{}' is not stored in chunks", v.name);
        Cell cell;
        if (v.record) cell.corner.push_back(record / s.chunk[0] * s.chunk[0]);
        const Index corner = grid_of(v, s.chunk).corner(number);
        cell.corner.insert(cell.corner.end(), corner.begin(), corner.begin() + v.shape.size());
        StoredChunk place;
        if (Status status = places_.find(variable, cell, place); !status.ok()) return status;
        bytes.resize(place.address < 0 ? 0 : place.bytes);
        if (bytes.empty()) return {};
        if (Status status = file_.open_again(opened_); !status.ok()) return status;
        return read_fully(file_.fd(), path_, bytes.data(), std::ssize(bytes), place.address);
    }

    void forget() override {
        places_.close();
        here_.clear();
        file_.close();
    }
    RangeReader& ahead() override { return ahead_; }

private:
    const Variable& of(int variable) const { return definitions().variables[variable]; }

    /// Reads the contents on one rank, and broadcasts them. Opens the file before its definitions
    /// are read, because another file may take its name later.
    Status look(Comm& comm, Netcdf4Contents& contents, ReadFile& file, OpenedFile& opened) {
        std::vector<char> bytes;
        const bool root = comm.rank() == 0;
        Status status = reader_ || root ? file.open() : Status{};
        if (root && status.ok())
            status = catch_errors([&] {
                Status own = read_steady_contents(file, path_, contents, opened);
                if (own.ok()) bytes = to_bytes(contents);
                return own;
            });
        if (status = agree(comm, status); !status.ok()) return status;
        comm.broadcast(&opened, sizeof opened, 0);
        comm.broadcast(bytes, 0);
        contents = netcdf4_contents_of(bytes);
        return agree(comm, file.fd() < 0 ? Status{} : check_opened(file.fd(), path_, opened));
    }

    void accept(Netcdf4Contents contents) {
        stored_ = std::move(contents.stored);
        contents_.records = contents.records;
        size_ = contents.size;
    }

    /// Reads chunks on another thread than the rank's.
    struct Ahead final : RangeReader {
        explicit Ahead(Netcdf4Source& its) : source(its) {}

        /// Asks HDF5 for the places of chunks, as only the model's thread may call HDF5.
        bool prepare(std::span<const ReadRange> ranges) override {
            return std::all_of(ranges.begin(), ranges.end(), [&](const ReadRange& range) {
                const StoredVariable& s = source.stored_[range.variable];
                if (s.way != Way::chunks) return s.way == Way::range;
                const Variable& v = source.of(range.variable);
                return for_boxes(range, v.element(),
                                 [&](const Box& box, char*) {
                                     return for_cells(
                                         v, s, range.variable, range.record, box,
                                         [&](const Cell& cell) { return find(cell, box); });
                                 })
                    .ok();
            });
        }
        void end_prepare() override { source.forget(); }
        Status read(std::span<const ReadRange> ranges) override {
            return reader.read(ranges, source.throttle_);
        }
        void forget() override {
            reader.clear();
            file.close();
        }
        Status find(const Cell& cell, const Box& box) {
            Box part;
            StoredChunk place;
            if (!cell.stored(box, part) || known.has(cell.key)) return {};
            Status found = source.places_.find_steady(cell.key.variable, cell, place);
            if (found.ok()) known.add(cell.key, place);
            return found;
        }

        Netcdf4Source& source;
        // The thread uses the following members. The rank only adds places to `known`.
        KnownPlaces known{source.path_};
        ReadFile file{source.path_};
        ChunkReader reader{
            known,          file,          source.opened_, source.path_, source.definitions(),
            source.stored_, source.counts_};
    };

    std::string path_;
    bool reader_;
    ReadFile file_{path_};  ///< on readers and rank 0
    OpenedFile opened_;
    std::vector<StoredVariable> stored_;
    std::int64_t size_ = 0;
    Hdf5Places places_{path_, definitions(), stored_, file_, opened_};
    ChunkReader here_{places_, file_, opened_, path_, definitions(), stored_, counts_};
    Ahead ahead_{*this};
};

}  // namespace

std::unique_ptr<Source> open_netcdf4_source(Comm& comm, const std::string& path, bool reader,
                                            Status& status) {
    return opened_source<Netcdf4Source>(comm, status, path, reader);
}

}  // namespace thalweg::detail
