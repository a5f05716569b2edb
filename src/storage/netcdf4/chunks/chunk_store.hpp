// Passes a writer's chunks that are written whole to ChunkPlacer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "storage/checksums/writer.hpp"
#include "storage/chunked/band_store.hpp"
#include "storage/netcdf4/placement/chunk_placer.hpp"

namespace thalweg::detail {

class ChunkStore final : StoredChunks, BandPlaces {
public:
    /// Reads bytes at an address of the file.
    using Read = std::function<Status(char* to, std::int64_t bytes, std::int64_t address)>;
    /// Reserves the space of a chunk that will be written in parts, if that makes it faster.
    using Reserve = std::function<void(std::int64_t address, std::int64_t bytes)>;

    /// @param threads  number of threads that filter chunks, including the caller
    /// @param memory   see StorageOptions::waiting_chunks
    ChunkStore(ChunkPlacer& placer, Read read, Reserve reserve, const std::string& path,
               const Definitions& definitions, const ChunkLayout& layout, IndexConvention wording,
               int threads, std::int64_t memory);

    /// From now on, adds the checksums of written chunks to a table.
    /// @param sums  must outlive this object
    void note_to(SumsWriter& sums) { sums_ = &sums; }
    /// Writes a piece of a variable that is stored in whole chunks. Pieces may come in any order
    /// and repeatedly.
    Status write(const Chunk& piece) { return bands_.write(piece); }
    /// Reads elements that were passed to write(), or that the file contains.
    Status read(const Chunk& piece, char* to) { return bands_.read(piece, to); }
    /// Filters and writes the chunks that are complete; see BandStore::end_unit(). Chunks of
    /// several records wait until these are complete, and small variables for them.
    /// @param all  chunks of several records do not wait
    Status end_unit(std::int64_t records, bool mark, bool all);

    /// Registers the chunks that an existing file contains.
    /// @return TW_OK, TW_ENOMEM
    Status know(std::span<const PlacedChunk> chunks) {
        return catch_errors([&] {
            for (const PlacedChunk& c : chunks) placer_.know(c);
        });
    }
    /// See BandStore::cut().
    Status cut(int variable, std::int64_t records);
    /// Removes and returns the written chunks of fixed-size variables, and those with a record
    /// before `records`, that were not returned before. Of each chunk only the latest version is
    /// returned, in the order of HDF5's index. Called on the header writer, by any thread.
    std::vector<PlacedChunk> take_placed(std::int64_t records);

private:
    bool has(int variable, std::int64_t record, std::int64_t number) override {
        return placer_.has({variable, record, number});
    }
    Status get(int variable, std::int64_t record, std::int64_t number, std::vector<char>& raw,
               std::uint32_t& skipped) override;
    Status put(int variable, std::int64_t record, std::int64_t number,
               const FilteredChunk& chunk) override;
    std::int64_t place(const Band& band, bool& is_new) override;
    Status write_at(const Band& band, const char* from, std::int64_t bytes,
                    std::int64_t address) override {
        return placer_.write_at(chunk_of(band), from, bytes, address);
    }
    Status read_at(char* to, std::int64_t bytes, std::int64_t address) override {
        return read_(to, bytes, address);
    }
    Status add(const Band& band, std::int64_t address) override {
        return placer_.add(chunk_of(band), address);
    }
    /// Returns the only chunk of a band.
    PlacedChunk chunk_of(const Band& band) const {
        return {band.variable, band.record, band.number, 0,
                layout_.grids[band.variable].chunk_bytes()};
    }

    ChunkPlacer& placer_;
    Read read_;
    Reserve reserve_;
    const Definitions& definitions_;
    const ChunkLayout& layout_;
    SumsWriter* sums_ = nullptr;
    bool move_ = false;  ///< chunks are never overwritten in place
    BandStore bands_;
};

}  // namespace thalweg::detail
