// SPDX-License-Identifier: Apache-2.0
#include "nc/definitions/storage_rules.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "nc/base/error.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage.hpp"

namespace thalweg::nc {

namespace {

void set_zstandard(Storage& s, const Variable& v, int level) {
    if (level < -100 || level > 22)
        throw Error{NC_EINVAL, v.name + ": there is no zstd level " + std::to_string(level)};
    s.filters_set = true;
    s.zstandard = true;
    s.zstandard_level = level;
}

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
    if (id == deflate_filter)
        set_deflate(s, v, true, static_cast<int>(parameters[0]));
    else if (id == zstd_filter)
        set_zstandard(s, v, static_cast<int>(parameters[0]));
    else if (id == shuffle_filter)
        s.filters_set = true, s.shuffle = 1;
    else {
        std::erase_if(s.others, [&](const Filter& f) { return f.id == id; });
        s.others.push_back({id, std::move(parameters)});
    }
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
