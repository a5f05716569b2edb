// Divides bands into chunks, and filters the chunks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "storage/chunked/chunk_batch.hpp"
#include "storage/chunked/chunk_grid.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class Packer {
public:
    using Take = TakeChunk;

    /// @param filters  filters of each variable
    /// @param threads  number of threads that filter chunks, including the caller; if there are
    ///                 several, the last chunks are passed on by finish()
    /// @param most     size in bytes of the chunks that wait for the threads
    Packer(const Definitions& definitions, std::span<const ChunkGrid> grids,
           std::span<const std::vector<StoredFilter>> filters, int threads = 1,
           std::int64_t most = 32 << 20)
        : definitions_(definitions), grids_(grids), filters_(filters) {
        if (threads > 1) batch_.emplace(threads, most);
    }

    /// Quantizes the elements of a whole band (of one record), if the variable is quantized.
    void quantize_band(int variable, std::int64_t band, char* data) const;
    /// Tests if the file lacks a chunk.
    using Lacks = std::function<bool(std::int64_t number)>;
    /// Filters the chunks of a band.
    /// @param data   elements of all records in the band, one record after another
    /// @param lacks  chunks that the file lacks are left out if they contain only fill values.
    ///               Null: none are left out
    Status pack_band(int variable, std::int64_t record, std::int64_t band, const char* data,
                     const Take& take, const Lacks& lacks = nullptr);

    /// Passes on the chunks that wait to be filtered.
    Status finish(const Take& take) { return batch_ ? batch_->finish(take) : Status{}; }
    /// Tests if chunks of a band wait to be filtered.
    bool waits(int variable, std::int64_t record, std::int64_t band) const {
        const std::int64_t chunks = grids_[variable].chunks_a_band();
        return batch_ && batch_->has(variable, record, band * chunks, (band + 1) * chunks);
    }

    /// Provides the elements of a chunk, including those past the variable's edges.
    using Give = std::function<Status(std::int64_t number, std::vector<char>& elements)>;
    /// Assembles the elements of a band from its chunks, which `give` provides.
    Status unpack_band(int variable, std::int64_t band, char* to, const Give& give);

private:
    /// Finds the offset in bytes at which a chunk begins in its band (`offset`), and how far it
    /// extends within the variable (`extent`). Returns the number of its elements there.
    std::int64_t locate(const ChunkGrid& grid, std::int64_t band, std::int64_t number,
                        std::int64_t& offset, Index& extent) const;

    const Definitions& definitions_;
    std::span<const ChunkGrid> grids_;
    std::span<const std::vector<StoredFilter>> filters_;
    Compressor compressor_;
    std::optional<ChunkBatch> batch_;  ///< chunks that wait for several threads to filter them
    std::vector<char> chunk_;
};

}  // namespace thalweg::detail
