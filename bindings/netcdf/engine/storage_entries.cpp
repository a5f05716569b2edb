// The entries of the engine's table for netCDF-4's storage: chunks, filters, fill values, caches.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <string>
#include <vector>

#include "files.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage.hpp"
#include "nc/fallback/by_netcdf.hpp"

namespace thalweg::netcdf::engine {

namespace {

void need_netcdf4(File& file) {
    if (!file.is_netcdf4()) throw Error{NC_ENOTNC4, file.path() + " is not a netCDF-4 file"};
}

Storage& storage_to_change(File& file, int varid) {
    need_netcdf4(file);
    return file.storage_to_change(varid);
}

void def_var_deflate(File& file, int varid, int shuffle, int deflate, int level) {
    Storage& s = storage_to_change(file, varid);
    const Variable& v = file.table().variable(varid);
    if (v.dims.empty()) return;  // a scalar has no filters
    // Zarr lacks shuffle, but the values are the same without it.
    s.shuffle = shuffle != 0 && !file.definitions.zarr ? 1 : 0;
    set_deflate(s, v, deflate != 0, level);
}

void def_var_fletcher32(File& file, int varid, int fletcher32) {
    Storage& s = storage_to_change(file, varid);
    const Variable& v = file.table().variable(varid);
    if (fletcher32 != 0 && !v.dims.empty())
        set_filter(s, v, fletcher_filter, {});
    else
        std::erase_if(s.others, [](const Filter& f) { return f.id == fletcher_filter; });
}

void def_var_chunking(File& file, int varid, int layout, const std::size_t* lengths) {
    Storage& s = storage_to_change(file, varid);
    const Variable& v = file.table().variable(varid);
    const bool compact = layout == NC_COMPACT && file.definitions.format == Format::netcdf4;
    std::vector<Index> all;
    for (std::size_t d = 0; lengths != nullptr && d < v.dims.size(); d++)
        all.push_back(static_cast<Index>(std::min<std::size_t>(lengths[d], NC_MAX_INT64)));
    if (v.dims.empty() && layout == NC_CHUNKED)
        throw Error{NC_EINVAL, v.name + ": a scalar has no chunks"};
    set_chunking(s, file.table(), v, compact ? NC_CONTIGUOUS : layout, all);
    if (compact) throw Leave{"a variable is compact"};
}

void def_var_endian(File& file, int varid, int endian) {
    set_endian(storage_to_change(file, varid), file.table().variable(varid), endian);
}

void def_var_filter(File& file, int varid, unsigned id, std::size_t n, const unsigned* values) {
    Storage& s = storage_to_change(file, varid);
    const Variable& v = file.table().variable(varid);
    if (!is_own_filter(id) && !has_filter(id))
        throw Error{NC_ENOFILTER, v.name + ": HDF5 has no filter " + std::to_string(id)};
    set_filter(
        s, v, id,
        values == nullptr ? std::vector<unsigned>{} : std::vector<unsigned>(values, values + n));
}

void def_var_quantize(File& file, int varid, int mode, int digits) {
    set_quantize(storage_to_change(file, varid), file.table().variable(varid), mode, digits);
}

void inq_var_quantize(File& file, int varid, int* mode, int* digits) {
    need_netcdf4(file);
    const Storage s = file.storage_of(varid);
    set(mode, s.quantize);
    set(digits, s.digits);
}

void def_var_fill(File& file, int varid, int no_fill, const void* value) {
    if (varid == NC_GLOBAL) throw Error{NC_EGLOBAL, "NC_GLOBAL has no fill value"};
    file.storage_to_change(varid).no_fill = no_fill != 0;
    const Variable& v = file.table().variable(varid);
    const bool replaces = file.is_netcdf4() && (value != nullptr || no_fill != 0);
    if (replaces && v.attributes.get(fill_attribute) != nullptr)
        file.definitions.del_att(varid, fill_attribute);
    if (value != nullptr && no_fill == 0)
        file.put_att(varid, fill_attribute, v.type, 1, value, v.type);
}

void inq_var_filter_ids(File& file, int varid, std::size_t* n, unsigned* ids) {
    std::vector<Filter> all;
    if (file.is_netcdf4()) all = filters_of(file.storage_of(varid));
    for (std::size_t i = 0; ids != nullptr && i < all.size(); i++) ids[i] = all[i].id;
    set(n, all.size());
}

void inq_var_filter_info(File& file, int varid, unsigned id, std::size_t* n, unsigned* values) {
    std::vector<Filter> all;
    if (file.is_netcdf4()) all = filters_of(file.storage_of(varid));
    for (const Filter& f : all) {
        if (f.id != id) continue;
        set(n, f.parameters.size());
        if (values != nullptr) std::copy(f.parameters.begin(), f.parameters.end(), values);
        return;
    }
    throw Error{NC_ENOFILTER, "there is no filter " + std::to_string(id)};
}

void inq_filter_avail(File& file, unsigned id) {
    need_netcdf4(file);
    if (!is_own_filter(id) && !has_filter(id))
        throw Error{NC_ENOFILTER, "HDF5 has no filter " + std::to_string(id)};
}

// Stores the program's settings of the chunk cache. The engine has no such cache.
void set_var_chunk_cache(File& file, int varid, std::size_t size, std::size_t n, float preemption) {
    need_netcdf4(file);
    if (!(preemption >= 0 && preemption <= 1))
        throw Error{NC_EINVAL, "there is no such chunk cache"};
    file.table().variable(varid).cache = {static_cast<Index>(size), static_cast<Index>(n),
                                          preemption};
}

void get_var_chunk_cache(File& file, int varid, std::size_t* size, std::size_t* n,
                         float* preemption) {
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
}

}  // namespace

void add_storage(Table& t) {
#define X(name) t.name = OnFile<&Table::name, name>::call
    X(def_var_deflate), X(def_var_fletcher32), X(def_var_chunking), X(def_var_endian),
        X(def_var_filter), X(def_var_quantize), X(inq_var_quantize), X(def_var_fill),
        X(inq_var_filter_ids), X(inq_var_filter_info), X(inq_filter_avail), X(set_var_chunk_cache),
        X(get_var_chunk_cache);
#undef X
    t.show_metadata = [](int) { return 0; };
}

}  // namespace thalweg::netcdf::engine
