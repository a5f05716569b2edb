// Reads elements of variables by plain reads, chunk by chunk, and undoes their filters. It gets the
// places of chunks from a Finder: one calls HDF5 on the model's thread; the other serves the thread
// that reads ahead, which must not call HDF5.
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

/// A chunk that is being read, and the part of a record that it holds.
struct Cell {
    ChunkCache::Key key;
    std::vector<hsize_t> corner;  ///< first element; includes the record dimension
    std::int64_t at = 0;          ///< index, in the chunk, of the first element of the record
    Box box;                      ///< position and shape in the variable
    /// Shape of the variable in HDF5, which may be smaller than that of the variable.
    Box extent;
    bool beyond = false;  ///< the record does not exist in HDF5

    /// Finds the part of a box of the variable that is stored in this chunk.
    /// @return false: there is none
    bool stored(const Box& box, Box& part) const;
};

/// Calls visit(cell) for the chunks that hold elements of a box of a record, until one fails.
Status for_cells(const Variable& variable, const StoredVariable& stored, int number,
                 std::int64_t record, const Box& box,
                 const std::function<Status(const Cell& cell)>& visit);

/// Calls visit(box, its destination) for the boxes into which a range is divided, until one fails.
Status for_boxes(const ReadRange& range, std::int64_t element,
                 const std::function<Status(const Box& box, char* to)>& visit);

class ChunkReader {
public:
    static constexpr std::int64_t cache_bytes = 32 << 20;

    /// Finds the places of chunks.
    class Finder {
    public:
        /// Gets the file's descriptor.
        virtual Status descriptor(int& fd) = 0;
        /// Finds the place of a chunk and checks it.
        virtual Status find(int variable, const Cell& cell, StoredChunk& place) = 0;
        /// Reads the elements within the extent of a chunk that only HDF5 can read.
        virtual Status read_by_hdf5(int variable, const Cell& cell, char* to) = 0;

    protected:
        ~Finder() = default;
    };

    /// The arguments must outlive this object.
    ChunkReader(Finder& finder, const std::string& path, const Definitions& definitions,
                const std::vector<StoredVariable>& stored, ReadCounts& counts)
        : finder_(finder),
          path_(path),
          definitions_(definitions),
          stored_(stored),
          counts_(counts) {}

    Status read(const ReadRange& range);
    /// Empties the cache.
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
    ChunkCache::Key located_;  ///< chunk whose place is in `place_`
    StoredChunk place_;
};

}  // namespace thalweg::detail
