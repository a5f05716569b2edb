// Writes a Zarr store: a folder with a file for each shard of an array.
//
// Shards of unfiltered chunks have their index from the beginning, and any writer can write any
// part of them. A shard of filtered chunks is written by one writer, which appends its chunks and
// at last their index, and only then gives it its name. A complete shard that changes is written
// anew, and then takes the place of the old one. Records are counted in zarr.json of the store, by
// the header writer; the arrays' own zarr.json files follow when the store is closed.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "base/clock.hpp"
#include "definitions/fill.hpp"
#include "storage/chunked/band_store.hpp"
#include "storage/netcdf4/header.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/plain_file.hpp"
#include "storage/zarr/store/contents.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t write_bytes = 4 << 20;   ///< target size of a write of filtered chunks
constexpr std::size_t most_unsynced = 1 << 16;  ///< shards that are synced one by one

class ZarrStorage final : public Storage, StoredChunks {
public:
    StorageTraits traits() const override { return {.name = "zarr", .order = Order::native}; }
    bool collective() const override { return false; }
    std::optional<VariableStorage> stored(int variable) const override {
        const ZarrArray& a = contents_.arrays[variable];
        return VariableStorage{describe(a, contents_.definitions.variables[variable], 0).chunk,
                               a.filters};
    }
    bool fills(int variable) const override {
        // In records that are replaced, fill values must be written over others.
        return layout_.sparse[variable] != 0 && !file_.options.existing.is;
    }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool, FileMap& map) override {
        begin(path, definitions, options);
        choose(options);
        header_writer_ = comm.rank() == options.header_writer;
        Status status = header_writer_ ? make_folders() : Status{};
        if (status.ok() && header_writer_) status = write_all_metadata();
        make_store(map);
        return agree(comm, status);
    }

    Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                const StorageOptions& options, bool, FileMap& map) override {
        Status status = read_contents(comm, path, options.header_writer, contents_);
        if (!status.ok()) return status;
        path_ = path;
        synced_ = true;
        file_.begin(path, contents_.definitions, options);
        header_writer_ = comm.rank() == options.header_writer;
        if (definitions.variables.size() != contents_.arrays.size())
            return failure(TW_EDIFFERENT, "{}: the store has changed", OfFile{path});
        contents_.definitions = definitions;
        forget_records(contents_, options.existing.kept);
        const bool summed = std::ranges::all_of(contents_.arrays, [](const ZarrArray& a) {
            return !a.filters.empty() && a.filters.back().id == crc32c_filter;
        });
        if (options.checksums && !summed)
            return failure(TW_ESETTING,
                           "{}: checksums=yes: the store has no checksums, and cannot get them: "
                           "continue it with checksums=no",
                           OfFile{path});
        make_store(map);
        if (!header_writer_) return agree(comm, status);
        const std::int64_t kept = options.existing.kept;
        if (kept < contents_.records) {
            status = write_store_metadata(kept, options.durable);
            if (status.ok()) status = write_arrays(path, contents_, options.durable);
        }
        if (status.ok()) status = remove_records(path, contents_, kept);
        return agree(comm, status);
    }

    Status write(std::span<const Chunk> chunks) override {
        Status status;
        while (!chunks.empty() && status.ok()) {
            const Chunk& c = chunks.front();
            if (array(c).plain) {
                std::size_t n = 1;  // chunks in the same shard
                while (n < chunks.size() && key_of(chunks[n]) == key_of(c)) ++n;
                status = write_plain(chunks.first(n));
                chunks = chunks.subspan(n);
                continue;
            }
            Stopwatch watch(counts_.seconds);
            if (c.elements > 0) status = bands_->write(c);
            chunks = chunks.subspan(1);
        }
        return status;
    }

    Status read(const Chunk& c, char* to) override {
        if (!array(c).plain) return bands_->read(c, to);
        Status status = use(key_of(c));
        return status.ok() ? file_.read(placed(c), to) : status;
    }

    Status end_unit(std::int64_t records, bool mark) override {
        Stopwatch watch(counts_.seconds);
        return catch_errors([&] {
            Status status = bands_->end_unit(records, mark);
            for (auto at = open_.begin(); at != open_.end() && status.ok();) {
                const auto shard = at++;
                if (shard->first.record < records || !variable(shard->first).record)
                    status = finish(shard);
            }
            return status;
        });
    }

    Status set_records(std::int64_t records, bool durable) override {
        if (!header_writer_) return {};
        return write_store_metadata(std::max(records, file_.options.existing.kept), durable);
    }

    Status sync() override {
        Status status = close_shard();
        std::set<std::string> folders;
        for (const ShardKey& key : unsynced_) {
            const std::string path = path_of(key);
            if (status.ok()) status = sync_closed(path);
            folders.insert(folder_of(path));
        }
        for (const std::string& folder : folders)
            if (status.ok()) status = sync_folder_of(folder);
        if (syncs_all_ && status.ok()) status = sync_store(path_);
        if (!status.ok()) return status;
        unsynced_.clear();
        syncs_all_ = false;
        synced_ = true;
        return {};
    }

    Status close_early() override { return close_shard(); }

    Status close(std::int64_t records, const LateAttributes& late) override {
        Status status = close_shard();
        if (!header_writer_ || !status.ok()) return status;
        Definitions& d = contents_.definitions;
        for (const auto& [variable, attribute] : late)
            (variable < 0 ? d.attributes : d.variables[variable].attributes).set(attribute);
        contents_.records = std::max(records, file_.options.existing.kept);
        status = note_absent(path_, contents_);
        return status.ok() ? write_all_metadata() : status;
    }

private:
    /// A shard of filtered chunks that is not complete.
    struct OpenShard {
        std::vector<ChunkPlace> index;
        std::int64_t missing = 0;   ///< chunks that the shard still lacks
        std::int64_t end = 0;       ///< bytes in the file
        std::vector<char> waiting;  ///< bytes to append
        std::string path;           ///< path of the file while it is written
        bool replaces = false;      ///< the shard takes the place of a complete one
    };
    using OpenShards = std::map<ShardKey, OpenShard>;

    const ZarrArray& array(const Chunk& c) const { return contents_.arrays[c.variable]; }
    const Variable& variable(const ShardKey& key) const {
        return contents_.definitions.variables[key.variable];
    }
    /// Returns the only shard of an unfiltered record.
    ShardKey key_of(const Chunk& c) const {
        return {c.variable, c.record / array(c).grid.records, 0};
    }
    std::string path_of(const ShardKey& key) const {
        return path_ + "/" + shard_path(contents_.arrays[key.variable], variable(key), key);
    }

    void begin(const std::string& path, const Definitions& definitions,
               const StorageOptions& options) {
        path_ = path;
        contents_.definitions = definitions;
        for (Variable& v : contents_.definitions.variables)
            if (const Packing& p = v.packing; p.quantize != Packing::Quantize::none) {
                const auto* const bytes = reinterpret_cast<const char*>(&p.digits);
                v.attributes.set(
                    {quantize_attribute(p.quantize), TW_INT, 1, {bytes, bytes + sizeof p.digits}});
            }
        file_.begin(path, contents_.definitions, options);
    }

    void choose(const StorageOptions& options) {
        std::int64_t bytes = 0;
        for (const Variable& v : contents_.definitions.variables)
            if (v.record) bytes += v.elements() * v.element();
        for (const Variable& v : contents_.definitions.variables) {
            const bool filtered = v.packing.filtered() || options.checksums;
            const std::int64_t all = v.record ? bytes : v.elements() * v.element();
            contents_.arrays.push_back(
                choose_array(v, options.checksums,
                             chunk_target(contents_.definitions, filtered, options.writers),
                             (all + options.writers - 1) / options.writers));
        }
    }

    void make_store(FileMap& map) {
        map = plain_map(contents_.definitions);
        for (std::size_t i = 0; i < contents_.arrays.size(); ++i) {
            map.grain[i] = contents_.arrays[i].grain();
            layout_.grids.push_back(contents_.arrays[i].grid);
            layout_.filters.push_back(contents_.arrays[i].filters);
            layout_.fills.push_back(contents_.definitions.variables[i].fill_value());
            layout_.sparse.push_back(!contents_.arrays[i].plain);
        }
        bands_.emplace(static_cast<StoredChunks&>(*this), path_, contents_.definitions, layout_,
                       file_.options.wording, file_.options.threads, file_.options.waiting_chunks);
    }

    // ---- metadata --------------------------------------------------------------------------

    Status make_folders() const {
        for (const Variable& v : contents_.definitions.variables) {
            const std::string folder = path_ + "/" + v.name;
            if (mkdir(folder.c_str(), 0777) != 0)
                return system_failure(folder, "cannot create the folder");
        }
        return {};
    }

    /// Writes the metadata of the store, with the number of records.
    Status write_store_metadata(std::int64_t records, bool durable) {
        contents_.records = records;
        return write_store(path_, contents_, durable || synced_);
    }

    Status write_all_metadata() {
        Status status = write_arrays(path_, contents_, file_.options.durable);
        return status.ok() ? write_store_metadata(contents_.records, file_.options.durable)
                           : status;
    }

    // ---- files of shards -------------------------------------------------------------------

    Status close_shard() {
        used_ = {};
        return file_.close_file();
    }

    /// Tests if a shard was written before the store was continued.
    bool is_kept(const ShardKey& key) const {
        const ZarrArray& a = contents_.arrays[key.variable];
        const std::int64_t kept = file_.options.existing.kept;
        return file_.options.existing.is &&
               was_written(a, key, variable(key).record && key.record * a.grid.records < kept);
    }

    /// Opens the file of a shard of unfiltered chunks, and writes its index unless it is there.
    Status use(const ShardKey& key) {
        if (used_ == key) return {};
        if (Status s = close_shard(); !s.ok()) return s;
        const ZarrArray& a = contents_.arrays[key.variable];
        file_.path = path_of(key);
        std::vector<ChunkPlace> places(a.chunks_a_shard()), found;
        const std::int64_t bytes = a.grid.chunk_bytes();
        for (std::size_t i = 0; i < places.size(); ++i)
            places[i] = {static_cast<std::int64_t>(i) * bytes, bytes};
        const std::string index = shard_index(places);
        std::int64_t before = 0;
        if (is_kept(key)) {
            Status s = read_shard_index(file_.path, std::ssize(places), true, found, before);
            if (s.ok() && shard_index(found) != index)
                s = failure(TW_EFORMAT, "{}: another program has rewritten it", OfFile{file_.path});
            if (!s.ok()) return s;
        }
        file_.fd = ::open(file_.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file_.fd < 0) return cannot_create(file_.path);
        const std::int64_t end = std::ssize(places) * bytes;
        struct stat info {};
        if (fstat(file_.fd, &info) != 0) return system_failure(file_.path, "cannot get its size");
        if (info.st_size < end + std::ssize(index))
            if (Status s = file_.write_range(key.variable, key.record, index.data(),
                                             std::ssize(index), end);
                !s.ok())
                return s;
        used_ = key;
        return {};
    }

    /// Converts a chunk to its place in its shard.
    Chunk placed(Chunk c) const {
        const ChunkGrid& g = array(c).grid;
        c.bytes = c.elements * g.element;
        c.offset =
            (c.record % g.records * g.elements() + (c.box != nullptr ? 0 : c.first)) * g.element;
        return c;
    }

    Status write_plain(std::span<const Chunk> chunks) {
        std::vector<Chunk> own;
        for (const Chunk& c : chunks)
            if (c.elements > 0) own.push_back(placed(c));
        if (own.empty()) return {};
        const ShardKey key = key_of(own.front());
        Status status = use(key);
        note_unsynced(key);
        return status.ok() ? file_.write(own) : status;
    }

    // ---- shards of filtered chunks ---------------------------------------------------------

    /// Finds a chunk's place in its shard, which need not be complete; null if it has none.
    const ChunkPlace* find(int variable, std::int64_t record, std::int64_t number,
                           std::string& path, Status& status) {
        std::int64_t inside = 0;
        const ZarrArray& a = contents_.arrays[variable];
        const ShardKey key = shard_of(a, variable, record, number, inside);
        const std::vector<ChunkPlace>* places = &known_;
        if (const auto open = open_.find(key); open != open_.end()) {
            places = &open->second.index;
            path = open->second.path;
        } else {
            path = path_of(key);
            std::int64_t before = 0;
            if (known_of_ != key)
                status = read_shard_index(path, a.chunks_a_shard(), is_kept(key), known_, before);
            known_of_ = status.ok() ? key : ShardKey{};
        }
        const bool any = status.ok() && !places->empty() && (*places)[inside].bytes >= 0;
        return any ? &(*places)[inside] : nullptr;
    }

    bool has(int variable, std::int64_t record, std::int64_t number) override {
        std::string path;
        Status status;
        // A damaged shard is reported when it is read.
        return find(variable, record, number, path, status) != nullptr || !status.ok();
    }

    Status get(int variable, std::int64_t record, std::int64_t number, std::vector<char>& raw,
               std::uint32_t& skipped) override {
        std::string path;
        Status status;
        skipped = 0;
        std::int64_t inside = 0;
        const ShardKey key = shard_of(contents_.arrays[variable], variable, record, number, inside);
        if (const auto open = open_.find(key); open != open_.end() && !open->second.waiting.empty())
            if (Status s = append(key, open->second); !s.ok()) return s;
        const ChunkPlace* const place = find(variable, record, number, path, status);
        if (place == nullptr)
            return status.ok()
                       ? failure(TW_EINTERNAL, "{}: chunk {} is missing", OfFile{path}, inside)
                       : status;
        raw.resize(place->bytes);
        return with_file(path, O_RDONLY, [&](int fd) {
            return read_fully(fd, path, raw.data(), place->bytes, place->offset);
        });
    }

    Status put(int variable, std::int64_t record, std::int64_t number,
               const FilteredChunk& chunk) override {
        std::int64_t inside = 0;
        const ShardKey key = shard_of(contents_.arrays[variable], variable, record, number, inside);
        const auto [at, is_new] = open_.try_emplace(key);
        OpenShard& shard = at->second;
        if (is_new)
            if (Status s = open_shard(key, shard); !s.ok()) {
                open_.erase(at);
                return s;
            }
        ChunkPlace& place = shard.index[inside];
        const bool completes = place.bytes < 0 && --shard.missing == 0;
        place = {shard.end + std::ssize(shard.waiting), chunk.bytes};
        shard.waiting.insert(shard.waiting.end(), chunk.data, chunk.data + chunk.bytes);
        if (completes) return finish(at);
        return std::ssize(shard.waiting) >= write_bytes ? append(key, shard) : Status{};
    }

    /// Begins a shard. If it exists, its chunks are kept.
    Status open_shard(const ShardKey& key, OpenShard& shard) {
        known_of_ = {};
        const ZarrArray& a = contents_.arrays[key.variable];
        const std::string path = path_of(key);
        std::int64_t before = 0;
        if (Status s =
                read_shard_index(path, a.chunks_a_shard(), is_kept(key), shard.index, before);
            !s.ok())
            return s;
        shard.missing = chunks_of(a, key);
        shard.replaces = !shard.index.empty();
        shard.path = temporary_path(path);
        shard.index.resize(a.chunks_a_shard());
        Status status =
            with_file(shard.path, O_WRONLY | O_CREAT | O_TRUNC, [](int) { return Status{}; });
        if (!shard.replaces || !status.ok()) return status;
        for (const ChunkPlace& place : shard.index) shard.missing -= place.bytes >= 0;
        return with_file(path, O_RDONLY, [&](int fd) {
            Status copied;
            for (std::int64_t at = 0; at < before && copied.ok(); at = shard.end) {
                shard.waiting.resize(std::min(before - at, write_bytes));
                copied = read_fully(fd, path, shard.waiting.data(), std::ssize(shard.waiting), at);
                if (copied.ok()) copied = append(key, shard);
            }
            return copied;
        });
    }

    /// Appends the bytes that wait. If this fails, they wait for the next attempt.
    Status append(const ShardKey& key, OpenShard& shard) {
        if (Status s = close_shard(); !s.ok()) return s;
        file_.path = shard.path;
        Status status = file_.open_file();
        const std::int64_t bytes = std::ssize(shard.waiting);
        if (status.ok())
            status =
                file_.write_range(key.variable, key.record, shard.waiting.data(), bytes, shard.end);
        Status closed = close_shard();
        if (status.ok()) status = closed;
        if (!status.ok()) return status;
        shard.end += bytes;
        shard.waiting.clear();
        return {};
    }

    /// Completes a shard by its index and its name. If this fails, it can be tried again.
    Status finish(OpenShards::iterator at) {
        auto& [key, shard] = *at;
        const std::string index = shard_index(shard.index), path = path_of(key);
        const std::size_t before = shard.waiting.size();
        shard.waiting.insert(shard.waiting.end(), index.begin(), index.end());
        if (Status s = append(key, shard); !s.ok()) {
            shard.waiting.resize(before);
            return s;
        }
        // The replaced shard may hold records that are safe from lost power.
        if (shard.replaces && (file_.options.durable || synced_))
            if (Status s = sync_closed(shard.path); !s.ok()) return s;
        if (std::rename(shard.path.c_str(), path.c_str()) != 0)
            return system_failure(shard.path, "cannot rename to " + path);
        note_unsynced(key);
        open_.erase(at);
        return {};
    }

    void note_unsynced(const ShardKey& key) {
        unsynced_.insert(key);
        if (unsynced_.size() <= most_unsynced) return;
        unsynced_.clear();
        syncs_all_ = true;
    }

    std::string path_;
    PlainFile file_{counts_};  ///< file of the shard that is used
    ShardKey used_;            ///< shard whose file is open; none: variable -1
    bool header_writer_ = false;
    ZarrContents contents_;
    ChunkLayout layout_;
    std::optional<BandStore> bands_;
    OpenShards open_;
    ShardKey known_of_;  ///< complete shard whose index is `known_`
    std::vector<ChunkPlace> known_;
    std::set<ShardKey> unsynced_;  ///< shards that were written since the last sync()
    bool syncs_all_ = false;       ///< the next sync() syncs the file system
    bool synced_ = false;          ///< some records are safe from lost power, and must stay so
};

}  // namespace

std::unique_ptr<Storage> make_zarr_storage() { return std::make_unique<ZarrStorage>(); }

}  // namespace thalweg::detail
