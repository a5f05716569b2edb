// Writes netCDF-4: definitions by netCDF-C, an index by HDF5, and data by plain writes.
//
// Unfiltered data are placed by Netcdf4Map, and written as those of a classic file. Filtered chunks
// go to the end of the file (see Placement). The keeper enters them in HDF5's
// index when their records are counted. With boxes, data are kept unpacked until they are counted,
// as any part of them may come later, and packed then.
//
// In an existing file, all chunks are written whole: their shapes and filters are given, and the
// places of new ones cannot be computed.
//
// HDF5 is never called by a thread of the library: the model may use HDF5, too, which is not
// thread-safe.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "storage/netcdf4/header.hpp"
#include "storage/netcdf4/keeper_index.hpp"
#include "storage/netcdf4/page.hpp"
#include "storage/posix/system.hpp"
#include "storage/sums/file_with_sums.hpp"

namespace thalweg::detail {

namespace {

class Netcdf4Storage final : public FileWithSums {
public:
    StorageTraits traits() const override {
        return {.name = "netcdf4", .order = Order::native, .opens_alone = true};
    }
    std::optional<VariableStorage> stored(int variable) const override {
        const std::size_t v = variable;
        if (v >= layout_.chunks.grids.size()) return {};
        return layout_.stored(definitions_->variables[v], v);
    }
    bool fills(int variable) const override { return layout_.chunks.sparse[variable] != 0; }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool writer, FileMap& map) override {
        choose_writers(comm.rank(), options, writer, needs_whole_chunks(definitions));
        const auto make = [&]() -> Status {
            if (options.inspects)
                if (Status s = check_identity(path, options.claimed); !s.ok()) return s;
            begin(path, definitions, options);
            layout_.choose(definitions, options.writers);
            make_store();
            if (!keeper_) return {};
            NoSizeSignal guard;
            return make_file();
        };
        const Status made = alone(make);
        std::int64_t told[] = {made.ok() ? 0 : 1, layout_.definitions_bytes};
        comm.all_reduce(told, Reduce::max);
        if (told[0] != 0) return agree(comm, made);
        layout_.definitions_bytes = told[1];
        Status opened = alone([&] {
            map = layout_.map = file_map(definitions, layout_.chunks.grids, layout_.chunks.whole,
                                         layout_.rooms.data_begin(layout_.definitions_bytes));
            // The offsets of variables that are written in whole chunks are not addresses.
            std::int64_t end = layout_.rooms.data_begin(layout_.definitions_bytes);
            for (std::size_t i = 0; i < layout_.chunks.whole.size(); ++i)
                if (layout_.chunks.whole[i] == 0)
                    end = std::max(end, map.offset[i] + map.padded[i]);
            placer_->set_end(rounded(end, page));
        });
        if (several_) placer_->share(comm, options.keeper, is_beside(), options.all_beside);
        if (opened.ok() && (writer || index_))
            opened = alone([&]() -> Status {
                Status status = open_both();
                return status.ok() && index_ ? index_->open_new() : status;
            });
        return options.alone ? opened : agree(comm, opened);
    }

    /// Opens an existing file. Its data stay in place; new chunks are added at its end.
    Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                const StorageOptions& options, bool writer, FileMap& map) override {
        Netcdf4Contents contents;
        std::vector<int> unwritten;
        std::vector<char> bytes;
        const auto read = [&]() -> Status {
            begin(path, definitions, options);
            if (comm.rank() != options.keeper) return {};
            if (Status s = read_netcdf4_contents(path, contents); !s.ok()) return s;
            unwritten = give_places(definitions, contents);
            bytes = to_bytes(contents);
            return {};
        };
        if (Status status = agree(comm, alone(read)); !status.ok()) return status;
        comm.broadcast(bytes, options.keeper);
        const auto take = [&] {
            layout_.take(definitions, netcdf4_contents_of(bytes));
            map = layout_.map;
        };
        if (Status status = agree(comm, alone(take)); !status.ok()) return status;
        choose_writers(comm.rank(), options, writer, layout_.chunks.any_whole());
        std::vector<PlacedChunk> chunks;
        const auto open_all = [&]() -> Status {
            make_store();
            if (!writer && !index_) return {};
            NoSizeSignal guard;
            Status status = open_both();
            for (const int i : unwritten)
                if (status.ok()) status = write_fills(i);
            if (!status.ok() || !index_) return status;
            return index_->open_existing(options.existing.kept, unwritten, contents.size, chunks);
        };
        if (Status status = agree(comm, alone(open_all)); !status.ok()) return status;
        if (several_) placer_->share(comm, options.keeper, is_beside(), options.all_beside);
        const Status known =
            several_ ? know_together(comm, chunks) : alone([&] { store_->know(chunks); });
        return options.alone ? known : agree(comm, known);
    }

    /// Accepts parts of chunks in any order from now on.
    void begin_boxes() override {
        store_->begin_boxes();
        FileWithSums::begin_boxes();
    }

    Status write(std::span<const Chunk> chunks) override {
        return layout_.chunks.any_whole() ? write_each(chunks) : FileWithSums::write(chunks);
    }

    Status read(const Chunk& chunk, char* to) override {
        const bool whole = layout_.chunks.whole[chunk.variable] != 0;
        return whole && store_->boxes() ? store_->read(chunk, to) : PlainFile::read(chunk, to);
    }

    Status end_unit(std::int64_t records, bool mark) override {
        Stopwatch watch(counts_.seconds);
        Status status = store_->end_unit(records, mark);
        return status.ok() ? FileWithSums::end_unit(records, mark) : status;
    }

    Placement* placement() override { return several_ ? &*placer_ : nullptr; }

    Status set_records(std::int64_t records, bool durable) override {
        if (!index_) return {};
        if (Status status = alone([&] { return index_->count(records, durable); }); !status.ok())
            return status;
        return options_.behind ? Status{} : catch_up();
    }

    Status catch_up() override { return index_ ? index_->enter() : Status{}; }

    Status close(std::int64_t records, const LateAttributes& late) override {
        NoSizeSignal guard;
        Status status;
        if (index_) status = index_->close(records, late);
        Status closed = close_files();
        if (status.ok()) status = std::move(closed);
        if (index_ && status.ok() && options_.durable) status = sync_closed(path_);
        return status;
    }

private:
    std::int64_t in_file(std::int64_t offset) const override { return layout_.in_file(offset); }

    /// @param whole  some variables are written in whole chunks
    void choose_writers(int rank, const StorageOptions& options, bool writer, bool whole) {
        keeper_ = rank == options.keeper;
        writer_ = options.writers > 1 ? writer : keeper_;
        several_ = whole && options.writers > 1;
    }
    bool is_beside() const { return writer_ && options_.beside_keeper; }

    /// Registers the chunks of an existing file, which the keeper has found, on all writers.
    /// @note Collective
    Status know_together(Comm& comm, std::span<const PlacedChunk> chunks) {
        constexpr std::int64_t most = 1 << 14;  // chunks in a broadcast
        std::vector<PlacedChunk> block(most);
        std::int64_t n = std::ssize(chunks);
        comm.broadcast(&n, sizeof n, options_.keeper);
        Status status;
        for (std::int64_t at = 0; at < n; at += most) {
            const std::span some = std::span(block).first(std::min(most, n - at));
            if (keeper_) std::copy_n(chunks.begin() + at, some.size(), some.begin());
            comm.broadcast(some.data(), some.size_bytes(), options_.keeper);
            if (status.ok() && writer_) status = alone([&] { store_->know(some); });
        }
        return status;
    }

    void make_store() {
        const auto write = [this](const char* data, std::int64_t bytes, std::int64_t address,
                                  const PlacedChunk& first) {
            return write_range(first.variable, first.record, data, bytes, address);
        };
        placer_.emplace(layout_.chunks.grids, keeper_, write, counts_.seconds);
        const auto read = [this](char* to, std::int64_t bytes, std::int64_t address) {
            return read_fully(fd_, path_, to, bytes, address);
        };
        store_.emplace(*placer_, read, path_, *definitions_, layout_.chunks, options_.wording,
                       options_.threads, options_.waiting_chunks);
        store_->note_to(sums_);
        if (keeper_)
            index_.emplace(path_, *definitions_, layout_, *placer_, *store_, options_.behind,
                           options_.durable);
    }

    Status make_file() {
        const ChunkLayout& chunks = layout_.chunks;
        Status status = create_netcdf4(path_, *definitions_, chunks.grids, options_.format);
        if (!status.ok()) return status;
        struct stat info {};
        if (stat(path_.c_str(), &info) != 0) return system_failure(path_, "cannot get its size");
        layout_.definitions_bytes = info.st_size;
        return {};
    }

    /// Opens the file and that of its checksums.
    Status open_both() {
        if (Status status = open_file(); !status.ok()) return status;
        std::vector<std::int64_t> chunks;
        for (std::size_t i = 0; i < layout_.chunks.grids.size(); ++i)
            chunks.push_back(layout_.chunks.whole[i] != 0 ? layout_.chunks.grids[i].chunks() : 0);
        return sums_.begin(path_, *definitions_, chunks, options_, keeper_);
    }

    /// Writes fill values to a variable of an existing file that had no address, so that it reads
    /// as before.
    Status write_fills(int variable) {
        constexpr std::int64_t piece = 1 << 20;
        std::vector<char> bytes(piece);
        const ChunkGrid& g = layout_.chunks.grids[variable];
        fill_with(layout_.chunks.fills[variable], g.element, bytes.data(), piece / g.element);
        const std::int64_t begin = layout_.map.offset[variable],
                           end = begin + g.elements() * g.element;
        Status status;
        for (std::int64_t at = begin; at < end && status.ok(); at += piece)
            status = write_range(variable, 0, bytes.data(), std::min(piece, end - at), at);
        return status;
    }

    Status write_each(std::span<const Chunk> chunks) {
        for (const Chunk& c : chunks) {
            Status status;
            if (layout_.chunks.whole[c.variable] == 0) {
                status = FileWithSums::write({&c, 1});
            } else {
                Stopwatch watch(counts_.seconds);
                status = store_->write(c);
            }
            if (!status.ok()) return status;
        }
        return {};
    }

    bool keeper_ = false, writer_ = false;
    bool several_ = false;  ///< several writers write whole chunks
    Netcdf4Layout layout_;
    std::optional<ChunkPlacer> placer_;
    std::optional<ChunkStore> store_;
    std::optional<KeeperIndex> index_;  ///< on the keeper
};

}  // namespace

std::unique_ptr<Storage> make_netcdf4_storage() { return std::make_unique<Netcdf4Storage>(); }

}  // namespace thalweg::detail
