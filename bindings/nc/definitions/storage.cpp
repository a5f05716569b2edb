// SPDX-License-Identifier: Apache-2.0
#include "nc/definitions/storage.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "nc/base/types.hpp"

namespace thalweg::nc {

namespace {

const Dimension& dimension_of(const Table& table, const Variable& v, std::size_t d) {
    return table.dimensions[static_cast<std::size_t>(v.dims[d])];
}

// Tests if a name can be part of a list of settings, which has the form name=value,name=value; ...
bool fits_a_list(const std::string& name) {
    return name.find_first_of("=,;\t\n") == std::string::npos && name.front() != ' ' &&
           name.back() != ' ';
}

std::string beyond_library(const Table& table, const Variable& v) {
    const Storage& s = v.storage;
    if (!is_native(s.endian)) return "another byte order";
    if (s.zstandard && s.deflate != 0) return "both deflate and zstd";
    if (!s.others.empty()) return "filter " + std::to_string(s.others.front().id);
    for (std::size_t d = 0; d < v.dims.size(); d++) {
        const Dimension& dimension = dimension_of(table, v, d);
        if (dimension.unlimited && d > 0)
            return "the unlimited dimension " + dimension.name + " is not the slowest";
        if (s.chunks.empty()) continue;
        if (std::count(v.dims.begin(), v.dims.end(), v.dims[d]) > 1)
            return "chunks along the dimension " + dimension.name + ", which occurs twice";
        if (dimension.unlimited && s.chunks[d] != 1)
            return "chunks of " + std::to_string(s.chunks[d]) + " along the unlimited dimension " +
                   dimension.name;
        if (!fits_a_list(dimension.name))
            return "chunks along a dimension with the name '" + dimension.name + "'";
    }
    return "";
}

}  // namespace

std::vector<std::size_t> complete_chunks(const Table& table, const Variable& v,
                                         std::vector<std::size_t> chunks) {
    constexpr std::size_t most = 4 << 20;
    chunks.resize(v.dims.size(), 0);
    std::size_t bytes = size_of(v.type);
    for (const std::size_t given : chunks) bytes *= std::max<std::size_t>(given, 1);
    for (std::size_t d = v.dims.size(); d-- > 0;) {
        if (chunks[d] != 0) continue;
        const Dimension& dimension = dimension_of(table, v, d);
        const auto length = static_cast<std::size_t>(std::max<Index>(dimension.length, 1));
        chunks[d] = dimension.unlimited ? 1 : std::clamp<std::size_t>(most / bytes, 1, length);
        bytes *= chunks[d];
    }
    return chunks;
}

bool is_native(int endian) {
    return endian == NC_ENDIAN_NATIVE ||
           (endian == NC_ENDIAN_LITTLE) == (std::endian::native == std::endian::little);
}

std::string beyond_library(const Table& table) {
    if (std::count_if(table.dimensions.begin(), table.dimensions.end(),
                      [](const Dimension& d) { return d.unlimited; }) > 1)
        return "several unlimited dimensions";
    for (const Variable& v : table.variables)
        if (const std::string why = beyond_library(table, v); !why.empty())
            return "variable " + v.name + ": " + why;
    return "";
}

std::string settings_of(const Table& table, const Variable& v) {
    static const char* const modes[] = {"no", "bitgroom", "granularbr", "bitround"};
    const Storage& s = v.storage;
    std::string text;
    const auto set = [&](const char* name, const std::string& value) {
        text += (text.empty() ? "" : "; ") + std::string(name) + "=" + value;
    };
    if (v.dims.empty()) return "";
    if (s.filters_set) {
        set("deflate", std::to_string(s.deflate != 0 ? s.level : 0));
        set("shuffle", s.shuffle != 0 ? "yes" : "no");
        set("zstd", s.zstandard ? std::to_string(s.zstandard_level) : "no");
    }
    if (s.quantize != 0)
        set("quantize", std::string(modes[s.quantize]) + ":" + std::to_string(s.digits));
    if (s.layout == NC_CHUNKED) {
        const auto chunks = complete_chunks(table, v, s.chunks);
        std::string list;
        for (std::size_t d = 0; d < v.dims.size(); d++) {
            const Dimension& dimension = dimension_of(table, v, d);
            if (dimension.unlimited || !fits_a_list(dimension.name)) continue;
            list += (list.empty() ? "" : ",") + dimension.name + "=" + std::to_string(chunks[d]);
        }
        if (!list.empty()) set("chunks", list);
    }
    return text;
}

Storage expected_storage(const Table& table, const Variable& v) {
    Storage s = v.storage;
    if (s.layout < 0) {
        const bool unlimited = std::any_of(v.dims.begin(), v.dims.end(), [&](int d) {
            return table.dimensions[static_cast<std::size_t>(d)].unlimited;
        });
        s.layout = unlimited || s.filtered() ? NC_CHUNKED : NC_CONTIGUOUS;
    }
    if (s.layout == NC_CHUNKED) s.chunks = complete_chunks(table, v, s.chunks);
    return s;
}

}  // namespace thalweg::nc
