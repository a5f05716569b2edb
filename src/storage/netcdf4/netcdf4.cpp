// Writes netCDF-4: definitions by netCDF-C, an index by HDF5, and data by plain writes.
//
// Unfiltered data are placed by Netcdf4Map, and written as those of a classic file. Filtered chunks
// go to the end of the file, where the keeper hands out room (Placement). It enters them in HDF5's
// index when their records are counted. After begin_boxes(), data are kept unpacked until they are
// counted, as any part of them may come later, and packed then.
//
// In an existing file, all chunks are written whole: their shapes and filters are given, and the
// places of new ones cannot be computed.
//
// HDF5 is never called by a thread of the library: the model may use HDF5, too, which is not
// thread-safe.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "storage/netcdf4/chunk_placer.hpp"
#include "storage/netcdf4/chunk_store.hpp"
#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/header.hpp"
#include "storage/netcdf4/index_entries.hpp"
#include "storage/netcdf4/map.hpp"
#include "storage/netcdf4/page.hpp"
#include "storage/posix/plain_file.hpp"
#include "storage/posix/system.hpp"
#include "storage/sums/writer.hpp"

namespace thalweg::detail {

namespace {

/// Target size in bytes of unfiltered chunks; HDF5 can read parts of them.
constexpr std::int64_t plain_chunk = 16 << 20;
constexpr std::int64_t least_packed_chunk = 128 << 10, most_packed_chunk = 2 << 20;
constexpr std::int64_t index_room = 64 << 10;

/// Returns the target size of a chunk in bytes. Filtered chunks are smaller, so that each writer
/// has some, and readers need not decompress much for a few elements.
std::int64_t chunk_target(const Definitions& d, bool packed, std::int64_t writers) {
    if (!packed) return plain_chunk;
    std::int64_t bytes = 0;
    for (const Variable& v : d.variables)
        if (v.record) bytes += v.elements() * v.element();
    return std::clamp(bytes / (2 * writers), least_packed_chunk, most_packed_chunk);
}

class Netcdf4Storage final : public PlainFile {
public:
    const char* name() const override { return "netcdf4"; }
    Order order() const override { return Order::native; }
    std::optional<VariableStorage> stored(int variable) const override {
        const std::size_t v = variable;
        if (v >= layout_.grids.size()) return {};
        const ChunkGrid& g = layout_.grids[v];
        VariableStorage found;
        if (g.chunked) {
            if (definitions_->variables[v].record) found.chunk.push_back(g.records);
            found.chunk.insert(found.chunk.end(), g.chunk.begin(), g.chunk.end());
        }
        for (const StoredFilter& f : layout_.filters[v]) found.filters.push_back({f.id, f.level});
        return found;
    }
    bool collective() const override { return meets() && !store_->boxes(); }
    bool takes_boxes() const override { return true; }
    bool keeper_counts() const override { return !store_->boxes(); }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool writer, FileMap& map) override {
        begin(comm, definitions, options);
        const bool whole = needs_whole_chunks(definitions);
        const std::int64_t target =
            chunk_target(definitions, whole, count_writers(comm, options, writer, whole));
        const auto make = [&]() -> Status {
            path_ = path;
            for (const Variable& v : definitions.variables) {
                layout_.grids.push_back(choose_grid(v, target));
                layout_.filters.push_back(filters_of(v.packing, v.element()));
                layout_.whole.push_back(whole && layout_.grids.back().chunked);
                layout_.fills.push_back(v.fill_value());
            }
            places_ = Netcdf4Map(definitions, layout_.grids, layout_.whole);
            make_store();
            if (!first_) return {};
            NoSizeSignal guard;
            Status status = make_file();
            map = map_;
            return status;
        };
        if (Status status = agree(comm, alone(make)); !status.ok()) return status;
        broadcast(comm, map, options.keeper);
        if (Status status = join(comm); !status.ok()) return status;
        return agree(comm, alone([&]() -> Status {
                         map_ = map;
                         if (!writer && !first_) return {};
                         Status status = open_file();
                         if (status.ok()) status = begin_sums(options);
                         return status.ok() && first_ ? open_new_index() : status;
                     }));
    }

    /// Opens an existing file. Its data stay in place; new chunks are added at its end.
    Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                const StorageOptions& options, bool writer, FileMap& map) override {
        begin(comm, definitions, options);
        kept_ = options.existing.kept;
        std::vector<char> bytes;
        const auto read = [&]() -> Status {
            path_ = path;
            if (!first_) return {};
            Netcdf4Contents contents;
            if (Status s = read_netcdf4_contents(path, contents); !s.ok()) return s;
            give_places(contents);
            bytes = to_bytes(contents);
            return {};
        };
        if (Status status = agree(comm, alone(read)); !status.ok()) return status;
        comm.broadcast(bytes, options.keeper);
        const auto take = [&]() -> Status {
            map = map_ = take_contents(netcdf4_contents_of(bytes));
            return {};
        };
        if (Status status = agree(comm, alone(take)); !status.ok()) return status;
        count_writers(comm, options, writer, layout_.any_whole());
        std::vector<PlacedChunk> chunks;
        const auto open_all = [&]() -> Status {
            make_store();
            if (!writer && !first_) return {};
            NoSizeSignal guard;
            Status status = open_file();
            if (status.ok()) status = begin_sums(options);
            return status.ok() && first_ ? open_existing(chunks) : status;
        };
        if (Status status = agree(comm, alone(open_all)); !status.ok()) return status;
        if (Status status = join(comm); !status.ok()) return status;
        return agree(comm, writer || first_ ? store_->know(std::move(chunks)) : Status{});
    }

    /// Accepts parts of chunks in any order from now on. Allocates nothing, so it cannot fail on
    /// some ranks only: collective() must return the same on all.
    void begin_boxes() override {
        store_->begin_boxes();
        sums_.leave_piece();
    }

    Status write(std::span<const Chunk> chunks) override {
        Status status = write_all(chunks);
        return collective() ? store_->end_piece(std::move(status)) : status;
    }

    Status read(const Chunk& chunk, char* to) override {
        const bool whole = layout_.whole[chunk.variable] != 0;
        return whole && store_->boxes() ? store_->read(chunk, to) : PlainFile::read(chunk, to);
    }

    Status complete() override {
        Stopwatch watch(counts_.seconds);
        Status status = store_->boxes() ? Status{} : store_->complete();
        return status.ok() ? sums_.end_step() : status;
    }

    Status end_unit(std::int64_t records, bool mark) override {
        Stopwatch watch(counts_.seconds);
        Status status = store_->end_unit(records, mark);
        return status.ok() ? sums_.end_step() : status;
    }

    Placement* placement() override { return apart_ && layout_.any_whole() ? &*placer_ : nullptr; }

    Status separate(Comm& comm) override {
        apart_ = true;
        store_->leave();
        return join(comm);
    }

    void meet(Comm& comm) override {
        if (!apart_) return;
        apart_ = false;
        placer_->leave_board();
        (void)join(comm);
    }

    Status set_records(std::int64_t records, bool durable) override {
        if (Status status = place(records); !status.ok()) return status;
        if (Status status = sums_.end_step(); !status.ok()) return status;
        if (!first_) return {};
        if (Status status = alone([&] { return count(records, durable); }); !status.ok())
            return status;
        return later_ ? Status{} : catch_up();
    }

    Status catch_up() override { return index_ ? entries_->enter(index_) : Status{}; }

    Status sync() override {
        Status status = PlainFile::sync();
        return status.ok() ? sums_.sync() : status;
    }

    Status close(std::int64_t records,
                 const std::vector<std::pair<int, Attribute>>& late) override {
        NoSizeSignal guard;
        Status status = alone([&]() -> Status {
            if (Status s = place(records); !s.ok() || !index_) return s;
            if (Status s = count(records, false); !s.ok()) return s;
            if (Status s = catch_up(); !s.ok() || late.empty()) return s;
            if (Status s = index_->set_attributes(late); !s.ok()) return s;
            return index_->commit_together(sync_close_, false);
        });
        if (index_) {
            Status closed = alone([&] { return index_->close(sync_close_); });
            if (status.ok()) status = std::move(closed);
            index_.reset();
            if (status.ok()) entries_->finish();
        }
        Status closed = close_file();
        if (status.ok()) status = std::move(closed);
        if (closed = sums_.close(); status.ok()) status = std::move(closed);
        if (first_ && status.ok() && sync_close_) status = sync_closed(path_);
        return status;
    }

private:
    // ---- opening ----

    void begin(Comm& comm, const Definitions& definitions, const StorageOptions& options) {
        definitions_ = &definitions;
        format_ = options.format;
        wording_ = options.wording;
        throttle_ = Throttle(options.rate);
        first_ = comm.rank() == options.keeper;
        later_ = options.behind;
        apart_ = options.apart;
        sync_close_ = options.durable;
        keeper_ = options.keeper;
    }

    /// Counts the writers, and those on the keeper's node that take addresses from shared memory.
    /// @note Collective
    std::int64_t count_writers(Comm& comm, const StorageOptions& options, bool writer, bool whole) {
        several_ = whole && !options.one_writer;
        writer_ = options.one_writer ? first_ : writer;
        beside_ = writer_ && !first_ && options.beside_keeper;
        std::int64_t sums[] = {writer_ ? 1 : 0, beside_ ? 1 : 0};
        comm.all_reduce(sums, Reduce::sum);
        all_beside_ = sums[1];
        return sums[0];
    }

    void make_store() {
        const auto write = [this](const char* data, std::int64_t bytes, std::int64_t address,
                                  const PlacedChunk& first) {
            return write_chunks(data, bytes, address, first);
        };
        placer_.emplace(layout_.grids, first_, write, counts_.seconds);
        const auto read = [this](char* to, std::int64_t bytes, std::int64_t address) {
            return read_fully(fd_, path_, to, bytes, address);
        };
        entries_.emplace(path_, *definitions_, later_, sync_close_);
        store_ =
            std::make_unique<ChunkStore>(*placer_, read, path_, *definitions_, layout_, wording_);
        store_->note_to(sums_);
    }

    Status begin_sums(const StorageOptions& options) {
        std::vector<std::int64_t> chunks;
        for (std::size_t i = 0; i < layout_.grids.size(); ++i)
            chunks.push_back(layout_.whole[i] != 0 ? layout_.grids[i].chunks() : 0);
        return sums_.begin(path_, *definitions_, chunks, options, first_);
    }

    /// Tests if the writers request space in collective calls.
    bool meets() const { return several_ && !apart_; }

    /// Connects the writers, so that they can get space in the file. Writers that request it in
    /// collective calls get a communicator. Otherwise the writers on the keeper's node share a
    /// table in memory, which contains the end of the file; a writer that cannot map this table
    /// requests space from the keeper.
    /// @return the same on every rank
    /// @note Collective
    Status join(Comm& comm) {
        if (meets()) {
            auto writers = comm.split(writer_ ? 0 : -1, first_ ? -1 : comm.rank());
            if (writers) store_->join(std::move(writers));
        }
        if (!several_ || !apart_ || all_beside_ == 0) return {};
        SegmentName name;
        Status status = agree(comm, alone([&] {
                                  Status made;
                                  if (!first_) return made;
                                  placer_->use(PlaceTable::make(all_beside_, placer_->end(), made));
                                  if (made.ok()) name = placer_->table()->name();
                                  return made;
                              }));
        if (!status.ok()) return status;
        comm.broadcast(&name, sizeof name, keeper_);
        const int place = comm.sum_before(beside_ ? 1 : 0);
        if (!beside_) return {};
        (void)alone([&] {
            placer_->use(PlaceTable::map(name, place, status));
            return status;
        });
        return {};
    }

    Status make_file() {
        Status status = create_netcdf4(path_, *definitions_, layout_.grids, format_);
        if (!status.ok()) return status;
        struct stat info {};
        if (stat(path_.c_str(), &info) != 0) return system_failure(path_, "cannot get its size");
        definitions_bytes_ = info.st_size;
        map_ = places_.file_map(*definitions_, layout_.grids, layout_.whole, definitions_bytes_);
        placer_->set_end(map_.record_begin > 0 ? map_.record_begin : map_.fixed_end);
        return {};
    }

    Status open_new_index() {
        Status status;
        const bool known = !layout_.any_whole();
        index_ = Netcdf4Index::open(
            path_, *definitions_, layout_.grids,
            [this, known, n = std::int64_t(0)](std::int64_t bytes) mutable -> Room {
                if (known || n == 0) return places_.room(map_, definitions_bytes_, n++);
                // Begin this space at a page boundary: object headers in the same page are written
                // together.
                const Room room = room_at_end(bytes + page);
                return {rounded(room.begin, page), room.end};
            },
            status);
        bool placed = false;
        for (std::size_t i = 0; i < layout_.grids.size() && status.ok(); ++i) {
            if (layout_.grids[i].chunked) continue;
            status = index_->place(i, map_.offset[i]);
            placed = true;
        }
        // Commit now, so that readers find the fixed-size variables even before the file has
        // records.
        return status.ok() && placed ? index_->commit(false) : status;
    }

    // ---- existing files ----

    /// Sets the layout on every rank to that of the existing file.
    /// @param contents  contents that the keeper has read
    FileMap take_contents(const Netcdf4Contents& contents) {
        std::vector<std::int64_t> addresses;
        for (const Variable& v : definitions_->variables) {
            const StoredVariable& s = contents.stored[contents.definitions.find_variable(v.name)];
            const bool chunked = s.way == StoredVariable::Way::chunks;
            layout_.grids.push_back(
                grid_of(v, chunked ? std::span(s.chunk) : std::span<const std::int64_t>()));
            layout_.filters.push_back(s.filters);
            layout_.whole.push_back(chunked);
            layout_.fills.push_back(s.fill);
            addresses.push_back(s.address);
        }
        size_ = contents.size;
        return existing_map(*definitions_, layout_.grids, addresses);
    }

    /// Opens the index on the keeper. @param chunks  receives the chunks that the file contains
    Status open_existing(std::vector<PlacedChunk>& chunks) {
        Status status;
        index_ = Netcdf4Index::open(
            path_, *definitions_, layout_.grids,
            [this](std::int64_t bytes) { return room_at_end(bytes); }, status);
        if (!status.ok()) return status;
        // Begin at the end of the file according to its index. A killed run may have left data
        // beyond this end; they may be overwritten.
        placer_->set_end(unwritten_.empty() ? index_->end() : std::max(size_, index_->end()));
        status = fill_places();
        if (status.ok() && index_->records() > kept_) status = drop_records();
        for (std::size_t v = 0; v < layout_.grids.size() && status.ok(); ++v)
            status = find_chunks(v, chunks);
        entries_->begin(kept_);
        return status;
    }

    Status find_chunks(std::size_t variable, std::vector<PlacedChunk>& chunks) {
        return index_->for_chunks(variable, kept_,
                                  [&](const PlacedChunk& c) { chunks.push_back(c); });
    }

    /// Chooses addresses for unchunked variables that were never written.
    void give_places(Netcdf4Contents& contents) {
        for (std::size_t i = 0; i < definitions_->variables.size(); ++i) {
            const Variable& v = definitions_->variables[i];
            StoredVariable& s = contents.stored[contents.definitions.find_variable(v.name)];
            if (s.way != StoredVariable::Way::range || s.address >= 0 || v.elements() == 0)
                continue;
            s.address = rounded(contents.size, 8);
            contents.size = s.address + v.elements() * v.element();
            unwritten_.push_back(i);
        }
    }

    /// Writes fill values to the variables that give_places() has given an address, so that they
    /// read as before.
    Status fill_places() {
        constexpr std::int64_t piece = 1 << 20;
        std::vector<char> bytes(piece);
        for (const int i : unwritten_) {
            const ChunkGrid& g = layout_.grids[i];
            for (std::int64_t at = 0; at < piece; at += g.element)
                std::memcpy(bytes.data() + at, layout_.fills[i].data(), g.element);
            const std::int64_t begin = map_.offset[i], end = begin + g.elements() * g.element;
            for (std::int64_t at = begin; at < end; at += piece)
                if (Status s = write_at(bytes.data(), std::min(piece, end - at), at); !s.ok())
                    return s;
            if (Status s = index_->place(i, begin); !s.ok()) return s;
        }
        return unwritten_.empty() ? Status{} : index_->commit(sync_close_);
    }

    Status drop_records() {
        std::vector<PlacedChunk> chunks;
        Status status;
        for (std::size_t v = 0; v < layout_.grids.size() && status.ok(); ++v)
            if (layout_.grids[v].records > 1) status = find_chunks(v, chunks);
        if (status.ok()) status = store_->know(std::move(chunks));
        for (std::size_t v = 0; v < layout_.grids.size() && status.ok(); ++v)
            if (definitions_->variables[v].record && index_->records(v) > kept_)
                status = store_->cut(v, kept_);
        if (status.ok()) status = index_->drop_records(kept_);
        if (!status.ok()) return status;
        for (const PlacedChunk& c : store_->take_placed(kept_))
            if (status = index_->add(c); !status.ok()) return status;
        status = index_->commit_together(sync_close_, true);
        placer_->set_end(index_->end());
        return status;
    }

    // ---- room ----

    std::int64_t in_file(std::int64_t offset) const override {
        return places_.in_file(map_, offset);
    }

    Room room_at_end(std::int64_t bytes) {
        bytes = std::max(bytes, index_room);
        const std::int64_t at = placer_->take_room(bytes);
        return {at, at + bytes};
    }

    // ---- data ----

    Status write_all(std::span<const Chunk> chunks) {
        if (!layout_.any_whole()) return write_ranges(chunks);
        for (const Chunk& c : chunks) {
            Status status;
            if (layout_.whole[c.variable] == 0) {
                status = write_ranges({&c, 1});
            } else {
                Stopwatch watch(counts_.seconds);
                status = store_->write(c);
            }
            if (!status.ok()) return status;
        }
        return {};
    }

    /// Writes ranges of variables whose elements have known addresses.
    Status write_ranges(std::span<const Chunk> chunks) {
        Status status = sums_.before(chunks);
        if (status.ok()) status = PlainFile::write(chunks);
        return status.ok() ? sums_.note(chunks) : status;
    }

    /// Writes adjacent chunks. @param first  the first of them, named in error messages
    Status write_chunks(const char* data, std::int64_t bytes, std::int64_t address,
                        const PlacedChunk& first) {
        Status status = write_at(data, bytes, address);
        if (status.ok()) return status;
        const Variable& v = definitions_->variables[first.variable];
        reword(status, "{}, variable '{}'", status.text, OfVariable{v.name});
        if (v.record)
            reword(status, "{}, record {}", status.text, OfRecord{wording_.index(first.record)});
        return status;
    }

    Status write_at(const char* data, std::int64_t bytes, std::int64_t address) {
        Span span("write");
        throttle_.begin();
        if (Status status = write_fully(fd_, path_, data, bytes, address); !status.ok())
            return status;
        counts_.count(bytes);
        span.bytes(bytes);
        throttle_.moved(bytes);
        return {};
    }

    // ---- counting ----

    /// Packs and writes the chunks of the records that are about to be counted. Does nothing if
    /// complete() or end_unit() has written them already.
    Status place(std::int64_t records) {
        if (apart_ || collective()) return {};
        Stopwatch watch(counts_.seconds);
        return store_->place(std::max(records, kept_));
    }

    /// Collects the chunks of complete records, which catch_up() enters in the index later.
    Status count(std::int64_t records, bool durable) {
        const auto take = [&](std::int64_t from, std::int64_t to,
                              std::vector<PlacedChunk>& chunks) {
            for (std::int64_t r = from; r < to; ++r)
                for (std::size_t i = 0; i < layout_.grids.size(); ++i)
                    if (definitions_->variables[i].record && layout_.whole[i] == 0)
                        add_known(i, r, chunks);
            const std::vector<PlacedChunk> placed = store_->take_placed(to);
            chunks.insert(chunks.end(), placed.begin(), placed.end());
        };
        return entries_->count(std::max(records, kept_), durable, take);
    }

    /// Adds the chunks of a record for a variable whose chunks have known addresses.
    void add_known(std::int64_t variable, std::int64_t record, std::vector<PlacedChunk>& chunks) {
        const ChunkGrid& g = layout_.grids[variable];
        const std::int64_t bytes = g.chunk_bytes();
        const std::int64_t first = in_file(map_.offset[variable] + record * map_.record_bytes);
        for (std::int64_t n = 0; n < g.chunks(); ++n)
            chunks.push_back({variable, record, n, first + n * bytes, bytes});
    }

    Format format_ = Format::netcdf4;
    int keeper_ = 0;
    bool first_ = false, writer_ = false, beside_ = false, sync_close_ = false;
    bool later_ = false;           ///< catch_up() enters the chunks in the index, not count()
    bool several_ = false;         ///< several writers write whole chunks
    bool apart_ = false;           ///< the writers do not wait for each other
    std::int64_t all_beside_ = 0;  ///< number of writers that share memory with the keeper
    ChunkLayout layout_;
    Netcdf4Map places_;  ///< layout of a new file
    std::int64_t definitions_bytes_ = 0;
    std::int64_t kept_ = 0;  ///< number of records that an existing file keeps
    std::int64_t size_ = 0;  ///< size of the file when it was opened
    /// On the keeper: numbers of the variables that give_places() has given an address.
    std::vector<int> unwritten_;
    SumsWriter sums_;
    std::optional<ChunkPlacer> placer_;
    std::unique_ptr<ChunkStore> store_;

    std::unique_ptr<Netcdf4Index> index_;  ///< index of the file; null on all ranks but the keeper
    std::optional<IndexEntries> entries_;
};

}  // namespace

std::unique_ptr<Storage> make_netcdf4_storage() { return std::make_unique<Netcdf4Storage>(); }

}  // namespace thalweg::detail
