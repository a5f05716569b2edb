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
#include "storage/chunked/filters.hpp"
#include "storage/netcdf4/index/hdf5_driver.hpp"
#include "storage/netcdf4/index/stored_variable.hpp"
#include "storage/posix/opened_file.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

/// A chunk to read, and the part of one record that it holds.
struct Cell {
    ChunkCache::Key key;
    /// First element in HDF5's data set, including the record dimension.
    std::vector<hsize_t> corner;
    std::int64_t at = 0;  ///< index of the record within the chunk
    Box box;              ///< the part's position and shape in the variable
    /// Shape of the data set in HDF5, which can be smaller than that of the variable.
    Box extent;
    bool beyond = false;  ///< the data set in HDF5 is too short to contain the record

    /// Finds the part of a box of the variable that is stored in this chunk.
    /// @return false if no part of the box is stored in it
    bool stored(const Box& box, Box& part) const;
};

/// Calls visit(cell) for each chunk that holds elements of `box` in a record, until a call fails.
Status for_cells(const Variable& variable, const StoredVariable& stored, int number,
                 std::int64_t record, const Box& box,
                 const std::function<Status(const Cell& cell)>& visit);

/// Divides a range into boxes and calls visit(box, destination) for each, until a call fails.
Status for_boxes(const ReadRange& range, std::int64_t element,
                 const std::function<Status(const Box& box, char* to)>& visit);

/// Divides a variable that is stored in chunks, and has dimensions, into parts; see
/// Source::parts(). A band of chunks of a part (those that together are a range of it) fits into
/// the cache, and readers' shares end between bands. So each chunk is read and unpacked once, by
/// one reader, however its share is cut into pieces.
std::vector<SourcePart> parts_of(const Variable& variable, const StoredVariable& stored,
                                 int readers);

class ChunkReader {
public:
    static constexpr std::int64_t cache_bytes = 32 << 20;

    /// Finds where chunks are in the file.
    class Finder {
    public:
        /// Finds the place of a chunk, and checks that it lies within the file.
        virtual Status find(int variable, const Cell& cell, StoredChunk& place) = 0;
        /// Reads the elements of a chunk that only HDF5 can read, within the extent of the data
        /// set.
        virtual Status read_by_hdf5(int variable, const Cell& cell, char* to) = 0;

    protected:
        ~Finder() = default;
    };

    /// The arguments must outlive this object.
    /// @param file    the file, which is opened when it is needed
    /// @param opened  its identity
    ChunkReader(Finder& finder, ReadFile& file, const OpenedFile& opened, const std::string& path,
                const Definitions& definitions, const std::vector<StoredVariable>& stored,
                ReadCounts& counts)
        : finder_(finder),
          file_(file),
          opened_(opened),
          path_(path),
          definitions_(definitions),
          stored_(stored),
          counts_(counts) {}

    /// Reads ranges, and adds to the counts.
    /// @param throttle  limits the rate
    Status read(std::span<const ReadRange> ranges, Throttle& throttle);
    /// Empties the cache.
    void clear() {
        cache_.clear();
        located_ = {};
    }

private:
    Status read_range(const ReadRange& range);
    Status read_cell(int variable, const Cell& cell, const Box& box, char* to);
    Status locate(int variable, const Cell& cell);
    Status read_raw(std::int64_t address, std::int64_t bytes, char* to);
    Status unpack(int variable, const Cell& cell, const char*& data);
    void fill(const FillValue& value, std::int64_t element, const Box& box, const Box& in,
              char* to);

    Finder& finder_;
    ReadFile& file_;
    const OpenedFile& opened_;
    const std::string& path_;
    const Definitions& definitions_;
    const std::vector<StoredVariable>& stored_;
    ReadCounts& counts_;
    ChunkCache cache_{cache_bytes};
    std::optional<Decompressor> decompressor_;
    std::vector<char> raw_, row_;
    ChunkCache::Key located_;  ///< key of the chunk that `place_` describes
    StoredChunk place_;
};

}  // namespace thalweg::detail
