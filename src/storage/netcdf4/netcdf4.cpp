// Writes netCDF-4: definitions by netCDF-C, an index by HDF5, and data by plain writes.
//
// Unfiltered data are placed by Netcdf4Map, and written as those of a classic file. Filtered chunks
// go to the end of the file (see Placement). The header writer enters them in HDF5's
// index when their records are counted. Chunks that come in parts are kept unpacked until then, as
// any part of them may come later.
//
// In an existing file, all chunks are written whole: their shapes and filters are given, and the
// places of new ones cannot be computed.
//
// HDF5 is never called by a thread of the library: the model may use HDF5, too, which is not
// thread-safe.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "storage/checksums/file_with_sums.hpp"
#include "storage/netcdf4/header.hpp"
#include "storage/netcdf4/header_writer_index.hpp"
#include "storage/netcdf4/index/page.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

class Netcdf4Storage final : public Storage {
public:
    Netcdf4Storage() {
        file_.in_file = [this](std::int64_t offset) { return layout_.in_file(offset); };
    }

    StorageTraits traits() const override {
        return {.name = "netcdf4", .order = Order::native, .opens_alone = true};
    }
    bool collective() const override { return false; }
    std::optional<VariableStorage> stored(int variable) const override {
        const std::size_t v = variable;
        if (v >= layout_.chunks.grids.size()) return {};
        return layout_.stored(file_.definitions->variables[v], v);
    }
    bool fills(int variable) const override { return layout_.chunks.sparse[variable] != 0; }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool writer, FileMap& map) override {
        choose_writers(comm.rank(), options, writer, needs_whole_chunks(definitions));
        file_.begin(path, definitions, options);
        Status status = options.inspects ? check_identity(path, options.claimed) : Status{};
        if (status.ok()) layout_.choose(definitions, options.writers);
        if (status.ok()) make_store();
        if (status.ok() && header_writer_) {
            const IgnoreSigxfsz guard;
            status = create_netcdf4(path, definitions, layout_.chunks.grids, options.format,
                                    options.kept_headers, layout_.definitions_bytes);
        }
        std::int64_t told[] = {status.ok() ? 0 : 1, layout_.definitions_bytes};
        comm.all_reduce(told, Reduce::max);
        if (told[0] != 0) return agree(comm, status);
        layout_.definitions_bytes = told[1];
        map = layout_.map = file_map(definitions, layout_.chunks.grids, layout_.chunks.whole,
                                     layout_.rooms.data_begin(layout_.definitions_bytes));
        // The offsets of variables that are written in whole chunks are not addresses.
        std::int64_t end = layout_.rooms.data_begin(layout_.definitions_bytes);
        for (std::size_t i = 0; i < layout_.chunks.whole.size(); ++i)
            if (layout_.chunks.whole[i] == 0) end = std::max(end, map.offset[i] + map.padded[i]);
        placer_->set_end(rounded(end, page));
        share_end(comm);
        if (writer || index_) status = open_both();
        if (status.ok() && index_) status = index_->open_new();
        return options.alone ? status : agree(comm, status);
    }

    /// Opens an existing file. Its data stay in place; new chunks are added at its end.
    Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                const StorageOptions& options, bool writer, FileMap& map) override {
        Netcdf4Contents contents;
        std::vector<int> unwritten;
        std::vector<char> bytes;
        file_.begin(path, definitions, options);
        Status status;
        if (comm.rank() == options.header_writer)
            status = catch_errors([&] {
                Status own = read_netcdf4_contents(path, contents);
                if (own.ok()) unwritten = give_places(definitions, contents);
                if (own.ok()) bytes = to_bytes(contents);
                return own;
            });
        if (status = agree(comm, status); !status.ok()) return status;
        comm.broadcast(bytes, options.header_writer);
        layout_.take(definitions, netcdf4_contents_of(bytes));
        map = layout_.map;
        choose_writers(comm.rank(), options, writer, layout_.chunks.any_whole());
        make_store();
        std::vector<PlacedChunk> chunks;
        if (writer || index_)
            status = catch_errors([&]() -> Status {
                const IgnoreSigxfsz guard;
                Status own = open_both();
                for (const int i : unwritten)
                    if (own.ok()) own = write_fills(i);
                if (!own.ok() || !index_) return own;
                return index_->open_existing(options.existing.kept, unwritten, contents.size,
                                             chunks);
            });
        if (status = agree(comm, status); !status.ok()) return status;
        share_end(comm);
        status = several_ ? know_together(comm, chunks) : store_->know(chunks);
        return options.alone ? status : agree(comm, status);
    }

    void begin_boxes() override { file_.sums.leave_piece(); }

    Status write(std::span<const Chunk> chunks) override {
        return layout_.chunks.any_whole() ? write_each(chunks) : file_.write(chunks);
    }

    Status read(const Chunk& chunk, char* to) override {
        const bool whole = layout_.chunks.whole[chunk.variable] != 0;
        return whole ? store_->read(chunk, to) : file_.read(chunk, to);
    }

    void complete_records() override { completes_ = true; }
    Status end_unit(std::int64_t records, bool mark) override {
        Stopwatch watch(counts_.seconds);
        Status status = store_->end_unit(records, mark, std::exchange(completes_, false));
        return status.ok() ? file_.sums.end_step() : status;
    }

    Status sync() override { return file_.sync(); }
    Placement* placement() override { return several_ ? &*placer_ : nullptr; }

    Status set_records(std::int64_t records, bool durable) override {
        if (!index_) return {};
        index_->count(records, durable, std::exchange(completes_, false));
        return file_.options.behind ? Status{} : catch_up();
    }

    Status catch_up() override { return index_ ? index_->enter() : Status{}; }

    Status close(std::int64_t records, const LateAttributes& late) override {
        IgnoreSigxfsz guard;
        Status status;
        if (index_) status = index_->close(records, late);
        Status closed = file_.close();
        if (status.ok()) status = std::move(closed);
        if (index_ && status.ok() && file_.options.durable) status = sync_closed(file_.path);
        return status;
    }

private:
    /// @param whole  some variables are written in whole chunks
    void choose_writers(int rank, const StorageOptions& options, bool writer, bool whole) {
        header_writer_ = rank == options.header_writer;
        writer_ = options.writers > 1 ? writer : header_writer_;
        several_ = whole && options.writers > 1;
    }

    /// @note Collective
    void share_end(Comm& comm) {
        if (several_)
            placer_->share(comm, file_.options.header_writer,
                           writer_ && file_.options.beside_header_writer, file_.options.all_beside);
    }

    /// Registers the chunks of an existing file, which the header writer has found, on all writers.
    /// @note Collective
    Status know_together(Comm& comm, std::span<const PlacedChunk> chunks) {
        constexpr std::int64_t most = 1 << 10;  // chunks in a broadcast
        std::vector<PlacedChunk> block(most);
        std::int64_t n = std::ssize(chunks);
        comm.broadcast(&n, sizeof n, file_.options.header_writer);
        Status status;
        for (std::int64_t at = 0; at < n; at += most) {
            const std::span some = std::span(block).first(std::min(most, n - at));
            if (header_writer_) std::copy_n(chunks.begin() + at, some.size(), some.begin());
            comm.broadcast(some.data(), some.size_bytes(), file_.options.header_writer);
            if (status.ok() && writer_) status = store_->know(some);
        }
        return status;
    }

    void make_store() {
        const auto write = [this](const char* data, std::int64_t bytes, std::int64_t address,
                                  const PlacedChunk& first) {
            Status status = file_.write_range(first.variable, first.record, data, bytes, address);
            // The header writer may enter a chunk in the index as soon as it is reported.
            const bool syncs = status.ok() && file_.options.durable && several_;
            return syncs ? file_.PlainFile::sync() : status;
        };
        placer_.emplace(layout_.chunks.grids, header_writer_, write, counts_.seconds);
        const auto read = [this](char* to, std::int64_t bytes, std::int64_t address) {
            return read_fully(file_.fd, file_.path, to, bytes, address);
        };
        const auto reserve = [this](std::int64_t address, std::int64_t bytes) {
            if (on_ext4_) (void)has_space(file_.fd, FALLOC_FL_KEEP_SIZE, address, bytes);
        };
        store_.emplace(*placer_, read, reserve, file_.path, *file_.definitions, layout_.chunks,
                       file_.options.wording, file_.options.threads, file_.options.waiting_chunks);
        store_->note_to(file_.sums);
        if (header_writer_)
            index_.emplace(file_.path, *file_.definitions, layout_, *placer_, *store_,
                           file_.options.behind, file_.options.durable);
    }

    /// Opens the file and that of its checksums.
    Status open_both() {
        if (Status status = file_.open_file(); !status.ok()) return status;
        on_ext4_ = file_system_at(file_.path).name == "ext4";
        std::vector<std::int64_t> chunks;
        for (std::size_t i = 0; i < layout_.chunks.grids.size(); ++i)
            chunks.push_back(layout_.chunks.whole[i] != 0 ? layout_.chunks.grids[i].chunks() : 0);
        return file_.sums.begin(file_.path, *file_.definitions, chunks, file_.options,
                                header_writer_);
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
            status = file_.write_range(variable, 0, bytes.data(), std::min(piece, end - at), at);
        return status;
    }

    Status write_each(std::span<const Chunk> chunks) {
        const auto whole = [&](const Chunk& c) { return layout_.chunks.whole[c.variable] != 0; };
        Status status;
        while (!chunks.empty() && status.ok()) {
            const auto next = std::find_if(chunks.begin(), chunks.end(), whole);
            const std::size_t plain = next - chunks.begin();
            if (plain > 0) {
                status = file_.write(chunks.first(plain));
                chunks = chunks.subspan(plain);
                continue;
            }
            Stopwatch watch(counts_.seconds);
            status = store_->write(chunks.front());
            chunks = chunks.subspan(1);
        }
        return status;
    }

    FileWithSums file_{counts_};
    bool header_writer_ = false, writer_ = false;
    bool completes_ = false;  ///< see complete_records()
    bool several_ = false;    ///< several writers write whole chunks
    bool on_ext4_ = false;    ///< space that is reserved is written in parts in 2/3 of the time
    Netcdf4Layout layout_;
    std::optional<ChunkPlacer> placer_;
    std::optional<ChunkStore> store_;
    std::optional<HeaderWriterIndex> index_;  ///< on the header writer
};

}  // namespace

std::unique_ptr<Storage> make_netcdf4_storage() { return std::make_unique<Netcdf4Storage>(); }

}  // namespace thalweg::detail
