// Gathers the pieces of a variable until whole chunks are there, and filters those.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "storage/chunked/chunk_grid.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class Packer {
public:
    /// Takes a chunk of a variable and its (first) record; its data live as long as the call.
    using Take = std::function<Status(int variable, std::int64_t record, std::int64_t number,
                                      const FilteredChunk& chunk)>;

    /// @param filters  of each variable
    Packer(const Definitions& definitions, std::span<const ChunkGrid> grids,
           std::span<const std::vector<StoredFilter>> filters)
        : definitions_(definitions),
          grids_(grids),
          filters_(filters),
          parts_(definitions.variables.size()) {}

    /// Pieces of a band come in order, the bands of a variable in any. For chunks of one record.
    Status add(const Chunk& piece, const Take& take);
    /// Quantizes the elements of a whole band (of one record), if the variable's are to be.
    void quantize_band(int variable, std::int64_t band, char* data) const;
    /// Filters the chunks of a band.
    /// @param data  of its records, one after another
    Status pack_band(int variable, std::int64_t record, std::int64_t band, const char* data,
                     const Take& take);

    /// Brings the elements of a chunk, those past the variable's edges included.
    using Give = std::function<Status(std::int64_t number, std::vector<char>& elements)>;
    /// The reverse: the elements of a band, of its chunks.
    Status unpack_band(int variable, std::int64_t band, char* to, const Give& give);

private:
    struct Part {
        std::vector<char> bytes;  ///< of the band under way
        std::int64_t have = 0;    ///< elements of it
    };
    /// Where a chunk begins in its band, in bytes, and its elements within the variable; their
    /// number.
    std::int64_t locate(const ChunkGrid& grid, std::int64_t band, std::int64_t number,
                        std::int64_t& offset, Index& extent) const;

    const Definitions& definitions_;
    std::span<const ChunkGrid> grids_;
    std::span<const std::vector<StoredFilter>> filters_;
    std::vector<Part> parts_;  ///< of each variable
    Compressor compressor_;
    std::vector<char> chunk_;
};

}  // namespace thalweg::detail
