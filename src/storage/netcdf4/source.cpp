// The source of netCDF-4 files. A variable in chunks is read in parts, so that a band of chunks of
// a part (those that together are a range of it) fits into the cache, and readers' shares end
// between bands: then each chunk is read and unpacked once, by one reader, however its share is cut
// into pieces.
// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <new>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "base/waiting.hpp"
#include "storage/netcdf4/chunk_reader.hpp"
#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/existing.hpp"
#include "storage/netcdf4/hdf5_view.hpp"
#include "storage/netcdf4/known_places.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Largest size of a band in bytes: half of the cache, as the next band can belong to another
/// variable.
constexpr std::int64_t most_band = ChunkReader::cache_bytes / 2;
/// Largest number of parts into which a variable is divided.
constexpr std::int64_t most_parts = 4096;

using Way = StoredVariable::Way;

/// Seconds within which two changes of a file can have the same modification time.
constexpr double clock_tick = 0.01;
constexpr int most_looks = 20;

double seconds_of(const timespec& t) {
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Tests if a file has changed within the last clock tick.
bool is_fresh(const struct stat& file) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return std::abs(seconds_of(now) - seconds_of(file.st_mtim)) < clock_tick;
}

bool same_change(const struct stat& a, const struct stat& b) {
    return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

hid_t memory_type(tw_type type) {
    switch (type) {
        case TW_BYTE: return H5T_NATIVE_SCHAR;
        case TW_CHAR: return H5T_C_S1;
        case TW_SHORT: return H5T_NATIVE_INT16;
        case TW_INT: return H5T_NATIVE_INT32;
        case TW_FLOAT: return H5T_NATIVE_FLOAT;
        case TW_DOUBLE: return H5T_NATIVE_DOUBLE;
        case TW_UBYTE: return H5T_NATIVE_UCHAR;
        case TW_USHORT: return H5T_NATIVE_UINT16;
        case TW_UINT: return H5T_NATIVE_UINT32;
        case TW_INT64: return H5T_NATIVE_INT64;
        case TW_UINT64: return H5T_NATIVE_UINT64;
    }
    return H5I_INVALID_HID;
}

class Netcdf4Source final : public Source, public ChunkReader::Finder {
public:
    Netcdf4Source(Comm& comm, std::string path, bool reader)
        : path_(std::move(path)), root_(comm.rank() == 0), reader_(reader) {}
    ~Netcdf4Source() override { Netcdf4Source::forget(); }

    const char* format() const override { return name_of(format_); }
    Order order(int variable) const override {
        return stored(variable).big_endian ? Order::big_endian : Order::native;
    }
    bool byte_of_any_sign() const override { return !has_new_types(format_); }
    std::string missing(const std::string& name) const override {
        if (no_append_ == unreadable_attributes) return no_append_;
        if (groups_ == 0 || name.find('/') == std::string::npos) return {};
        return "variables of groups other than the root group cannot be read";
    }

    VariableStorage storage(int variable) const override {
        const StoredVariable& s = stored(variable);
        VariableStorage found;
        if (s.chunked) found.chunk = s.chunk;
        for (const StoredFilter& f : s.filters) found.filters.push_back({f.id, f.level});
        return found;
    }
    int groups() const override { return groups_; }

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
        Status status = look(comm, contents, fd_, opened_);
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
        int fd = -1;
        OpenedFile opened;
        Status status = look(comm, contents, fd, opened);
        if (status.ok())
            status = agree(comm, alone([&]() -> Status {
                               if (same(contents.definitions)) return {};
                               return failure(TW_ESTATE,
                                              "{}: its definitions have changed; open it again",
                                              OfFile{path_});
                           }));
        if (status.ok()) {
            close();
            forget_behind();
            known_.clear();
            accept(std::move(contents));
            std::swap(fd_, fd);
            opened_ = opened;
        }
        if (fd >= 0) ::close(fd);
        return status;
    }

    std::vector<SourcePart> parts(int variable, int readers) const override;

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
        looked_again_ = false;
        return read_by(here_, ranges);
    }

    void forget() override {
        close();
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

    bool reads_behind() const override { return true; }

    /// Asks HDF5 for the places of chunks, as only the model's thread may call HDF5.
    bool prepare(std::span<const ReadRange> ranges) override {
        Status status;
        for (const ReadRange& range : ranges) {
            const StoredVariable& s = stored(range.variable);
            if (s.way == Way::range) continue;
            if (s.way != Way::chunks) return false;
            status = for_boxes(range, of(range.variable).element(), [&](const Box& box, char*) {
                return for_cells(
                    of(range.variable), s, range.variable, range.record, box,
                    [&](const Cell& cell) {
                        Box part;
                        return cell.stored(box, part) ? make_known(range.variable, cell) : Status{};
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

    /// Opens the file. This happens before its definitions are read, because another file may take
    /// its name later.
    Status hold(int& fd) const {
        fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        return fd < 0 ? system_failure(path_, "cannot open") : Status{};
    }

    /// Opens the file after forget() has closed it, or for the first time on a rank that has not
    /// read yet.
    Status hold_again() {
        if (fd_ >= 0) return {};
        Status status = hold(fd_);
        if (status.ok()) status = check_opened(fd_, path_, opened_);
        if (!status.ok()) forget();
        return status;
    }

    /// Reads the contents repeatedly until the file did not change meanwhile. If it changed, HDF5
    /// may have read one part before and another part after the change.
    Status look_until_steady(int fd, Netcdf4Contents& contents) const {
        for (int look = 1;; ++look) {
            struct stat before {
            }, after{};
            const bool old = fstat(fd, &before) == 0 && !is_fresh(before);
            Status status = read_netcdf4_contents(path_, contents);
            if (status.code != TW_EFORMAT || look == most_looks) return status;
            if (old && fstat(fd, &after) == 0 && same_change(before, after)) return status;
            contents = {};
            sleep_seconds(clock_tick);
        }
    }

    /// Reads the contents, and checks that the path still leads to the open file, because netCDF-C
    /// opens it by its path.
    Status read_contents(int fd, Netcdf4Contents& contents, OpenedFile& opened) const {
        if (Status s = note_opened(fd, path_, opened); !s.ok()) return s;
        if (Status s = look_until_steady(fd, contents); !s.ok()) return s;
        int now = -1;
        Status status = hold(now);
        if (status.ok()) status = check_opened(now, path_, opened);
        if (now >= 0) ::close(now);
        return status;
    }

    /// Reads the contents on one rank, and broadcasts them.
    Status look(Comm& comm, Netcdf4Contents& contents, int& fd, OpenedFile& opened) {
        std::vector<char> bytes;
        Status status = alone([&]() -> Status {
            Status own = reader_ || root_ ? hold(fd) : Status{};
            if (!root_ || !own.ok()) return own;
            own = read_contents(fd, contents, opened);
            if (own.ok()) bytes = to_bytes(contents);
            return own;
        });
        if (status = agree(comm, status); !status.ok()) return status;
        comm.broadcast(&opened, sizeof opened, 0);
        comm.broadcast(bytes, 0);
        return agree(comm, alone([&]() -> Status {
                         contents = netcdf4_contents_of(bytes);
                         sets_.reserve(contents.stored.size());
                         return fd < 0 ? Status{} : check_opened(fd, path_, opened);
                     }));
    }

    void accept(Netcdf4Contents contents) {
        stored_ = std::move(contents.stored);
        records_ = contents.records;
        size_ = contents.size;
        // look() has reserved the memory, so this cannot fail.
        sets_.assign(stored_.size(), H5I_INVALID_HID);
    }

    bool same(const Definitions& other) const {
        const auto& mine = definitions_.variables;
        return std::equal(mine.begin(), mine.end(), other.variables.begin(), other.variables.end(),
                          [](const Variable& a, const Variable& b) {
                              return a.name == b.name && a.type == b.type && a.dims == b.dims &&
                                     a.record == b.record;
                          });
    }

    void close() {
        const QuietHdf5 quiet;
        for (hid_t& set : sets_)
            if (set >= 0) H5Dclose(std::exchange(set, H5I_INVALID_HID));
        view_.reset();
        here_.clear();
    }

    Status open_set(int variable, hid_t& set);
    Status read_stored(int variable, std::int64_t record, std::int64_t number,
                       std::vector<char>& bytes) override;
    Status look_up(int variable, const Cell& cell, StoredChunk& place);
    Status check_place(int variable, const StoredChunk& place) const;
    Status make_known(int variable, const Cell& cell);
    bool look_again();
    // Functions for `here_`, which finds the places of chunks:
    Status descriptor(int& fd) override;
    Status find(int variable, const Cell& cell, StoredChunk& place) override;
    Status read_by_hdf5(int variable, const Cell& cell, char* to) override;

    std::string path_;
    bool root_, reader_;
    int fd_ = -1;  ///< descriptor of the file, on readers and rank 0
    OpenedFile opened_;
    Format format_ = Format::netcdf4;
    int groups_ = 0;
    std::string no_append_, other_records_;
    std::vector<StoredVariable> stored_;
    std::int64_t size_ = 0;

    // The following members are set on readers, at their first read.
    std::unique_ptr<Hdf5View> view_;
    std::vector<hid_t> sets_;    ///< data set of each variable
    bool looked_again_ = false;  ///< the file was already reopened during this read
    ChunkReader here_{*this, path_, definitions_, stored_, counts_};
    // The following members belong to the thread that reads ahead. Other threads only add places to
    // `known_`.
    KnownPlaces known_{path_, opened_};
    ChunkReader behind_{known_, path_, definitions_, stored_, counts_};
};

std::vector<SourcePart> Netcdf4Source::parts(int variable, int readers) const {
    const Variable& v = of(variable);
    const StoredVariable& s = stored(variable);
    if (s.way == Way::range || v.shape.empty()) return Source::parts(variable, readers);
    const std::int64_t element = v.element();
    const std::size_t lead = v.record ? 1 : 0;
    const std::size_t nd = v.shape.size();
    const auto chunk = [&](std::size_t d) { return std::min(s.chunk[d + lead], v.shape[d]); };
    std::size_t first = 0;  // slowest dimension in which chunks are longer than 1
    while (first + 1 < nd && chunk(first) == 1) ++first;
    // All records in a chunk are cached together, so count all of them.
    std::int64_t chunk_bytes = v.record ? s.chunk[0] * element : element;
    for (std::size_t d = 0; d < nd; ++d) chunk_bytes *= chunk(d);
    std::vector<std::int64_t> width(v.shape);  // length of a part in each dimension
    const std::int64_t share = v.elements() * element / std::max(1, readers);
    const std::int64_t most = std::max(chunk_bytes, std::min(most_band, share));
    std::int64_t band = 1, parts = 1;  // number of chunks in a band, and number of parts
    for (std::size_t d = nd; d-- > first + 1;) {
        const std::int64_t chunks = (v.shape[d] + chunk(d) - 1) / chunk(d);
        std::int64_t n = std::clamp<std::int64_t>(most / chunk_bytes / band, 1, chunks);
        n = std::max(n, chunks / std::max<std::int64_t>(1, most_parts / parts));
        width[d] = std::min(v.shape[d], n * chunk(d));
        band *= n;
        parts *= (chunks + n - 1) / n;
    }
    std::vector<SourcePart> result;
    Box box = whole_box(v.shape);
    for (bool more = true; more;) {
        SourcePart part;
        for (std::size_t d = 0; d < nd; ++d)
            box.count[d] = std::min(d > first ? width[d] : v.shape[d], v.shape[d] - box.low[d]);
        part.box = box;
        std::int64_t rest = element;
        for (std::size_t d = first + 1; d < nd; ++d) rest *= box.count[d];
        // Outside the slowest dimension, a short last chunk recurs for each slower index. The grain
        // must then span the whole dimension.
        const bool slowest = volume(std::span(v.shape).first(first)) == 1;
        const bool even = slowest || v.shape[first] % chunk(first) == 0;
        part.grain = rest * (even ? chunk(first) : v.shape[first]);
        result.push_back(part);
        more = false;
        for (std::size_t d = nd; d-- > first + 1 && !more;) {
            box.low[d] += width[d];
            more = box.low[d] < v.shape[d];
            if (!more) box.low[d] = 0;
        }
    }
    return result;
}

Status Netcdf4Source::open_set(int variable, hid_t& set) {
    const QuietHdf5 quiet;
    if (!view_) {
        Status status = hold_again();
        if (status.ok()) view_ = Hdf5View::open(path_, status, fd_);
        if (!status.ok()) return status;
    }
    hid_t& known = sets_[variable];
    if (known < 0) known = view_->open_set(stored(variable).name);
    set = known;
    return known < 0 ? failure(TW_EFORMAT, "HDF5 cannot open a data set") : Status{};
}

/// Closes the file, so that HDF5 reads it again: nodes of the index that HDF5 has in memory may
/// have been split by the program that writes the file. Once per read is enough, since the
/// requested data were in the file before the read.
/// @return false if the file has not changed, or was already closed during this read
bool Netcdf4Source::look_again() {
    if (looked_again_ || !view_ || !view_->changed()) return false;
    looked_again_ = true;
    close();
    return true;
}

/// Asks HDF5 for the place of a chunk.
Status Netcdf4Source::look_up(int variable, const Cell& cell, StoredChunk& place) {
    hid_t set = H5I_INVALID_HID;
    if (Status status = open_set(variable, set); !status.ok()) return status;
    return view_->locate(stored(variable), set, cell.corner.data(), place);
}

/// Checks that the place of a chunk lies in the file, as HDF5 does not check this.
Status Netcdf4Source::check_place(int variable, const StoredChunk& place) const {
    if (place.address < 0) return {};
    const StoredVariable& s = stored(variable);
    const std::int64_t bytes = volume(s.chunk) * of(variable).element();
    if (place.bytes > view_->size() - place.address)
        return failure(TW_EIO, "{}: the file is truncated: it ends before byte {}", OfFile{path_},
                       place.address + place.bytes);
    if (Decompressor::plausible(s.filters, place.skipped, place.bytes, bytes)) return {};
    return failure(TW_EFORMAT,
                   "the chunk at byte {} is damaged: its {} bytes cannot hold {} bytes of elements",
                   place.address, place.bytes, bytes);
}

Status Netcdf4Source::find(int variable, const Cell& cell, StoredChunk& place) {
    Status status = look_up(variable, cell, place);
    if ((!status.ok() || place.address < 0) && look_again())
        status = look_up(variable, cell, place);
    return status.ok() ? check_place(variable, place) : status;
}

Status Netcdf4Source::read_stored(int variable, std::int64_t record, std::int64_t number,
                                  std::vector<char>& bytes) {
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
    if (Status status = find(variable, cell, place); !status.ok()) return status;
    bytes.resize(place.address < 0 ? 0 : place.bytes);
    int fd = -1;
    if (Status status = descriptor(fd); !status.ok() || bytes.empty()) return status;
    return read_fully(fd, path_, bytes.data(), std::ssize(bytes), place.address);
}

/// Looks up the place of a chunk for the thread that reads ahead. Fails if HDF5 does not find the
/// chunk and the file has changed; read() will reopen the file.
Status Netcdf4Source::make_known(int variable, const Cell& cell) {
    if (known_.has(cell.key)) return {};
    StoredChunk place;
    Status status = look_up(variable, cell, place);
    if (status.ok()) status = check_place(variable, place);
    if (status.ok() && place.address < 0 && view_->changed())
        status = failure(TW_ESTATE, "{}: it may have changed", OfFile{path_});
    if (status.ok()) known_.add(cell.key, place);
    return status;
}

Status Netcdf4Source::descriptor(int& fd) {
    Status status = hold_again();
    fd = fd_;
    return status;
}

/// Reads the elements of a chunk that lie within the extent of the data set; leaves the others
/// unchanged.
Status Netcdf4Source::read_by_hdf5(int variable, const Cell& cell, char* to) {
    // HDF5 returns fill values if it does not find a chunk. Reopen a changed file first, so that
    // HDF5 finds new chunks.
    (void)look_again();
    hid_t set = H5I_INVALID_HID;
    if (Status status = open_set(variable, set); !status.ok()) return status;
    const QuietHdf5 quiet;
    const StoredVariable& s = stored(variable);
    const hid_t type = memory_type(of(variable).type);
    const hid_t file = H5Dget_space(set);
    hid_t memory = H5S_ALL;
    bool good = file >= 0;
    if (!s.chunk.empty()) {
        std::vector<hsize_t> chunk(s.chunk.begin(), s.chunk.end()), count(chunk),
            origin(chunk.size(), 0);
        for (std::size_t d = 0; d < count.size(); ++d) {
            const hsize_t left = static_cast<hsize_t>(s.extent[d]) - cell.corner[d];
            count[d] = std::min(count[d], left);
        }
        memory = H5Screate_simple(chunk.size(), chunk.data(), nullptr);
        good = good && memory >= 0 &&
               H5Sselect_hyperslab(file, H5S_SELECT_SET, cell.corner.data(), nullptr, count.data(),
                                   nullptr) >= 0 &&
               H5Sselect_hyperslab(memory, H5S_SELECT_SET, origin.data(), nullptr, count.data(),
                                   nullptr) >= 0;
    }
    good = good && H5Dread(set, type, memory, file, H5P_DEFAULT, to) >= 0;
    const Status status = good ? Status{} : hdf5_failure(path_, "cannot read");
    if (memory != H5S_ALL) H5Sclose(memory);
    if (file >= 0) H5Sclose(file);
    return status;
}

}  // namespace

std::unique_ptr<Source> open_netcdf4_source(Comm& comm, const std::string& path, bool reader,
                                            Status& status) {
    std::unique_ptr<Netcdf4Source> source;
    status = alone([&]() -> Status {
        source = std::make_unique<Netcdf4Source>(comm, path, reader);
        return {};
    });
    if (status = agree(comm, status); status.ok()) status = source->open(comm);
    if (!status.ok()) return nullptr;
    return source;
}

}  // namespace thalweg::detail
