// The source of netCDF-4 files. Readers read and unpack chunks; HDF5 only says where they are.
// SPDX-License-Identifier: Apache-2.0
#include "storage/source.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "base/waiting.hpp"
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
/// them without it.
class KnownPlaces final : public ChunkReader::Finder {
public:
    KnownPlaces(const std::string& path, const OpenedFile& opened) : path_(path), opened_(opened) {}

    // Any thread may call the following functions.
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

    // The following functions may be called by the thread that reads, or by another thread while
    // that one does not read.
    Status descriptor(int& fd) override {
        Status status = file_.open_again(opened_);
        fd = file_.fd();
        return status;
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
    void close() { file_.close(); }

private:
    const std::string& path_;
    const OpenedFile& opened_;
    ReadFile file_{path_};
    mutable std::mutex small_;  ///< guards the members below
    std::map<ChunkCache::Key, StoredChunk> places_;
};

class Netcdf4Source final : public Source {
public:
    Netcdf4Source(std::string path, bool reader) : path_(std::move(path)), reader_(reader) {}

    Order order(int variable) const override {
        return stored(variable).big_endian ? Order::big_endian : Order::native;
    }
    std::string missing(const std::string& name) const override {
        if (no_append_ == unreadable_attributes) return no_append_;
        if (groups_ == 0 || name.find('/') == std::string::npos) return {};
        return "variables of groups other than the root group cannot be read";
    }

    VariableStorage storage(int variable) const override {
        const StoredVariable& s = stored(variable);
        return {s.chunked ? s.chunk : std::vector<std::int64_t>{}, s.filters};
    }

    Status find_writable(Definitions& writable) const override {
        if (!no_append_.empty())
            return failure(TW_EUNSUPPORTED, "mode=append is not possible: {}", no_append_);
        writable = definitions_;
        writable.variables.clear();
        for (std::size_t i = 0; i < stored_.size(); ++i) {
            const Variable& v = definitions_.variables[i];
            // Skip types of other programs, as a model cannot define a variable of such a type.
            if (!valid_type(v.type)) continue;
            if (!stored_[i].no_append.empty())
                return failure(TW_EUNSUPPORTED, "mode=append is not possible: variable '{}': {}",
                               OfVariable{v.name}, stored_[i].no_append);
            writable.variables.push_back(v);
            writable.variables.back().packing = packing_of(v, stored_[i]);
            if (stored_[i].chosen_fill) writable.variables.back().fill = stored_[i].fill;
        }
        return {};
    }

    Status can_drop_records() const override {
        if (other_records_.empty()) return {};
        return failure(TW_EUNSUPPORTED,
                       "records cannot be dropped: variable '{}', which the library does not "
                       "write, has records",
                       OfVariable{other_records_});
    }

    Status open(Comm& comm) {
        Netcdf4Contents contents;
        Status status = look(comm, contents, file_, opened_);
        if (!status.ok()) return status;
        definitions_ = std::move(contents.definitions);
        format_ = contents.format;
        groups_ = contents.groups;
        no_append_ = std::move(contents.no_append);
        other_records_ = std::move(contents.other_records);
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
                comm, same(definitions_, contents.definitions)
                          ? Status{}
                          : failure(TW_ESTATE, "{}: its definitions have changed; open it again",
                                    OfFile{path_}));
        if (status.ok()) {
            forget();
            forget_behind();
            known_.clear();
            accept(std::move(contents));
            file_.swap(file);
            opened_ = opened;
        }
        return status;
    }

    std::vector<SourcePart> parts(int variable, int readers) const override {
        const Variable& v = of(variable);
        const StoredVariable& s = stored(variable);
        if (s.way == Way::range || v.shape.empty()) return Source::parts(variable, readers);
        return parts_of(v, s, readers);
    }

    std::int64_t position(int variable, std::int64_t record) const override {
        const StoredVariable& s = stored(variable);
        return s.way == Way::range ? std::max<std::int64_t>(0, s.address) : record;
    }

    Status check(int variable, std::int64_t) const override {
        const StoredVariable& s = stored(variable);
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
        return read_by(here_, ranges);
    }

    Status read_stored(int variable, std::int64_t record, std::int64_t number,
                       std::vector<char>& bytes) override {
        const StoredVariable& s = stored(variable);
        const Variable& v = of(variable);
        const std::size_t lead = v.record ? 1 : 0;
        if (s.way != Way::chunks)
            return failure(TW_EUNSUPPORTED, "variable '{}' is not stored in chunks", v.name);
        Cell cell;
        cell.corner.resize(lead + v.shape.size());
        if (v.record) cell.corner[0] = record / s.chunk[0] * s.chunk[0];
        for (std::size_t d = v.shape.size(); d-- > 0;) {
            const std::int64_t chunk = s.chunk[d + lead], n = (v.shape[d] + chunk - 1) / chunk;
            cell.corner[d + lead] = number % n * chunk;
            number /= n;
        }
        StoredChunk place;
        if (Status status = places_.find(variable, cell, place); !status.ok()) return status;
        bytes.resize(place.address < 0 ? 0 : place.bytes);
        int fd = -1;
        if (Status status = places_.descriptor(fd); !status.ok() || bytes.empty()) return status;
        return read_fully(fd, path_, bytes.data(), std::ssize(bytes), place.address);
    }

    void forget() override {
        places_.close();
        here_.clear();
        file_.close();
    }

    /// Asks HDF5 for the places of chunks, as only the model's thread may call HDF5.
    bool prepare(std::span<const ReadRange> ranges) override {
        Status status;
        for (const ReadRange& range : ranges) {
            const StoredVariable& s = stored(range.variable);
            if (s.way == Way::range) continue;
            if (s.way != Way::chunks) return false;
            status = for_boxes(range, of(range.variable).element(), [&](const Box& box, char*) {
                return for_cells(of(range.variable), s, range.variable, range.record, box,
                                 [&](const Cell& cell) -> Status {
                                     Box part;
                                     StoredChunk place;
                                     if (!cell.stored(box, part) || known_.has(cell.key)) return {};
                                     Status found =
                                         places_.find_steady(range.variable, cell, place);
                                     if (found.ok()) known_.add(cell.key, place);
                                     return found;
                                 });
            });
            if (!status.ok()) return false;
        }
        return true;
    }

    void end_prepare() override { forget(); }

    Status read_behind(std::span<const ReadRange> ranges) override {
        return read_by(behind_, ranges);
    }

    void forget_behind() override {
        behind_.clear();
        known_.close();
    }

private:
    const Variable& of(int variable) const { return definitions_.variables[variable]; }
    const StoredVariable& stored(int variable) const { return stored_[variable]; }

    Status read_by(ChunkReader& reader, std::span<const ReadRange> ranges) {
        Stopwatch watch(counts_.seconds);
        const Waiting system(the_file_system);
        Span span("read");
        const std::int64_t before = counts_.bytes;
        throttle_.begin();
        Status status;
        try {
            for (std::size_t i = 0; i < ranges.size() && status.ok(); ++i) {
                status = reader.read(ranges[i]);
                if (status.ok()) continue;
                if (status.place.file.empty()) reword(status, "{}: {}", OfFile{path_}, status.text);
                reword(status, "{} (variable '{}')", status.text,
                       OfVariable{of(ranges[i].variable).name});
            }
        } catch (const std::bad_alloc&) {
            status =
                failure(TW_ENOMEM, "{}: out of memory for decompressing chunks", OfFile{path_});
        }
        span.bytes(counts_.bytes - before);
        throttle_.moved(counts_.bytes - before);
        return status;
    }

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
        records_ = contents.records;
        size_ = contents.size;
    }

    std::string path_;
    bool reader_;
    ReadFile file_{path_};  ///< on readers and rank 0
    OpenedFile opened_;
    std::string no_append_, other_records_;
    std::vector<StoredVariable> stored_;
    std::int64_t size_ = 0;
    Hdf5Places places_{path_, definitions_, stored_, file_, opened_};
    ChunkReader here_{places_, path_, definitions_, stored_, counts_};
    // The following members belong to the thread that reads ahead. Other threads only add places to
    // `known_`.
    KnownPlaces known_{path_, opened_};
    ChunkReader behind_{known_, path_, definitions_, stored_, counts_};
};

}  // namespace

std::unique_ptr<Source> open_netcdf4_source(Comm& comm, const std::string& path, bool reader,
                                            Status& status) {
    return opened_source<Netcdf4Source>(comm, status, path, reader);
}

}  // namespace thalweg::detail
