// The functions of pio.h for the storage of variables in netCDF-4 files: chunks, filters, caches.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "library.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage.hpp"

using namespace thalweg::pio;

namespace {

void need_netcdf4(const File& file) {
    if (!file.definitions.is_netcdf4())
        throw Error{NC_ENOTNC4, file.path() + " is not a netCDF-4 file"};
}

template <class Action>
int define_storage(const char* call, int ncid, int varid, Action action) {
    return on_file(call, ncid, [&](File& file) {
        need_netcdf4(file);
        Storage& storage = file.definitions.storage(varid);
        Storage before = storage;
        action(storage, file.table().variable(varid), file);
        if (!file.definitions.zarr) return;
        storage.shuffle = 0;  // Zarr lacks it; the values are the same
        const std::string why = beyond_library(file.table());
        if (why.empty()) return;
        storage = std::move(before);
        throw Error{NC_EINVAL, file.path() + ": format zarr lacks this: " + why};
    });
}

template <class Action>
int inquire_storage(const char* call, int ncid, int varid, Action action) {
    return on_file(call, ncid, [&](File& file) {
        need_netcdf4(file);
        const Storage storage = thalweg::nc::inquire_storage(file.definitions, file.state, varid);
        action(storage, file.table().variable(varid));
    });
}

// Throws NC_ENOFILTER on all ranks if HDF5 on the root cannot apply a filter when it writes.
// @note Collective
void need_filter(File& file, const std::string& user, unsigned id) {
    on_rank(file.comm(), file.state.root, [&] {
        if (!has_filter(id))
            throw Error{NC_ENOFILTER, user + ": HDF5 has no filter " + std::to_string(id) +
                                          " to write with; it finds plugins by HDF5_PLUGIN_PATH"};
    });
}

int define_filter(const char* call, int ncid, int varid, unsigned id,
                  std::vector<unsigned> parameters) {
    return define_storage(call, ncid, varid, [&](Storage& s, const Variable& v, File& file) {
        if (!is_own_filter(id)) need_filter(file, v.name, id);
        set_filter(s, v, id, std::move(parameters));
    });
}

// Returns the parameters of a filter for which netCDF has its own function. Missing parameters
// become 0.
int inquire_filter(const char* call, int ncid, int varid, unsigned id, int* hasp,
                   std::initializer_list<int*> parameters) {
    return inquire_storage(call, ncid, varid, [&](const Storage& s, const Variable&) {
        std::vector<unsigned> found;
        bool has = false;
        for (const Filter& f : filters_of(s))
            if (f.id == id) has = true, found = f.parameters;
        found.resize(std::max(found.size(), parameters.size()), 0);
        set(hasp, has ? 1 : 0);
        std::size_t i = 0;
        for (int* const p : parameters) set(p, static_cast<int>(found[i++]));
    });
}

}  // namespace

int PIOc_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int level) {
    return define_storage(__func__, ncid, varid, [&](Storage& s, const Variable& v, const File&) {
        s.shuffle = shuffle != 0 ? 1 : 0;
        set_deflate(s, v, deflate != 0, level);
    });
}

int PIOc_inq_var_deflate(int ncid, int varid, int* shufflep, int* deflatep, int* levelp) {
    return inquire_storage(__func__, ncid, varid, [&](const Storage& s, const Variable&) {
        set(shufflep, s.shuffle);
        set(deflatep, s.deflate);
        set(levelp, s.level);
    });
}

int PIOc_def_var_chunking(int ncid, int varid, int storage, const PIO_Offset* chunksizesp) {
    return define_storage(__func__, ncid, varid, [&](Storage& s, const Variable& v, File& file) {
        std::vector<Index> lengths;
        if (chunksizesp != nullptr) lengths.assign(chunksizesp, chunksizesp + v.dims.size());
        set_chunking(s, file.table(), v, storage, lengths);
    });
}

int PIOc_inq_var_chunking(int ncid, int varid, int* storagep, PIO_Offset* chunksizesp) {
    return inquire_storage(__func__, ncid, varid, [&](const Storage& s, const Variable& v) {
        const bool chunked = s.layout == NC_CHUNKED;
        set(storagep, s.layout);
        for (std::size_t d = 0; chunked && chunksizesp != nullptr && d < v.dims.size(); d++)
            chunksizesp[d] = static_cast<PIO_Offset>(s.chunks[d]);
    });
}

int PIOc_def_var_endian(int ncid, int varid, int endian) {
    return define_storage(__func__, ncid, varid, [&](Storage& s, const Variable& v, const File&) {
        set_endian(s, v, endian);
    });
}

int PIOc_inq_var_endian(int ncid, int varid, int* endianp) {
    return inquire_storage(__func__, ncid, varid,
                           [&](const Storage& s, const Variable&) { set(endianp, s.endian); });
}

int PIOc_set_var_chunk_cache(int ncid, int varid, PIO_Offset size, PIO_Offset nelems,
                             float preemption) {
    return on_file(__func__, ncid, [&](File& file) {
        Variable& v = file.table().variable(varid);
        need_netcdf4(file);
        if (size < 0 || nelems < 0 || !(preemption >= 0 && preemption <= 1))
            throw Error{NC_EINVAL, v.name + ": there is no such chunk cache"};
        v.cache = {size, nelems, preemption};
        tell_once("chunk caches");
    });
}

int PIOc_get_var_chunk_cache(int ncid, int varid, PIO_Offset* sizep, PIO_Offset* nelemsp,
                             float* preemptionp) {
    return on_file(__func__, ncid, [&](File& file) {
        const Variable& v = file.table().variable(varid);
        need_netcdf4(file);
        std::size_t size = 0, elements = 0;
        float preemption = 0;
        nc_get_chunk_cache(&size, &elements, &preemption);
        const ChunkCache usual{static_cast<Index>(size), static_cast<Index>(elements), preemption};
        const ChunkCache cache = v.cache.value_or(usual);
        set(sizep, cache.size);
        set(nelemsp, cache.elements);
        if (preemptionp != nullptr) *preemptionp = cache.preemption;
    });
}

int PIOc_def_var_quantize(int ncid, int varid, int quantize_mode, int nsd) {
    return define_storage(__func__, ncid, varid, [&](Storage& s, const Variable& v, const File&) {
        set_quantize(s, v, quantize_mode, nsd);
    });
}

int PIOc_inq_var_quantize(int ncid, int varid, int* quantize_mode, int* nsdp) {
    return inquire_storage(__func__, ncid, varid, [&](const Storage& s, const Variable&) {
        set(quantize_mode, s.quantize);
        set(nsdp, s.digits);
    });
}

int PIOc_def_var_zstandard(int ncid, int varid, int level) {
    return define_filter(__func__, ncid, varid, zstd_filter, {static_cast<unsigned>(level)});
}

int PIOc_inq_var_zstandard(int ncid, int varid, int* hasfilterp, int* levelp) {
    return inquire_filter(__func__, ncid, varid, zstd_filter, hasfilterp, {levelp});
}

int PIOc_def_var_bzip2(int ncid, int varid, int level) {
    return define_filter(__func__, ncid, varid, bzip2_filter, {static_cast<unsigned>(level)});
}

int PIOc_inq_var_bzip2(int ncid, int varid, int* hasfilterp, int* levelp) {
    return inquire_filter(__func__, ncid, varid, bzip2_filter, hasfilterp, {levelp});
}

int PIOc_def_var_szip(int ncid, int varid, int options_mask, int pixels_per_block) {
    return define_filter(
        __func__, ncid, varid, szip_filter,
        {static_cast<unsigned>(options_mask), static_cast<unsigned>(pixels_per_block)});
}

int PIOc_inq_var_szip(int ncid, int varid, int* options_maskp, int* pixels_per_blockp) {
    return inquire_filter(__func__, ncid, varid, szip_filter, nullptr,
                          {options_maskp, pixels_per_blockp});
}

int PIOc_def_var_filter(int ncid, int varid, unsigned int id, size_t nparams,
                        const unsigned int* params) {
    std::vector<unsigned> parameters;
    if (params != nullptr) parameters.assign(params, params + nparams);
    return define_filter(__func__, ncid, varid, id, std::move(parameters));
}

int PIOc_inq_var_filter_ids(int ncid, int varid, size_t* nfiltersp, unsigned int* filterids) {
    return inquire_storage(__func__, ncid, varid, [&](const Storage& s, const Variable&) {
        const std::vector<Filter> all = filters_of(s);
        for (std::size_t i = 0; i < all.size(); i++)
            if (filterids != nullptr) filterids[i] = all[i].id;
        if (nfiltersp != nullptr) *nfiltersp = all.size();
    });
}

int PIOc_inq_var_filter_info(int ncid, int varid, unsigned int id, size_t* nparamsp,
                             unsigned int* params) {
    return inquire_storage(__func__, ncid, varid, [&](const Storage& s, const Variable& v) {
        bool has = false;
        for (const Filter& f : filters_of(s)) {
            if (f.id != id) continue;
            has = true;
            if (nparamsp != nullptr) *nparamsp = f.parameters.size();
            if (params != nullptr) std::copy(f.parameters.begin(), f.parameters.end(), params);
        }
        if (!has) throw Error{NC_ENOFILTER, v.name + " has no filter " + std::to_string(id)};
    });
}

int PIOc_inq_filter_avail(int ncid, unsigned int id) {
    return on_file(__func__, ncid, [&](File& file) {
        if (id != zstd_filter) need_filter(file, file.path(), id);
    });
}
