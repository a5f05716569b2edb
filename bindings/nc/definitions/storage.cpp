// SPDX-License-Identifier: Apache-2.0
#include "nc/definitions/storage.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "nc/base/error.hpp"
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

// ---- what a program asks for --------------------------------------------------------------------

namespace {

void chunk_if_filtered(Storage& s) {
    if (s.filtered() && s.layout == NC_CONTIGUOUS) s.layout = -1;
}

}  // namespace

void set_deflate(Storage& s, const Variable& v, bool deflate, int level) {
    if (deflate && (level < 0 || level > 9))
        throw Error{NC_EINVAL, v.name + ": there is no deflate level " + std::to_string(level)};
    s.filters_set = true;
    s.deflate = deflate && level > 0 ? 1 : 0;  // level 0 compresses nothing
    s.level = s.deflate != 0 ? level : 0;
    chunk_if_filtered(s);
}

void set_chunking(Storage& s, const Table& table, const Variable& v, int layout,
                  const std::vector<Index>& lengths) {
    if (layout != NC_CHUNKED && layout != NC_CONTIGUOUS)
        throw Error{NC_EINVAL, v.name + ": there is no storage " + std::to_string(layout)};
    if (layout == NC_CONTIGUOUS) {
        if (table.is_record(v))
            throw Error{NC_EINVAL, v.name + ": a record variable cannot be contiguous"};
        if (s.filtered())
            throw Error{NC_EINVAL, v.name + ": a filtered variable cannot be contiguous"};
    }
    std::vector<std::size_t> chunks;
    bool chosen = false;  // a length of 0 lets the library choose
    for (std::size_t d = 0; layout == NC_CHUNKED && d < lengths.size(); d++) {
        const Dimension& dim = table.dimensions[static_cast<std::size_t>(v.dims[d])];
        const Index length = lengths[d];
        if (length < 0 || (!dim.unlimited && length > std::max<Index>(dim.length, 1)))
            throw Error{length < 0 ? NC_ERANGE : NC_EBADCHUNK,
                        v.name + ": a chunk of " + std::to_string(length) + " along " + dim.name};
        chunks.push_back(static_cast<std::size_t>(length));
        chosen |= length > 0;
    }
    if (chosen)
        chunks = complete_chunks(table, v, chunks);
    else
        chunks.clear();
    double bytes = static_cast<double>(size_of(v.type));
    for (const std::size_t length : chunks) bytes *= static_cast<double>(length);
    if (bytes > 4294967295.0)
        throw Error{NC_EBADCHUNK, v.name + ": a chunk must be smaller than 4 GiB"};
    s.layout = layout;
    s.chunks = std::move(chunks);
}

void set_endian(Storage& s, const Variable& v, int endian) {
    if (endian < NC_ENDIAN_NATIVE || endian > NC_ENDIAN_BIG)
        throw Error{NC_EINVAL, v.name + ": there is no byte order " + std::to_string(endian)};
    s.endian = endian;
}

void set_quantize(Storage& s, const Variable& v, int mode, int digits) {
    const bool bits = mode == 3, twice = v.type == NC_DOUBLE;
    const int most = bits ? (twice ? 52 : 23) : (twice ? 15 : 7);
    if (mode < 0 || mode > 3 || (v.type != NC_FLOAT && v.type != NC_DOUBLE) ||
        (mode != 0 && (digits < 1 || digits > most)))
        throw Error{NC_EINVAL, v.name + ": cannot be quantized in this way"};
    s.quantize = mode;
    s.digits = mode != 0 ? digits : 0;
    chunk_if_filtered(s);
}

bool is_own_filter(unsigned id) {
    return id == deflate_filter || id == shuffle_filter || id == zstd_filter;
}

void set_filter(Storage& s, const Variable& v, unsigned id, std::vector<unsigned> parameters) {
    const std::size_t wanted = id == shuffle_filter ? 0 : 1;
    if (is_own_filter(id) && parameters.size() != wanted)
        throw Error{NC_EFILTER, v.name + ": filter " + std::to_string(id) + " takes " +
                                    std::to_string(wanted) + " parameters"};
    if (id == deflate_filter) {
        set_deflate(s, v, true, static_cast<int>(parameters[0]));
    } else if (id == zstd_filter) {
        const int level = static_cast<int>(parameters[0]);
        if (level < -100 || level > 22)
            throw Error{NC_EINVAL, v.name + ": there is no zstd level " + std::to_string(level)};
        s.zstandard = true;
        s.zstandard_level = level;
    } else if (id == shuffle_filter) {
        s.shuffle = 1;
    } else {
        std::erase_if(s.others, [&](const Filter& f) { return f.id == id; });
        s.others.push_back({id, std::move(parameters)});
    }
    s.filters_set |= is_own_filter(id);
    chunk_if_filtered(s);
}

std::vector<Filter> filters_of(const Storage& s) {
    const auto level = [](int value) {
        return std::vector<unsigned>{static_cast<unsigned>(value)};
    };
    std::vector<Filter> all;
    if (s.shuffle != 0) all.push_back({shuffle_filter, {}});
    if (s.deflate != 0) all.push_back({deflate_filter, level(s.level)});
    if (s.zstandard) all.push_back({zstd_filter, level(s.zstandard_level)});
    all.insert(all.end(), s.others.begin(), s.others.end());
    return all;
}

}  // namespace thalweg::nc
