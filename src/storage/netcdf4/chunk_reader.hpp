// Reads elements of variables by plain reads, chunk by chunk, and undoes their filters. Where
// chunks lie it asks a Finder: one calls HDF5 on the model's thread, the other may not, on the
// thread that reads ahead.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/chunked/chunk_cache.hpp"
#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/hdf5_driver.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

/// A chunk that is under way, and what of a record it holds.
struct Cell {
    ChunkCache::Key key;
    std::vector<hsize_t> corner;  ///< the record dimension included
    std::int64_t at = 0;          ///< element of the chunk at which the record begins
    Box box;                      ///< within the variable
    Box extent;                   ///< of the variable, as far as HDF5 has it
    bool beyond = false;          ///< the record is not in HDF5

    /// What the file has of a box of the variable that is in this chunk. False: nothing.
    bool stored(const Box& box, Box& part) const;
};

/// Calls visit(cell) for the chunks that hold something of a box of a record, until one fails.
Status for_cells(const Variable& variable, const StoredVariable& stored, int number,
                 std::int64_t record, const Box& box,
                 const std::function<Status(const Cell& cell)>& visit);

/// Calls visit(box, its place) for the boxes of the variable that a range is, until one fails.
Status for_boxes(const ReadRange& range, std::int64_t element,
                 const std::function<Status(const Box& box, char* to)>& visit);

class ChunkReader {
public:
    static constexpr std::int64_t cache_bytes = 32 << 20;

    /// Whom it asks.
    class Finder {
    public:
        /// The file's descriptor.
        virtual Status descriptor(int& fd) = 0;
        /// Where a chunk lies; checked.
        virtual Status find(int variable, const Cell& cell, StoredChunk& place) = 0;
        /// A chunk that only HDF5 can read, as far as the extent reaches.
        virtual Status read_by_hdf5(int variable, const Cell& cell, char* to) = 0;

    protected:
        ~Finder() = default;
    };

    /// Refers to what it is given.
    ChunkReader(Finder& finder, const std::string& path, const Definitions& definitions,
                const std::vector<StoredVariable>& stored, ReadCounts& counts)
        : finder_(finder),
          path_(path),
          definitions_(definitions),
          stored_(stored),
          counts_(counts) {}

    Status read(const ReadRange& range);
    /// Forgets what it has read.
    void clear() {
        cache_.clear();
        located_ = {};
    }

private:
    Status read_cell(int variable, const Cell& cell, const Box& box, char* to);
    Status locate(int variable, const Cell& cell);
    Status read_raw(std::int64_t address, std::int64_t bytes, char* to);
    Status unpack(int variable, const Cell& cell, const char*& data);
    void fill(const FillValue& value, std::int64_t element, const Box& box, const Box& in,
              char* to);

    Finder& finder_;
    const std::string& path_;
    const Definitions& definitions_;
    const std::vector<StoredVariable>& stored_;
    ReadCounts& counts_;
    ChunkCache cache_{cache_bytes};
    std::optional<Decompressor> decompressor_;
    std::vector<char> raw_, row_;
    ChunkCache::Key located_;  ///< whose place is known
    StoredChunk place_;
};

}  // namespace thalweg::detail
