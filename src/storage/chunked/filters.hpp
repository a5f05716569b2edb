// The changes to a chunk before it is written: HDF5's filters, and netCDF's quantization.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// HDF5's number of the filter zstd (github.com/HDFGroup/hdf5_plugins,
/// docs/RegisteredFilterPlugins.md).
constexpr int zstd_filter = 32015;

/// Applies HDF5's filter "shuffle": puts byte k of all elements together, for each k.
void shuffle(const char* from, std::int64_t elements, std::int64_t element, char* to);
void unshuffle(const char* from, std::int64_t elements, std::int64_t element, char* to);

/// Returns the checksum of HDF5's filter "fletcher32".
std::uint32_t fletcher32(const char* data, std::int64_t bytes);

/// One of the filters that are applied to a variable's chunks in turn.
struct StoredFilter {
    std::int32_t id = 0;       ///< HDF5's number
    std::int32_t element = 1;  ///< bytes of an element, for shuffle
    std::int32_t level = 0;    ///< level of deflate or zstd
};

/// Returns the filters that the settings of a variable request.
std::vector<StoredFilter> filters_of(const Packing& packing, std::int64_t element);

/// Tests if all filters are among those that Compressor can apply and Decompressor can undo.
bool can_undo(const std::vector<StoredFilter>& filters);

/// A chunk as it is stored in the file.
struct FilteredChunk {
    const char* data = nullptr;  ///< valid until the next call of Compressor::apply()
    std::int64_t bytes = 0;
};

/// Compresses one chunk after another, reusing its memory. It stores the compressed chunk even if
/// that is longer: HDF5 could mark a chunk as unfiltered, but Zarr could not.
class Compressor {
public:
    Compressor();
    ~Compressor();
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    /// @param filters  those for which can_undo() is true
    /// @param data     elements of a chunk in the file's byte order
    FilteredChunk apply(const std::vector<StoredFilter>& filters, const char* data,
                        std::int64_t bytes);

private:
    struct Codecs;
    std::size_t apply_one(const StoredFilter& filter, const FilteredChunk& from,
                          std::vector<char>& to);

    std::unique_ptr<Codecs> codecs_;
    std::vector<char> one_, other_;  ///< buffers that are alternately input and output of a filter
};

/// Decompresses one chunk after another, reusing its memory. It does not trust the contents of the
/// file.
class Decompressor {
public:
    Decompressor();
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;

    /// Tests if `stored` bytes can be a chunk of `bytes` bytes, before memory is allocated for it.
    static bool plausible(const std::vector<StoredFilter>& filters, std::uint32_t skipped,
                          std::int64_t stored, std::int64_t bytes);
    /**
     * Undoes the filters of a chunk.
     * @param raw    chunk as it is stored in the file; overwritten
     * @param bytes  size of the elements
     * @return null, or the error in the chunk
     */
    const char* undo(const std::vector<StoredFilter>& filters, std::uint32_t skipped,
                     std::vector<char>& raw, std::int64_t bytes, std::vector<char>& elements);

private:
    struct Codecs;
    std::unique_ptr<Codecs> codecs_;
};

/**
 * Quantizes floating-point elements as netCDF-C 4.9 does on writing: NC_QUANTIZE_BITGROOM
 * (Zender 2016, doi:10.5194/gmd-9-3199-2016), NC_QUANTIZE_GRANULARBR and NC_QUANTIZE_BITROUND
 * (Kouznetsov 2021, doi:10.5194/gmd-14-377-2021). Fill values, zeros, infinities and NaN stay as
 * they are; so do all values if the digits need every bit, which netCDF-C 4.9.0 gets wrong.
 * @param first  position of the first element in the data that netCDF-C would write in one call:
 *               bit grooming shaves and sets in turn
 */
void quantize(const Packing& packing, tw_type type, const void* fill, char* data,
              std::int64_t elements, std::int64_t first);

}  // namespace thalweg::detail
