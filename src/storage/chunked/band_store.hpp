// The bands of a writer's chunks that are written whole: makes chunks of the pieces of variables
// that come, and filters them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/chunked/packer.hpp"
#include "storage/chunked/partial_chunk_cache.hpp"

namespace thalweg::detail {

/// The chunk grid and the filters of each variable of a file.
struct ChunkLayout {
    std::vector<ChunkGrid> grids;
    std::vector<std::vector<StoredFilter>> filters;
    /// 1: the variable is written in whole chunks; 0: element by element, at known offsets.
    std::vector<char> whole;
    std::vector<FillValue> fills;  ///< values of elements never written
    /// 1: chunks that are never written read as the fill value, and take no space.
    std::vector<char> sparse;
    /// 1: chunks hold several records, and are written when these are complete.
    std::vector<char> late;

    bool any_whole() const { return std::find(whole.begin(), whole.end(), 1) != whole.end(); }
    /// Returns how many of the first `records` records are in chunks that are complete.
    std::int64_t in_chunks(std::int64_t records) const {
        std::int64_t n = records;
        for (std::size_t i = 0; i < grids.size(); ++i)
            if (late[i] != 0) n = std::min(n, grids[i].first_record(records));
        return n;
    }
};

/// The filtered chunks of a writer, in its file or files.
class StoredChunks {
public:
    /// Tests if a chunk was put, or was in the file before.
    virtual bool has(int variable, std::int64_t record, std::int64_t number) = 0;
    /// Reads a chunk that has() finds.
    /// @param skipped  receives a bit for each filter that was not applied
    virtual Status get(int variable, std::int64_t record, std::int64_t number,
                       std::vector<char>& raw, std::uint32_t& skipped) = 0;
    /// Stores a chunk, in place of an earlier one.
    virtual Status put(int variable, std::int64_t record, std::int64_t number,
                       const FilteredChunk& chunk) = 0;

protected:
    ~StoredChunks() = default;
};

class BandStore {
public:
    /// All arguments but the path must outlive this object.
    /// @param threads  number of threads that filter chunks, including the caller
    /// @param memory   see StorageOptions::waiting_chunks
    /// @param in_file  see PartialChunkCache
    BandStore(StoredChunks& chunks, const std::string& path, const Definitions& definitions,
              const ChunkLayout& layout, IndexConvention wording, int threads, std::int64_t memory,
              BandPlaces* in_file = nullptr);

    /// Writes a piece of a variable. Pieces may come in any order and repeatedly.
    Status write(const Chunk& piece) { return bands_.write(piece); }
    /// Reads elements that were passed to write(), or that the file contains.
    Status read(const Chunk& piece, char* to) { return bands_.read(piece, to); }
    /// Filters and stores the chunks that are complete. With `mark` or new records, also the bands
    /// that were written in parts and are complete: those of fixed-size variables, and those with a
    /// record before `records`, whose data must all have been passed to write().
    /// @param mark    earlier records may have changed, too
    /// @param passes  tests if a band of a record variable is complete; null: if it has a record
    ///                before `records`
    Status end_unit(std::int64_t records, bool mark,
                    const std::function<bool(const Band&)>& passes = nullptr);
    /// Returns the number of records that end_unit() has completed.
    std::int64_t ended() const { return ended_; }
    /// Removes the records from `records` on out of chunks that also hold earlier records, by
    /// rewriting those chunks.
    Status cut(int variable, std::int64_t records);

private:
    Status load(const Band& band, char* to);
    Status pack(const Band& band, const char* elements);
    Status quantize_changes(const Band& band, char* elements);
    bool is_new(const Band& band) const;

    StoredChunks& chunks_;
    std::string path_;
    const Definitions& definitions_;
    const ChunkLayout& layout_;
    IndexConvention wording_;
    Packer packer_;
    /// Receives each chunk from the Packer, and stores it.
    Packer::Take take_ = [this](int variable, std::int64_t record, std::int64_t number,
                                const FilteredChunk& chunk) {
        return chunks_.put(variable, record, number, chunk);
    };
    PartialChunkCache bands_;               ///< holds bands that are written in parts
    std::optional<Decompressor> unpacker_;  ///< decompresses chunks that are changed
    std::vector<char> raw_, before_, changed_;
    std::int64_t ended_ = 0;  ///< see ended()
};

}  // namespace thalweg::detail
