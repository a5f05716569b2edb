// Storage of a variable in a netCDF-4 file: chunks, filters, quantization.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace thalweg::detail {

/// Largest size in bytes of a record of a variable such as time or its bounds.
constexpr std::int64_t small_record = 64;

struct Packing {
    enum class Codec { none, deflate, zstd };
    /// Methods of quantization, with netCDF's numbers for them (NC_QUANTIZE_...).
    enum class Quantize { none = 0, bitgroom = 1, granularbr = 2, bitround = 3 };

    Codec codec = Codec::none;
    int level = 0;
    bool shuffle = false;
    Quantize quantize = Quantize::none;
    int digits = 0;  ///< number of significant decimal digits; for bitround, of bits
    /// Requested chunk lengths along all dimensions except the record dimension; 0: the library
    /// chooses a length. Empty if none were requested.
    std::vector<std::int64_t> chunks;

    /// Chunks must be written as a whole.
    bool whole = false;

    /// Number of records for which the file is laid out as CMIP7 asks (setting `packing`); 0: it is
    /// not laid out so.
    std::int64_t cmip7 = 0;

    /// Tests if elements are stored in another form than their own bytes.
    bool filtered() const { return codec != Codec::none || shuffle || quantize != Quantize::none; }
};

/// Settings of one variable, as text: fill, and for netCDF-4 deflate, shuffle, zstd, quantize,
/// chunks.
using VariableSettings = std::map<std::string, std::string>;

}  // namespace thalweg::detail
