// What happens to a chunk before it is written: HDF5's filters, and netCDF's quantization.
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

/// HDF5's filter "shuffle": byte k of all elements together, for each k.
void shuffle(const char* from, std::int64_t elements, std::int64_t element, char* to);
void unshuffle(const char* from, std::int64_t elements, std::int64_t element, char* to);

/// The sum of HDF5's filter "fletcher32".
std::uint32_t fletcher32(const char* data, std::int64_t bytes);

/// What is done to a variable's chunks, one filter after another.
struct StoredFilter {
    std::int32_t id = 0;       ///< HDF5's number
    std::int32_t element = 1;  ///< of shuffle: bytes
    std::int32_t level = 0;    ///< of deflate and zstd
};

/// Those of a variable that the library defines.
std::vector<StoredFilter> filters_of(const Packing& packing, std::int64_t element);

/// Whether Compressor knows them, and Decompressor can undo them.
bool can_undo(const std::vector<StoredFilter>& filters);

/// A chunk as it lies in the file.
struct FilteredChunk {
    const char* data = nullptr;  ///< until the next call
    std::int64_t bytes = 0;
};

/// Compresses chunk after chunk, also what becomes longer by it: HDF5 could note of such a chunk
/// that it has no filter, but Zarr cannot. Keeps its memory.
class Compressor {
public:
    Compressor();
    ~Compressor();
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    /// @param filters  for which can_undo() holds
    /// @param data     the elements of a chunk as the file is to have them
    FilteredChunk apply(const std::vector<StoredFilter>& filters, const char* data,
                        std::int64_t bytes);

private:
    struct Codecs;
    std::size_t apply_one(const StoredFilter& filter, const FilteredChunk& from,
                          std::vector<char>& to);

    std::unique_ptr<Codecs> codecs_;
    std::vector<char> one_, other_;  ///< what a filter makes of what the one before it has made
};

/// Undoes the filters of chunk after chunk; keeps its memory. What is in the file is not trusted.
class Decompressor {
public:
    Decompressor();
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;

    /// Whether so few bytes can be a chunk of that size, before memory is taken for it.
    static bool plausible(const std::vector<StoredFilter>& filters, std::uint32_t skipped,
                          std::int64_t stored, std::int64_t bytes);
    /**
     * @param raw    the chunk as it lies in the file; is used up
     * @param bytes  of the elements
     * @return null if all went well, or what is wrong with the chunk
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
 * (Kouznetsov 2021, doi:10.5194/gmd-14-377-2021). Fill values, zeros,
 * infinities and what is no number stay as they are; so does all where the digits need every bit
 * there is, which netCDF-C 4.9.0 spoils.
 * @param first  position of the first element in what netCDF-C would write in one call: bit
 *               grooming shaves and sets in turn
 */
void quantize(const Packing& packing, tw_type type, const void* fill, char* data,
              std::int64_t elements, std::int64_t first);

}  // namespace thalweg::detail
