// netCDF-4: definitions by netCDF-C, an index by HDF5, and data by plain writes of every writer.
//
// Unfiltered data lie where Netcdf4Map says, and are written as those of a classic file. Filtered
// chunks go to the end of the file: one writer takes the room it needs; several pack a number of
// pieces into memory each and then ask together. In both cases the keeper enters the chunks in
// HDF5's index when their records are counted. With boxes, what is not counted yet is kept
// unpacked, as any part of it may come later, and packed when it is counted.
//
// HDF5 is never called by a thread of the library's: the model may use HDF5, too, and it bears no
// two threads.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <mutex>
#include <optional>
#include <tuple>

#include "comm/clock.hpp"
#include "comm/trace.hpp"
#include "storage/classic/header.hpp"
#include "storage/netcdf4/chunk_places.hpp"
#include "storage/netcdf4/header.hpp"
#include "storage/netcdf4/index.hpp"
#include "storage/netcdf4/map.hpp"
#include "storage/netcdf4/packer.hpp"
#include "storage/netcdf4/unpacked_bands.hpp"
#include "storage/posix/plain_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t plain_chunk = 16 << 20;  ///< bytes; HDF5 reads parts of it, too
constexpr std::int64_t least_packed_chunk = 128 << 10, most_packed_chunk = 2 << 20;
constexpr int pieces_a_round = 32;  ///< that a writer packs before it asks for room
constexpr std::int64_t index_room = 64 << 10;

/// Filtered chunks: small enough that every writer has some, and that readers need not unpack much.
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
    bool collective() const override { return together_ && !boxes_; }
    bool takes_boxes() const override { return true; }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool writer, FileMap& map) override {
        definitions_ = &definitions;
        format_ = options.format;
        wording_ = options.wording;
        throttle_ = Throttle(options.rate);
        first_ = comm.rank() == options.keeper;
        later_ = options.behind;
        sync_close_ = options.durable;
        const bool whole = needs_whole_chunks(definitions);
        together_ = whole && !options.one_writer;
        std::int64_t writers = options.one_writer ? first_ : writer;
        comm.all_reduce({&writers, 1}, Reduce::sum);
        const std::int64_t target = chunk_target(definitions, whole, writers);
        const auto make = [&]() -> Status {
            path_ = path;
            for (const Variable& v : definitions.variables) {
                grids_.push_back(choose_grid(v, target));
                packed_.push_back(whole && grids_.back().chunked);
            }
            places_ = Netcdf4Map(definitions, grids_, packed_);
            packer_.emplace(definitions, grids_);
            written_.emplace(grids_);
            if (!first_) return {};
            NoSizeSignal guard;
            Status status = make_file();
            map = map_;
            return status;
        };
        if (Status status = agree(comm, alone(make)); !status.ok()) return status;
        if (together_) writers_ = comm.split(writer ? 0 : -1, first_ ? -1 : comm.rank());
        broadcast(comm, map, options.keeper);
        return agree(comm, alone([&]() -> Status {
                         map_ = map;
                         if (!writer && !first_) return {};
                         Status status = open_file();
                         return status.ok() && first_ ? open_index() : status;
                     }));
    }

    /// Allocates nothing: what is collective depends on it.
    void begin_boxes() override {
        boxes_ = std::find(packed_.begin(), packed_.end(), 1) != packed_.end();
    }

    Status write(std::span<const Chunk> chunks) override {
        if (!collective()) return write_all(chunks);
        if (failed_.ok()) failed_ = write_all(chunks);
        if (++pieces_ % pieces_a_round == 0) write_round();
        return failed_;
    }

    Status read(const Chunk& chunk, char* to) override {
        const bool packed = packed_[chunk.variable] != 0;
        return packed && boxes_ ? bands().read(chunk, to) : PlainFile::read(chunk, to);
    }

    Status complete() override {
        if (!writers_) return {};
        write_round();
        gather_placed();
        return failed_;
    }

    Status set_records(std::int64_t records, bool durable) override {
        if (Status status = place_bands(records); !status.ok()) return status;
        if (!first_) return {};
        ask_for(records, durable);
        return later_ ? Status{} : catch_up();
    }

    Status catch_up() override {
        std::int64_t records;
        bool durable;
        std::vector<PlacedChunk> chunks;
        {
            const std::lock_guard lock(small_);
            if (!behind_ || !index_) return {};
            behind_ = false;
            records = wanted_;
            durable = durable_;
            const auto later = std::stable_partition(
                placed_.begin(), placed_.end(),
                [&](const PlacedChunk& c) { return c.record < records || !record(c.variable); });
            chunks.assign(placed_.begin(), later);
            placed_.erase(placed_.begin(), later);
        }
        NoSizeSignal guard;
        Status status = enter(chunks, records);
        return status.ok() ? index_->commit(durable) : status;
    }

    Status close(std::int64_t records,
                 const std::vector<std::pair<int, Attribute>>& late) override {
        NoSizeSignal guard;
        Status status = alone([&]() -> Status {
            if (Status s = place_bands(records); !s.ok() || !index_) return s;
            ask_for(records, false);
            return catch_up();
        });
        if (index_) {
            Status closed = alone([&] { return index_->close(); });
            if (status.ok()) status = std::move(closed);
            index_.reset();
        }
        Status closed = close_file();
        if (status.ok()) status = std::move(closed);
        const auto add = [&] {
            return add_netcdf4_attributes(path_, *definitions_, format_, late);
        };
        if (first_ && status.ok()) status = alone(add);
        if (first_ && status.ok() && sync_close_) status = sync_closed(path_);
        return status;
    }

private:
    bool record(std::int64_t variable) const { return definitions_->variables[variable].record; }

    /// Of catch_up().
    void ask_for(std::int64_t records, bool durable) {
        const std::lock_guard lock(small_);
        wanted_ = records;
        durable_ = durable;
        behind_ = true;
    }

    std::int64_t in_file(std::int64_t offset) const override {
        return places_.in_file(map_, offset);
    }

    Status make_file() {
        Status status = create_netcdf4(path_, *definitions_, grids_, format_);
        if (!status.ok()) return status;
        struct stat info {};
        if (stat(path_.c_str(), &info) != 0) return system_failure(path_, "cannot get its size");
        definitions_bytes_ = info.st_size;
        map_ = places_.file_map(*definitions_, grids_, packed_, definitions_bytes_);
        end_ = map_.record_begin > 0 ? map_.record_begin : map_.fixed_end;
        return {};
    }

    Status open_index() {
        Status status;
        const bool known = std::find(packed_.begin(), packed_.end(), 1) == packed_.end();
        index_ = Netcdf4Index::open(
            path_, *definitions_, grids_,
            [this, known, n = std::int64_t(0)]() mutable -> Room {
                if (known || n == 0) return places_.room(map_, definitions_bytes_, n++);
                const std::int64_t at = take_room(index_room);
                return {at, at + index_room};
            },
            status);
        bool placed = false;
        for (std::size_t i = 0; i < grids_.size() && status.ok(); ++i) {
            if (grids_[i].chunked) continue;
            status = index_->place(static_cast<int>(i), map_.offset[i]);
            placed = true;
        }
        // Whoever reads the file before it has a record has to find the variables of fixed size.
        return status.ok() && placed ? index_->commit(false) : status;
    }

    /// Room at the end of the file.
    std::int64_t take_room(std::int64_t bytes) {
        const std::lock_guard lock(small_);
        const std::int64_t at = (end_ + 7) / 8 * 8;
        end_ = at + bytes;
        return at;
    }

    Status write_all(std::span<const Chunk> chunks) {
        if (std::none_of(packed_.begin(), packed_.end(), [](char p) { return p != 0; }))
            return PlainFile::write(chunks);
        for (const Chunk& c : chunks) {
            Status status;
            if (packed_[c.variable] == 0) {
                status = PlainFile::write({&c, 1});
            } else {
                Stopwatch watch(counts_.seconds);
                status = boxes_ ? bands().write(c) : packer_->add(c, take_);
            }
            if (!status.ok()) return status;
        }
        return {};
    }

    /// Writes a chunk, or keeps it for the next round.
    Status put(int variable, std::int64_t record, std::int64_t number, const FilteredChunk& chunk) {
        PlacedChunk placed{variable, record, number, 0, chunk.bytes};
        if (together_) {
            placed.address = waiting_.size();
            waiting_.insert(waiting_.end(), chunk.data, chunk.data + chunk.bytes);
            unplaced_.push_back(placed);
            return {};
        }
        placed.address = take_room(chunk.bytes);
        const Variable& v = definitions_->variables[variable];
        Status status = write_bytes(chunk.data, chunk.bytes, placed.address);
        if (!status.ok()) {
            status.text += fmt::format(", variable '{}'", v.name);
            if (v.record) status.text += fmt::format(", record {}", wording_.index(record));
            return status;
        }
        written_->add(placed);
        const std::lock_guard lock(small_);
        placed_.push_back(placed);
        return {};
    }

    UnpackedBands& bands() {
        if (!bands_)
            bands_ = std::make_unique<UnpackedBands>(
                path_, *definitions_, grids_,
                [this](const Band& band, char* to) { return load(band, to); });
        return *bands_;
    }

    /// Packs the bands of what is counted from now on; with several writers together.
    Status place_bands(std::int64_t records) {
        if (!boxes_) return {};
        Stopwatch watch(counts_.seconds);
        const auto pack = [&](const Band& band, char* elements) {
            if (Status s = quantize_changes(band, elements); !s.ok()) return s;
            return packer_->pack_band(band.variable, band.record, band.number, elements, take_);
        };
        if (!together_) return alone([&] { return bands().take(records, INT_MAX, pack); });
        if (!writers_) return {};
        for (;;) {
            if (failed_.ok())
                failed_ = alone([&] { return bands().take(records, pieces_a_round, pack); });
            std::int64_t more = !waiting_.empty();
            writers_->all_reduce({&more, 1}, Reduce::max);
            if (more == 0) break;
            write_round();
        }
        gather_placed();
        return agree(*writers_, failed_);
    }

    /// Elements that are as they were placed are not quantized again: that could change them.
    Status quantize_changes(const Band& band, char* elements) {
        const std::size_t v = band.variable;
        if (definitions_->variables[v].packing.quantize == Packing::Quantize::none) return {};
        const ChunkGrid& g = grids_[v];
        const std::size_t size = g.element;
        const std::int64_t n = std::min(g.band, g.elements() - band.number * g.band);
        before_.resize(n * size);
        if (Status s = load(band, before_.data()); !s.ok()) return s;
        std::vector<char> same(n);
        for (std::size_t i = 0; i < same.size(); ++i)
            same[i] = std::memcmp(elements + i * size, before_.data() + i * size, size) == 0;
        packer_->quantize_band(band.variable, band.number, elements);
        for (std::size_t i = 0; i < same.size(); ++i)
            if (same[i]) std::memcpy(elements + i * size, before_.data() + i * size, size);
        return {};
    }

    /// The elements of a band: as this writer has placed its chunks, or fill values.
    Status load(const Band& band, char* to) {
        const std::size_t v = band.variable;
        const ChunkGrid& g = grids_[v];
        const Variable& variable = definitions_->variables[v];
        PlacedChunk c{band.variable, band.record, band.number * g.chunks_a_band()};
        if (!written_->find(c)) {
            packer_->fill_band(band.variable, band.number, to);
            return {};
        }
        if (!unpacker_) unpacker_.emplace();
        const auto filters = filters_of(variable.packing, g.element);
        return packer_->unpack_band(
            band.variable, band.number, to,
            [&](std::int64_t number, std::vector<char>& elements) -> Status {
                c.number = number;
                if (!written_->find(c))
                    return failure(TW_EINTERNAL, "{}: variable '{}': chunk {} is missing", path_,
                                   variable.name, number);
                raw_.resize(c.bytes);
                Status status = read_fully(fd_, path_, raw_.data(), c.bytes, c.address);
                if (!status.ok()) return status;
                const char* wrong = unpacker_->undo(filters, 0, raw_, g.chunk_bytes(), elements);
                if (wrong == nullptr) return {};
                return failure(TW_EIO, "{}: variable '{}', record {}: a chunk written before: {}",
                               path_, variable.name, wording_.index(band.record), wrong);
            });
    }

    Status write_bytes(const char* data, std::int64_t bytes, std::int64_t address) {
        Span span("write");
        throttle_.begin();
        if (Status status = write_fully(fd_, path_, data, bytes, address); !status.ok())
            return status;
        counts_.count(bytes);
        span.bytes(bytes);
        throttle_.moved(bytes);
        return {};
    }

    /// All writers together: room for what waits, one range for each, in their order.
    void write_round() {
        const std::int64_t mine = (static_cast<std::int64_t>(waiting_.size()) + 7) / 8 * 8;
        std::int64_t words[] = {mine, first_ ? (end_ + 7) / 8 * 8 : 0};
        const std::int64_t before = writers_->sum_before(mine);
        writers_->all_reduce(words, Reduce::sum);
        const std::int64_t at = words[1] + before;
        if (first_) end_ = words[1] + words[0];
        // The others go on, whatever this rank has no memory for.
        Status kept = alone([&]() -> Status {
            for (PlacedChunk& c : unplaced_) {
                c.address += at;
                written_->add(c);
            }
            placed_.insert(placed_.end(), unplaced_.begin(), unplaced_.end());
            return {};
        });
        if (failed_.ok()) failed_ = std::move(kept);
        unplaced_.clear();
        if (!waiting_.empty()) {
            Stopwatch watch(counts_.seconds);
            Status status = write_bytes(waiting_.data(), waiting_.size(), at);
            if (failed_.ok()) failed_ = std::move(status);
        }
        waiting_.clear();
    }

    /// What all writers have placed, to the keeper.
    void gather_placed() {
        const auto* bytes = reinterpret_cast<const char*>(placed_.data());
        std::vector<std::vector<char>> all;
        Status status = together([&]() -> Status {
            all = writers_->gather({bytes, placed_.size() * sizeof(PlacedChunk)}, 0);
            return {};
        });
        const auto join = [&]() -> Status {
            placed_.clear();
            for (const auto& row : all) {
                const std::size_t had = placed_.size();
                placed_.resize(had + row.size() / sizeof(PlacedChunk));
                if (!row.empty()) std::memcpy(placed_.data() + had, row.data(), row.size());
            }
            return {};
        };
        if (status.ok()) status = alone(join);
        if (failed_.ok()) failed_ = std::move(status);
    }

    /// Chunks come in the order of the index, which then has to grow at its end alone.
    Status enter(std::vector<PlacedChunk>& chunks, std::int64_t records) {
        Status status = index_->set_records(records);
        for (; entered_ < records && status.ok(); ++entered_)
            for (std::size_t i = 0; i < grids_.size(); ++i)
                if (definitions_->variables[i].record && packed_[i] == 0)
                    status = enter_record(i, status);
        std::stable_sort(chunks.begin(), chunks.end(), [](const auto& a, const auto& b) {
            return std::tie(a.variable, a.record, a.number) <
                   std::tie(b.variable, b.record, b.number);
        });
        for (const PlacedChunk& c : chunks)
            if (status.ok()) status = index_->add(c);
        return status;
    }

    Status enter_record(std::int64_t variable, Status status) {
        const std::int64_t bytes = grids_[variable].chunk_bytes();
        const std::int64_t first = in_file(map_.offset[variable] + entered_ * map_.record_bytes);
        for (std::int64_t n = 0; n < grids_[variable].chunks() && status.ok(); ++n)
            status = index_->add({variable, entered_, n, first + n * bytes, bytes});
        return status;
    }

    Format format_ = Format::netcdf4;
    bool first_ = false, sync_close_ = false;
    bool together_ = false;         ///< writers ask for room together
    bool later_ = false;            ///< the index is left for catch_up()
    std::vector<ChunkGrid> grids_;  ///< of each variable
    std::vector<char> packed_;      ///< variables that are written in whole chunks
    Netcdf4Map places_;
    std::int64_t definitions_bytes_ = 0;
    std::optional<Packer> packer_;
    /// What Packer calls for each chunk.
    Packer::Take take_ = [this](int variable, std::int64_t record, std::int64_t number,
                                const FilteredChunk& chunk) {
        return put(variable, record, number, chunk);
    };
    std::optional<ChunkPlaces> written_;    ///< by this writer
    bool boxes_ = false;                    ///< chunks come in any parts
    std::unique_ptr<UnpackedBands> bands_;  ///< those
    std::optional<Decompressor> unpacker_;  ///< of chunks that are changed
    std::vector<char> raw_, before_;
    std::unique_ptr<Comm> writers_;      ///< null unless this rank is one and they write together
    std::int64_t pieces_ = 0;            ///< given to write
    std::vector<char> waiting_;          ///< chunks without a place
    std::vector<PlacedChunk> unplaced_;  ///< those, with their addresses in waiting_
    Status failed_;                      ///< of this rank, while it still joins the others

    std::unique_ptr<Netcdf4Index> index_;  ///< on the keeper
    std::int64_t entered_ = 0;             ///< records of variables with known places
    std::mutex small_;                     ///< guards what follows
    std::int64_t end_ = 0;                 ///< of the file; on the keeper
    std::vector<PlacedChunk> placed_;      ///< not in the index yet
    std::int64_t wanted_ = 0;              ///< records
    bool durable_ = false, behind_ = false;
};

}  // namespace

std::unique_ptr<Storage> make_netcdf4_storage() { return std::make_unique<Netcdf4Storage>(); }

}  // namespace thalweg::detail
