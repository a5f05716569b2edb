// A variable in chunks is read in parts, so that a band of chunks of a part (those that together
// are a range of it) fits into the cache, and readers' shares end between bands: then each chunk is
// read and unpacked once, by one reader, however the pieces of its share are cut.
// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "comm/clock.hpp"
#include "comm/trace.hpp"
#include "comm/waiting.hpp"
#include "storage/netcdf4/chunk_cache.hpp"
#include "storage/netcdf4/chunk_grid.hpp"
#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/existing.hpp"
#include "storage/netcdf4/hdf5_view.hpp"
#include "storage/posix/opened_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t cache_bytes = 32 << 20;
/// Of one band of a part; half of the cache, as the next band may be of another variable.
constexpr std::int64_t most_band = cache_bytes / 2;
constexpr std::int64_t most_parts = 4096;  ///< of a variable

using Way = StoredVariable::Way;

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

std::span<const std::int64_t> shape_of(const Box& box) {
    return std::span(box.count.data(), box.nd);
}

/// A chunk that is under way, and what of a record it holds.
struct Cell {
    ChunkCache::Key key;
    std::vector<hsize_t> corner;  ///< the record dimension included
    std::int64_t at = 0;          ///< element of the chunk at which the record begins
    Box box;                      ///< within the variable
    Box extent;                   ///< of the variable, as far as HDF5 has it
};

void fill_with(const FillValue& value, std::int64_t element, char* to, std::int64_t elements) {
    for (std::int64_t i = 0; i < elements; ++i)
        std::memcpy(to + i * element, value.data(), element);
}

/// Positions counted from `from` on.
Box relative(Box box, const Box& from) {
    for (int d = 0; d < box.nd; ++d) box.low[d] -= from.low[d];
    return box;
}

class Netcdf4Source final : public Source {
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
            if (!valid_type(v.type)) continue;  // nobody can define it
            if (!stored_[i].no_append.empty())
                return failure(TW_EUNSUPPORTED, "mode=append is not possible: variable '{}': {}",
                               v.name, stored_[i].no_append);
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
                       other_records_);
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
            status =
                agree(comm, alone([&]() -> Status {
                          if (same(contents.definitions)) return {};
                          return failure(TW_ESTATE,
                                         "{}: its definitions have changed; open it again", path_);
                      }));
        if (status.ok()) {
            close();
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
        Stopwatch watch(counts_.seconds);
        const Waiting system(the_file_system);
        Span span("read");
        const std::int64_t before = counts_.bytes;
        throttle_.begin();
        looked_again_ = false;
        Status status;
        try {
            for (std::size_t i = 0; i < ranges.size() && status.ok(); ++i) {
                status = read_one(ranges[i]);
                if (!status.ok() && status.text.rfind(path_, 0) != 0)
                    status.text = fmt::format("{}: {}", path_, status.text);
                if (!status.ok())
                    status.text += fmt::format(" (variable '{}')", of(ranges[i].variable).name);
            }
        } catch (const std::bad_alloc&) {
            status = failure(TW_ENOMEM, "{}: out of memory for decompressing chunks", path_);
        }
        span.bytes(counts_.bytes - before);
        throttle_.moved(counts_.bytes - before);
        return status;
    }

    void forget() override {
        close();
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

private:
    const Variable& of(int variable) const { return definitions_.variables[variable]; }
    const StoredVariable& stored(int variable) const { return stored_[variable]; }

    /// Another file may take the name before something is read: the definitions are of this one.
    Status hold(int& fd) const {
        fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        return fd < 0 ? system_failure(path_, "cannot open") : Status{};
    }

    /// After forget(), or where this rank has not read before.
    Status hold_again() {
        if (fd_ >= 0) return {};
        Status status = hold(fd_);
        if (status.ok()) status = check_opened(fd_, path_, opened_);
        if (!status.ok()) forget();
        return status;
    }

    /// netCDF-C opens the file by its name: all of it is of the file that is held.
    Status read_contents(int fd, Netcdf4Contents& contents, OpenedFile& opened) const {
        if (Status s = note_opened(fd, path_, opened); !s.ok()) return s;
        if (Status s = read_netcdf4_contents(path_, contents); !s.ok()) return s;
        int now = -1;
        Status status = hold(now);
        if (status.ok()) status = check_opened(now, path_, opened);
        if (now >= 0) ::close(now);
        return status;
    }

    /// One rank looks, and tells the others.
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
        sets_.assign(stored_.size(), H5I_INVALID_HID);  // for which look() has made room
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
        cache_.clear();
        located_ = {};
    }

    Status open_set(int variable, hid_t& set);
    Status read_one(const ReadRange& range);
    Status read_box(const ReadRange& range, const Box& box, char* to);
    Status read_cell(int variable, const Cell& cell, const Box& box, char* to);
    Status locate(int variable, const Cell& cell);
    Status look_up(int variable, const Cell& cell);
    bool look_again();
    Status read_raw(std::int64_t offset, std::int64_t bytes, char* to);
    Status unpack(int variable, const Cell& cell, const char*& data);
    Status read_by_hdf5(int variable, const Cell& cell, char* to);
    void fill(const FillValue& value, std::int64_t element, const Box& box, const Box& in,
              char* to);

    std::string path_;
    bool root_, reader_;
    int fd_ = -1;  ///< of readers and rank 0
    OpenedFile opened_;
    Format format_ = Format::netcdf4;
    int groups_ = 0;
    std::string no_append_, other_records_;
    std::vector<StoredVariable> stored_;
    std::int64_t size_ = 0;

    // Of readers, once they read.
    std::unique_ptr<Hdf5View> view_;
    std::vector<hid_t> sets_;  ///< of each variable
    ChunkCache cache_{cache_bytes};
    std::optional<Decompressor> decompressor_;
    std::vector<char> raw_, row_;
    bool looked_again_ = false;  ///< in this read
    ChunkCache::Key located_;    ///< whose place is known
    StoredChunk place_;
};

std::vector<SourcePart> Netcdf4Source::parts(int variable, int readers) const {
    const Variable& v = of(variable);
    const StoredVariable& s = stored(variable);
    if (s.way == Way::range || v.shape.empty()) return Source::parts(variable, readers);
    const std::int64_t element = v.element();
    const std::size_t lead = v.record ? 1 : 0;
    const std::size_t nd = v.shape.size();
    const auto chunk = [&](std::size_t d) { return std::min(s.chunk[d + lead], v.shape[d]); };
    std::size_t first = 0;  // dimension along which chunks have a length
    while (first + 1 < nd && chunk(first) == 1) ++first;
    // All records of a chunk are in the cache.
    std::int64_t chunk_bytes = v.record ? s.chunk[0] * element : element;
    for (std::size_t d = 0; d < nd; ++d) chunk_bytes *= chunk(d);
    std::vector<std::int64_t> width(v.shape);  // of a part
    const std::int64_t share = v.elements() * element / std::max(1, readers);
    const std::int64_t most = std::max(chunk_bytes, std::min(most_band, share));
    std::int64_t band = 1, parts = 1;  // chunks of a band
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
        // An uneven end would come once for every index of the slower dimensions.
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
    if (known < 0) known = H5Dopen2(view_->id(), stored(variable).name.c_str(), H5P_DEFAULT);
    set = known;
    return known < 0 ? failure(TW_EFORMAT, "HDF5 cannot open a data set") : Status{};
}

Status Netcdf4Source::read_one(const ReadRange& range) {
    const Variable& v = of(range.variable);
    const StoredVariable& s = stored(range.variable);
    const std::int64_t element = v.element();
    if (s.way == Way::range) {
        if (s.address < 0) {
            fill_with(s.fill, element, range.to, range.elements);
            return {};
        }
        hid_t set = H5I_INVALID_HID;
        if (!view_)
            if (Status status = open_set(range.variable, set); !status.ok()) return status;
        ++counts_.calls;
        counts_.bytes += range.elements * element;
        return read_fully(view_->descriptor(), path_, range.to, range.elements * element,
                          s.address + range.first * element);
    }
    const Box& part = range.part->box;
    Status status;
    char* to = range.to;
    for_boxes_of_range(shape_of(part), range.first, range.first + range.elements,
                       [&](const Box& box) {
                           if (!status.ok()) return;
                           Box placed = box;
                           for (int d = 0; d < box.nd; ++d) placed.low[d] += part.low[d];
                           status = read_box(range, placed, to);
                           to += box.volume() * element;
                       });
    return status;
}

/// Cuts a box, dense at `to`, into what chunks hold of it.
Status Netcdf4Source::read_box(const ReadRange& range, const Box& box, char* to) {
    const Variable& v = of(range.variable);
    const StoredVariable& s = stored(range.variable);
    const std::size_t lead = v.record ? 1 : 0;
    const std::size_t nd = box.nd;
    Cell cell;
    cell.key.variable = range.variable;
    cell.corner.resize(lead + nd);
    cell.extent.nd = box.nd;
    for (std::size_t d = 0; d < nd; ++d) cell.extent.count[d] = s.extent[d + lead];
    if (v.record) {
        cell.key.record = range.record / s.chunk[0];
        cell.corner[0] = static_cast<hsize_t>(cell.key.record * s.chunk[0]);
        cell.at = range.record % s.chunk[0] * volume(std::span(s.chunk).subspan(1));
        if (range.record >= s.extent[0]) {
            fill_with(s.beyond, v.element(), to, box.volume());
            return {};
        }
    }
    Index at{};
    for (std::size_t d = 0; d < nd; ++d) at[d] = box.low[d] / s.chunk[d + lead];
    const Index first = at;
    for (bool more = true; more;) {
        cell.box.nd = box.nd;
        cell.key.number = 0;
        for (std::size_t d = 0; d < nd; ++d) {
            const std::int64_t chunk = s.chunk[d + lead];
            cell.box.low[d] = at[d] * chunk;
            cell.box.count[d] = chunk;
            cell.corner[d + lead] = static_cast<hsize_t>(cell.box.low[d]);
            cell.key.number = cell.key.number * ((v.shape[d] + chunk - 1) / chunk) + at[d];
        }
        if (Status status = read_cell(range.variable, cell, box, to); !status.ok()) return status;
        more = false;
        for (std::size_t d = nd; d-- > 0 && !more;) {
            more = ++at[d] * s.chunk[d + lead] < box.low[d] + box.count[d];
            if (!more) at[d] = first[d];
        }
    }
    return {};
}

/// Puts a value where `box` lies in `in`, which is dense at `to`.
void Netcdf4Source::fill(const FillValue& value, std::int64_t element, const Box& box,
                         const Box& in, char* to) {
    const std::int64_t n = box.nd == 0 ? 1 : box.count[box.nd - 1];
    row_.resize(n * element);
    fill_with(value, element, row_.data(), n);
    const Index stride = strides_of(shape_of(in));
    to += linear(shape_of(in), relative(box, in).low) * element;
    copy_rows(box.nd, box.count, element, row_.data(), Index{}, to, stride);
}

/// Copies what a chunk holds of a box, which is dense at `to`.
Status Netcdf4Source::read_cell(int variable, const Cell& cell, const Box& box, char* to) {
    const StoredVariable& s = stored(variable);
    const std::int64_t element = of(variable).element();
    Box common, part;
    if (!intersect(cell.box, box, common)) return {};
    const bool any = intersect(common, cell.extent, part);
    if (!any || part.volume() < common.volume()) fill(s.beyond, element, common, box, to);
    if (!any) return {};
    const char* data = cache_.find(cell.key);
    if (s.way == Way::chunks && data == nullptr) {
        if (Status status = locate(variable, cell); !status.ok()) return status;
        if (place_.address < 0) {
            fill(s.fill, element, part, box, to);
            return {};
        }
    }
    const Box in_chunk = relative(part, cell.box), in_box = relative(part, box);
    const std::int64_t from = cell.at + linear(shape_of(cell.box), in_chunk.low);
    to += linear(shape_of(box), in_box.low) * element;
    if (s.way == Way::chunks && s.filters.empty() && data == nullptr &&
        contiguous(in_chunk, shape_of(cell.box)) && contiguous(in_box, shape_of(box)))
        return read_raw(from * element, part.volume() * element, to);
    if (data == nullptr)
        if (Status status = unpack(variable, cell, data); !status.ok()) return status;
    copy_rows(part.nd, part.count, element, data + from * element, strides_of(shape_of(cell.box)),
              to, strides_of(shape_of(box)));
    return {};
}

/// Whether HDF5 may know nodes of an index that the file's writer has divided since, and misses
/// what has moved. Then the file is opened anew: once a read, as what a read asks for was there
/// before it.
bool Netcdf4Source::look_again() {
    if (looked_again_ || !view_ || !view_->changed()) return false;
    looked_again_ = true;
    close();
    return true;
}

/// Where HDF5 says that a chunk lies.
Status Netcdf4Source::look_up(int variable, const Cell& cell) {
    hid_t set = H5I_INVALID_HID;
    if (Status status = open_set(variable, set); !status.ok()) return status;
    located_ = {};
    return view_->locate(set, cell.corner.data(), place_);
}

/// Where a chunk lies; what HDF5 says is checked before it is used.
Status Netcdf4Source::locate(int variable, const Cell& cell) {
    if (located_ == cell.key) return {};
    Status status = look_up(variable, cell);
    if ((!status.ok() || place_.address < 0) && look_again()) status = look_up(variable, cell);
    if (!status.ok()) return status;
    const StoredVariable& s = stored(variable);
    const std::int64_t bytes = volume(s.chunk) * of(variable).element();
    if (place_.address >= 0) {
        if (place_.bytes > view_->size() - place_.address)
            return failure(TW_EIO, "{}: the file is truncated: it ends before byte {}", path_,
                           place_.address + place_.bytes);
        if (!Decompressor::plausible(s.filters, place_.skipped, place_.bytes, bytes))
            return failure(
                TW_EFORMAT,
                "the chunk at byte {} is damaged: its {} bytes cannot hold {} bytes of elements",
                place_.address, place_.bytes, bytes);
    }
    located_ = cell.key;
    return {};
}

/// Bytes of the chunk that was located last.
Status Netcdf4Source::read_raw(std::int64_t offset, std::int64_t bytes, char* to) {
    ++counts_.calls;
    counts_.bytes += bytes;
    return read_fully(view_->descriptor(), path_, to, bytes, place_.address + offset);
}

/// Brings a chunk, located before, into the cache.
Status Netcdf4Source::unpack(int variable, const Cell& cell, const char*& data) {
    const StoredVariable& s = stored(variable);
    const std::int64_t bytes = volume(s.chunk) * of(variable).element();
    std::vector<char> memory = cache_.take(bytes);
    if (s.way == Way::hdf5) {
        // HDF5 leaves what has neither data nor a fill value as it is.
        memory.assign(bytes, 0);
        if (Status status = read_by_hdf5(variable, cell, memory.data()); !status.ok())
            return status;
    } else if (s.filters.empty()) {
        memory.resize(bytes);
        if (Status status = read_raw(0, bytes, memory.data()); !status.ok()) return status;
    } else {
        raw_.resize(place_.bytes);
        if (Status status = read_raw(0, place_.bytes, raw_.data()); !status.ok()) return status;
        if (!decompressor_) decompressor_.emplace();
        const char* wrong = decompressor_->undo(s.filters, place_.skipped, raw_, bytes, memory);
        if (wrong != nullptr)
            return failure(TW_EFORMAT, "the chunk at byte {} is damaged: {}", place_.address,
                           wrong);
    }
    data = cache_.add(cell.key, std::move(memory));
    return {};
}

/// A chunk as far as the extent reaches; the rest is not looked at.
Status Netcdf4Source::read_by_hdf5(int variable, const Cell& cell, char* to) {
    (void)look_again();  // HDF5 gives fill values for what it misses
    hid_t set = H5I_INVALID_HID;
    if (Status status = open_set(variable, set); !status.ok()) return status;
    const QuietHdf5 quiet;
    const StoredVariable& s = stored(variable);
    const hid_t type = memory_type(of(variable).type);
    ++counts_.calls;
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
        memory = H5Screate_simple(static_cast<int>(chunk.size()), chunk.data(), nullptr);
        good = good && memory >= 0 &&
               H5Sselect_hyperslab(file, H5S_SELECT_SET, cell.corner.data(), nullptr, count.data(),
                                   nullptr) >= 0 &&
               H5Sselect_hyperslab(memory, H5S_SELECT_SET, origin.data(), nullptr, count.data(),
                                   nullptr) >= 0;
        counts_.bytes += volume(s.chunk) * of(variable).element();
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
