// How a variable's elements lie in a netCDF-4 file: chunks, filters, quantization.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

struct Definitions;
struct Variable;

struct Packing {
    enum class Codec { none, deflate, zstd };
    /// netCDF's numbers (NC_QUANTIZE_...).
    enum class Quantize { none = 0, bitgroom = 1, granularbr = 2, bitround = 3 };

    Codec codec = Codec::none;
    int level = 0;
    bool shuffle = false;
    Quantize quantize = Quantize::none;
    int digits = 0;  ///< significant ones; for bitround bits
    /// What was asked for, of each dimension but the record's; 0: as the library likes. Empty if
    /// nothing was asked for.
    std::vector<std::int64_t> chunks;

    /// Chunks are written whole, whatever else holds.
    bool whole = false;

    /// Whether the file holds other bytes than the elements'.
    bool filtered() const { return codec != Codec::none || shuffle || quantize != Quantize::none; }
};

/// Settings of one variable, as text: fill, and what netCDF-4 alone has: deflate, shuffle, zstd,
/// quantize, chunks.
using VariableSettings = std::map<std::string, std::string>;

/// "name=value; name=value" added to what is set already; the values are not looked at.
Status add_settings(const std::string& list, VariableSettings& settings);

/// Names in the setting `chunks` of a file that none of its dimensions has.
std::vector<std::string> unknown_chunks(const Definitions& definitions,
                                        const VariableSettings& of_all);

/// Makes a variable's packing of its settings and, of variables with two dimensions or more, of
/// those of the file. What a setting of the file cannot mean for the variable's type or dimensions
/// is passed over; of the variable's own settings it is an error.
Status choose_packing(const Definitions& definitions, const VariableSettings& of_all,
                      Variable& variable);

}  // namespace thalweg::detail
