// The changes to a chunk before it is written: HDF5's filters, and netCDF's quantization.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "definitions/definitions.hpp"
#include "storage/variable_storage.hpp"

namespace thalweg::detail {

/// Identifier of the filter zstd in HDF5 (github.com/HDFGroup/hdf5_plugins,
/// docs/RegisteredFilterPlugins.md).
constexpr int zstd_filter = 32015;
/// Identifiers of Zarr's codecs that HDF5 lacks; not used in HDF5's files.
constexpr int gzip_filter = -1, crc32c_filter = -2;

/// Applies HDF5's filter "shuffle": puts byte k of all elements together, for each k.
void shuffle(const char* from, std::int64_t elements, std::int64_t element, char* to);
void unshuffle(const char* from, std::int64_t elements, std::int64_t element, char* to);

/// Returns the checksum of HDF5's filter "fletcher32".
std::uint32_t fletcher32(const char* data, std::int64_t bytes);

/// Returns the filters that the settings of a variable request.
std::vector<StoredFilter> filters_of(const Packing& packing, std::int64_t element);

/// Tests if all filters are among those that Compressor can apply and Decompressor can undo.
bool can_undo(const std::vector<StoredFilter>& filters);

/// A chunk as it is stored in the file.
struct FilteredChunk {
    const char* data = nullptr;  ///< valid until the next call of Compressor::apply()
    std::int64_t bytes = 0;
};

/// Compresses one chunk after another, reusing its memory. The compressed chunk is stored even if
/// it is longer than the original: HDF5 could mark a chunk as unfiltered, but Zarr could not.
class Compressor {
public:
    Compressor();
    ~Compressor();
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    /// @param filters  filters of the variable; can_undo(filters) must be true
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

/// Decompresses one chunk after another, reusing its memory. Safe for damaged or malicious chunks:
/// every length is checked.
class Decompressor {
public:
    Decompressor();
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;

    /// Tests if a chunk of `bytes` bytes can have been stored in `stored` bytes; called before
    /// memory is allocated for the chunk.
    static bool plausible(const std::vector<StoredFilter>& filters, std::uint32_t skipped,
                          std::int64_t stored, std::int64_t bytes);
    /**
     * Undoes the filters of a chunk.
     * @param raw    chunk as it is stored in the file; overwritten
     * @param bytes  size of the unfiltered chunk
     * @return null, or the error in the chunk
     */
    const char* undo(const std::vector<StoredFilter>& filters, std::uint32_t skipped,
                     std::vector<char>& raw, std::int64_t bytes, std::vector<char>& elements);

private:
    struct Codecs;
    std::unique_ptr<Codecs> codecs_;
};

/**
 * Quantizes floating-point elements as netCDF-C 4.9 does on writing: NC_QUANTIZE_BITGROOM (Zender
 * 2016, doi:10.5194/gmd-9-3199-2016), NC_QUANTIZE_GRANULARBR and NC_QUANTIZE_BITROUND (Kouznetsov
 * 2021, doi:10.5194/gmd-14-377-2021). Fill values, zeros, infinities and NaN do not change. If the
 * requested digits need every bit, no value changes; netCDF-C 4.9.0 changes some.
 * @param first  position of the first element in the data that netCDF-C would write in one call:
 *               bit grooming clears bits at even positions and sets them at odd ones
 */
void quantize(const Packing& packing, tw_type type, const void* fill, char* data,
              std::int64_t elements, std::int64_t first);

}  // namespace thalweg::detail
