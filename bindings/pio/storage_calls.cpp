// The functions of pio.h for the storage of variables in netCDF-4 files: chunks, filters, caches.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "library.hpp"
#include "storage.hpp"
#include "types.hpp"

using namespace thalweg::pio;

namespace {

void need_netcdf4(const File& file) {
    if (!file.is_netcdf4()) throw Error{NC_ENOTNC4, file.path() + " is not a netCDF-4 file"};
}

template <class Action>
int define_storage(const char* call, int ncid, int varid, Action action) {
    return on_file(call, ncid, [&](File& file) {
        need_netcdf4(file);
        action(file.storage(varid), file.table().variable(varid), file);
    });
}

template <class Action>
int inquire_storage(const char* call, int ncid, int varid, Action action) {
    return on_file(call, ncid, [&](File& file) {
        need_netcdf4(file);
        const Storage storage = file.inquire_storage(varid);
        action(storage, file.table().variable(varid));
    });
}

constexpr unsigned deflate_filter = 1, shuffle_filter = 2, szip_filter = 4, bzip2_filter = 307,
                   zstd_filter = 32015;  // numbers at the HDF group

void set_deflate(Storage& s, const Variable& v, bool deflate, int level) {
    if (deflate && (level < 0 || level > 9))
        throw Error{NC_EINVAL, v.name + ": there is no deflate level " + std::to_string(level)};
    s.filters_set = true;
    s.deflate = deflate && level > 0 ? 1 : 0;  // level 0 compresses nothing
    s.level = s.deflate != 0 ? level : 0;
}

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

// Throws NC_ENOFILTER on all ranks, if the root's HDF5 cannot write with the filter.
// @note Collective
void need_filter(File& file, const std::string& user, unsigned id) {
    on_rank(file.comm(), file.root(), [&] {
        if (!has_filter(id))
            throw Error{NC_ENOFILTER, user + ": HDF5 has no filter " + std::to_string(id) +
                                          " to write with; it finds plugins by HDF5_PLUGIN_PATH"};
    });
}

int define_filter(const char* call, int ncid, int varid, unsigned id,
                  std::vector<unsigned> parameters) {
    return define_storage(call, ncid, varid, [&](Storage& s, const Variable& v, File& file) {
        const std::size_t wanted = id == shuffle_filter ? 0 : 1;
        const bool own = id == deflate_filter || id == shuffle_filter || id == zstd_filter;
        if (own && parameters.size() != wanted)
            throw Error{NC_EFILTER, v.name + ": filter " + std::to_string(id) + " takes " +
                                        std::to_string(wanted) + " parameters"};
        if (id == deflate_filter)
            set_deflate(s, v, true, static_cast<int>(parameters[0]));
        else if (id == zstd_filter)
            set_zstandard(s, v, static_cast<int>(parameters[0]));
        else if (id == shuffle_filter)
            s.filters_set = true, s.shuffle = 1;
        else {
            need_filter(file, v.name, id);
            std::erase_if(s.others, [&](const Filter& f) { return f.id == id; });
            s.others.push_back({id, std::move(parameters)});
        }
        chunk_if_filtered(s);
    });
}

// Calls visit(number, parameters) for the filters of a variable.
template <class Visit>
void for_filters(const Storage& s, Visit visit) {
    const auto parameter = [](int level) {
        return std::vector<unsigned>{static_cast<unsigned>(level)};
    };
    if (s.shuffle != 0) visit(shuffle_filter, std::vector<unsigned>{});
    if (s.deflate != 0) visit(deflate_filter, parameter(s.level));
    if (s.zstandard) visit(zstd_filter, parameter(s.zstandard_level));
    for (const Filter& f : s.others) visit(f.id, f.parameters);
}

// Returns the parameters of a filter for which netCDF has a function; missing ones are 0.
int inquire_filter(const char* call, int ncid, int varid, unsigned id, int* hasp,
                   std::initializer_list<int*> parameters) {
    return inquire_storage(call, ncid, varid, [&](const Storage& s, const Variable&) {
        std::vector<unsigned> found;
        bool has = false;
        for_filters(s, [&](unsigned other, const std::vector<unsigned>& its) {
            if (other == id) has = true, found = its;
        });
        found.resize(std::max(found.size(), parameters.size()), 0);
        set(hasp, has ? 1 : 0);
        std::size_t i = 0;
        for (int* const p : parameters) set(p, static_cast<int>(found[i++]));
    });
}

}  // namespace

int PIOc_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int level) {
    return define_storage("PIOc_def_var_deflate", ncid, varid,
                          [&](Storage& s, const Variable& v, const File&) {
                              set_deflate(s, v, deflate != 0, level);
                              s.shuffle = shuffle != 0 ? 1 : 0;
                              chunk_if_filtered(s);
                          });
}

int PIOc_inq_var_deflate(int ncid, int varid, int* shufflep, int* deflatep, int* levelp) {
    return inquire_storage("PIOc_inq_var_deflate", ncid, varid,
                           [&](const Storage& s, const Variable&) {
                               set(shufflep, s.shuffle);
                               set(deflatep, s.deflate);
                               set(levelp, s.level);
                           });
}

int PIOc_def_var_chunking(int ncid, int varid, int storage, const PIO_Offset* chunksizesp) {
    return define_storage(
        "PIOc_def_var_chunking", ncid, varid, [&](Storage& s, const Variable& v, File& file) {
            if (storage != NC_CHUNKED && storage != NC_CONTIGUOUS)
                throw Error{NC_EINVAL, v.name + ": there is no storage " + std::to_string(storage)};
            if (storage == NC_CONTIGUOUS) {
                if (file.table().is_record(v))
                    throw Error{NC_EINVAL, v.name + ": a record variable is not contiguous"};
                if (s.filtered())
                    throw Error{NC_EINVAL, v.name + ": a filtered variable is not contiguous"};
            }
            std::vector<std::size_t> chunks;
            bool chosen = false;  // a length of 0 leaves the choice to the library
            for (std::size_t d = 0;
                 storage == NC_CHUNKED && chunksizesp != nullptr && d < v.dims.size(); d++) {
                const Dimension& dim = file.table().dimension(v.dims[d]);
                const PIO_Offset length = chunksizesp[d];
                if (length < 0 || (!dim.unlimited && length > std::max<Index>(dim.length, 1)))
                    throw Error{
                        length < 0 ? NC_ERANGE : NC_EBADCHUNK,
                        v.name + ": a chunk of " + std::to_string(length) + " along " + dim.name};
                chunks.push_back(static_cast<std::size_t>(length));
                chosen |= length > 0;
            }
            if (chosen)
                chunks = complete_chunks(file.table(), v, chunks);
            else
                chunks.clear();
            double bytes = static_cast<double>(size_of(v.type));
            for (const std::size_t length : chunks) bytes *= static_cast<double>(length);
            if (bytes > 4294967295.0)
                throw Error{NC_EBADCHUNK, v.name + ": a chunk is less than 4 GiB"};
            s.layout = storage;
            s.chunks = std::move(chunks);
        });
}

int PIOc_inq_var_chunking(int ncid, int varid, int* storagep, PIO_Offset* chunksizesp) {
    return inquire_storage(
        "PIOc_inq_var_chunking", ncid, varid, [&](const Storage& s, const Variable& v) {
            const bool chunked = s.layout == NC_CHUNKED;
            set(storagep, s.layout);
            for (std::size_t d = 0; chunked && chunksizesp != nullptr && d < v.dims.size(); d++)
                chunksizesp[d] = static_cast<PIO_Offset>(s.chunks[d]);
        });
}

int PIOc_def_var_endian(int ncid, int varid, int endian) {
    return define_storage(
        "PIOc_def_var_endian", ncid, varid, [&](Storage& s, const Variable& v, const File&) {
            if (endian < NC_ENDIAN_NATIVE || endian > NC_ENDIAN_BIG)
                throw Error{NC_EINVAL,
                            v.name + ": there is no byte order " + std::to_string(endian)};
            s.endian = endian;
        });
}

int PIOc_inq_var_endian(int ncid, int varid, int* endianp) {
    return inquire_storage("PIOc_inq_var_endian", ncid, varid,
                           [&](const Storage& s, const Variable&) { set(endianp, s.endian); });
}

int PIOc_set_var_chunk_cache(int ncid, int varid, PIO_Offset size, PIO_Offset nelems,
                             float preemption) {
    return on_file("PIOc_set_var_chunk_cache", ncid, [&](File& file) {
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
    return on_file("PIOc_get_var_chunk_cache", ncid, [&](File& file) {
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
    return define_storage(
        "PIOc_def_var_quantize", ncid, varid, [&](Storage& s, const Variable& v, const File&) {
            const bool bits = quantize_mode == 3, twice = v.type == NC_DOUBLE;
            const int most = bits ? (twice ? 52 : 23) : (twice ? 15 : 7);
            if (quantize_mode < 0 || quantize_mode > 3 ||
                (v.type != NC_FLOAT && v.type != NC_DOUBLE) ||
                (quantize_mode != 0 && (nsd < 1 || nsd > most)))
                throw Error{NC_EINVAL, v.name + ": cannot be quantized in this way"};
            s.quantize = quantize_mode;
            s.digits = quantize_mode != 0 ? nsd : 0;
            chunk_if_filtered(s);
        });
}

int PIOc_inq_var_quantize(int ncid, int varid, int* quantize_mode, int* nsdp) {
    return inquire_storage("PIOc_inq_var_quantize", ncid, varid,
                           [&](const Storage& s, const Variable&) {
                               set(quantize_mode, s.quantize);
                               set(nsdp, s.digits);
                           });
}

int PIOc_def_var_zstandard(int ncid, int varid, int level) {
    return define_filter("PIOc_def_var_zstandard", ncid, varid, zstd_filter,
                         {static_cast<unsigned>(level)});
}

int PIOc_inq_var_zstandard(int ncid, int varid, int* hasfilterp, int* levelp) {
    return inquire_filter("PIOc_inq_var_zstandard", ncid, varid, zstd_filter, hasfilterp, {levelp});
}

int PIOc_def_var_bzip2(int ncid, int varid, int level) {
    return define_filter("PIOc_def_var_bzip2", ncid, varid, bzip2_filter,
                         {static_cast<unsigned>(level)});
}

int PIOc_inq_var_bzip2(int ncid, int varid, int* hasfilterp, int* levelp) {
    return inquire_filter("PIOc_inq_var_bzip2", ncid, varid, bzip2_filter, hasfilterp, {levelp});
}

int PIOc_def_var_szip(int ncid, int varid, int options_mask, int pixels_per_block) {
    return define_filter(
        "PIOc_def_var_szip", ncid, varid, szip_filter,
        {static_cast<unsigned>(options_mask), static_cast<unsigned>(pixels_per_block)});
}

int PIOc_inq_var_szip(int ncid, int varid, int* options_maskp, int* pixels_per_blockp) {
    return inquire_filter("PIOc_inq_var_szip", ncid, varid, szip_filter, nullptr,
                          {options_maskp, pixels_per_blockp});
}

int PIOc_def_var_filter(int ncid, int varid, unsigned int id, size_t nparams,
                        const unsigned int* params) {
    std::vector<unsigned> parameters;
    if (params != nullptr) parameters.assign(params, params + nparams);
    return define_filter("PIOc_def_var_filter", ncid, varid, id, std::move(parameters));
}

int PIOc_inq_var_filter_ids(int ncid, int varid, size_t* nfiltersp, unsigned int* filterids) {
    return inquire_storage("PIOc_inq_var_filter_ids", ncid, varid,
                           [&](const Storage& s, const Variable&) {
                               std::size_t n = 0;
                               for_filters(s, [&](unsigned id, const auto&) {
                                   if (filterids != nullptr) filterids[n] = id;
                                   n++;
                               });
                               if (nfiltersp != nullptr) *nfiltersp = n;
                           });
}

int PIOc_inq_var_filter_info(int ncid, int varid, unsigned int id, size_t* nparamsp,
                             unsigned int* params) {
    return inquire_storage(
        "PIOc_inq_var_filter_info", ncid, varid, [&](const Storage& s, const Variable& v) {
            bool has = false;
            for_filters(s, [&](unsigned other, const std::vector<unsigned>& its) {
                if (other != id) return;
                has = true;
                if (nparamsp != nullptr) *nparamsp = its.size();
                if (params != nullptr) std::copy(its.begin(), its.end(), params);
            });
            if (!has) throw Error{NC_ENOFILTER, v.name + " has no filter " + std::to_string(id)};
        });
}

int PIOc_inq_filter_avail(int ncid, unsigned int id) {
    return on_file("PIOc_inq_filter_avail", ncid, [&](File& file) {
        if (id != zstd_filter) need_filter(file, file.path(), id);
    });
}
