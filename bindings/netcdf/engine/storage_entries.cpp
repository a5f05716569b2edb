// The entries of the engine's table for netCDF-4's storage: chunks, filters, fill values, caches.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <string>
#include <vector>

#include "entries.hpp"
#include "files.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage.hpp"
#include "nc/fallback/by_netcdf.hpp"

namespace thalweg::netcdf::engine {

namespace {

void need_netcdf4(File& file) {
    if (!file.is_netcdf4()) throw Error{NC_ENOTNC4, file.path() + " is not a netCDF-4 file"};
}

template <class Change>
int change_storage(int ncid, int varid, Change change) {
    return on_file(ncid, [&](File& file) {
        need_netcdf4(file);
        Storage& s = file.storage_to_change(varid);
        change(s, file.table().variable(varid), file);
    });
}

int def_var_deflate(int ncid, int varid, int shuffle, int deflate, int level) {
    return change_storage(ncid, varid, [&](Storage& s, const Variable& v, File&) {
        if (v.dims.empty()) return;  // a scalar has no filters
        s.shuffle = shuffle != 0 ? 1 : 0;
        set_deflate(s, v, deflate != 0, level);
    });
}

int def_var_fletcher32(int ncid, int varid, int fletcher32) {
    return change_storage(ncid, varid, [&](Storage& s, const Variable& v, File&) {
        if (fletcher32 != 0 && !v.dims.empty())
            set_filter(s, v, fletcher_filter, {});
        else
            std::erase_if(s.others, [](const Filter& f) { return f.id == fletcher_filter; });
    });
}

int def_var_chunking(int ncid, int varid, int layout, const std::size_t* lengths) {
    bool compact = false;
    const int code = change_storage(ncid, varid, [&](Storage& s, const Variable& v, File& file) {
        compact = layout == NC_COMPACT && file.definitions.format == Format::netcdf4;
        std::vector<Index> all;
        for (std::size_t d = 0; lengths != nullptr && d < v.dims.size(); d++)
            all.push_back(static_cast<Index>(std::min<std::size_t>(lengths[d], NC_MAX_INT64)));
        if (v.dims.empty() && layout == NC_CHUNKED)
            throw Error{NC_EINVAL, v.name + ": a scalar has no chunks"};
        set_chunking(s, file.table(), v, compact ? NC_CONTIGUOUS : layout, all);
    });
    if (code != 0 || !compact) return code;
    return leave_and_call<&Table::def_var_chunking>("a variable is compact", ncid, varid, layout,
                                                    lengths);
}

int def_var_endian(int ncid, int varid, int endian) {
    return change_storage(ncid, varid,
                          [&](Storage& s, const Variable& v, File&) { set_endian(s, v, endian); });
}

int def_var_filter(int ncid, int varid, unsigned id, std::size_t n, const unsigned* values) {
    return change_storage(ncid, varid, [&](Storage& s, const Variable& v, File&) {
        if (!is_own_filter(id) && !has_filter(id))
            throw Error{NC_ENOFILTER, v.name + ": HDF5 has no filter " + std::to_string(id)};
        set_filter(s, v, id,
                   values == nullptr ? std::vector<unsigned>{}
                                     : std::vector<unsigned>(values, values + n));
    });
}

int def_var_quantize(int ncid, int varid, int mode, int digits) {
    return change_storage(ncid, varid, [&](Storage& s, const Variable& v, File&) {
        set_quantize(s, v, mode, digits);
    });
}

int inq_var_quantize(int ncid, int varid, int* mode, int* digits) {
    return on_file(ncid, [&](File& file) {
        need_netcdf4(file);
        const Storage s = file.storage_of(varid);
        set(mode, s.quantize);
        set(digits, s.digits);
    });
}

int def_var_fill(int ncid, int varid, int no_fill, const void* value) {
    return on_file(ncid, [&](File& file) {
        if (varid == NC_GLOBAL) throw Error{NC_EGLOBAL, "NC_GLOBAL has no fill value"};
        file.storage_to_change(varid).no_fill = no_fill != 0;
        const Variable& v = file.table().variable(varid);
        const bool replaces = file.is_netcdf4() && (value != nullptr || no_fill != 0);
        if (replaces && v.attributes.get(fill_attribute) != nullptr)
            file.definitions.del_att(varid, fill_attribute);
        if (value != nullptr && no_fill == 0)
            file.put_att(varid, fill_attribute, v.type, 1, value, v.type);
    });
}

int inq_var_filter_ids(int ncid, int varid, std::size_t* n, unsigned* ids) {
    return on_file(ncid, [&](File& file) {
        std::vector<Filter> all;
        if (file.is_netcdf4()) all = filters_of(file.storage_of(varid));
        for (std::size_t i = 0; ids != nullptr && i < all.size(); i++) ids[i] = all[i].id;
        set(n, all.size());
    });
}

int inq_var_filter_info(int ncid, int varid, unsigned id, std::size_t* n, unsigned* values) {
    return on_file(ncid, [&](File& file) {
        std::vector<Filter> all;
        if (file.is_netcdf4()) all = filters_of(file.storage_of(varid));
        for (const Filter& f : all) {
            if (f.id != id) continue;
            set(n, f.parameters.size());
            if (values != nullptr) std::copy(f.parameters.begin(), f.parameters.end(), values);
            return;
        }
        throw Error{NC_ENOFILTER, "there is no filter " + std::to_string(id)};
    });
}

int inq_filter_avail(int ncid, unsigned id) {
    return on_file(ncid, [&](File& file) {
        need_netcdf4(file);
        if (!is_own_filter(id) && !has_filter(id))
            throw Error{NC_ENOFILTER, "HDF5 has no filter " + std::to_string(id)};
    });
}

// Stores the program's settings of the chunk cache. The engine has no such cache.
int set_var_chunk_cache(int ncid, int varid, std::size_t size, std::size_t n, float preemption) {
    return on_file(ncid, [&](File& file) {
        need_netcdf4(file);
        if (!(preemption >= 0 && preemption <= 1))
            throw Error{NC_EINVAL, "there is no such chunk cache"};
        file.table().variable(varid).cache = {static_cast<Index>(size), static_cast<Index>(n),
                                              preemption};
    });
}

int get_var_chunk_cache(int ncid, int varid, std::size_t* size, std::size_t* n, float* preemption) {
    return on_file(ncid, [&](File& file) {
        need_netcdf4(file);
        const Variable& v = file.table().variable(varid);
        std::size_t usual_size = 0, usual_n = 0;
        float usual = 0;
        auto* const ask = file.call().chunk_cache;
        if (ask != nullptr) ask(&usual_size, &usual_n, &usual);
        const ChunkCache cache = v.cache.value_or(
            ChunkCache{static_cast<Index>(usual_size), static_cast<Index>(usual_n), usual});
        set(size, static_cast<std::size_t>(cache.size));
        set(n, static_cast<std::size_t>(cache.elements));
        set(preemption, cache.preemption);
    });
}

int show_metadata(int) { return 0; }

}  // namespace

void add_storage(Table& t) {
#define X(name) t.name = name
    X(def_var_deflate), X(def_var_fletcher32), X(def_var_chunking), X(def_var_endian),
        X(def_var_filter), X(def_var_quantize), X(inq_var_quantize), X(def_var_fill),
        X(inq_var_filter_ids), X(inq_var_filter_info), X(inq_filter_avail), X(set_var_chunk_cache),
        X(get_var_chunk_cache), X(show_metadata);
#undef X
}

}  // namespace thalweg::netcdf::engine
