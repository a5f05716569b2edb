// The functions of pio.h for files, dimensions and variables.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "library.hpp"
#include "types.hpp"

using namespace thalweg::pio;

// ---- files --------------------------------------------------------------------------------------

int PIOc_createfile(int iosysid, int* ncidp, int* iotype, const char* fname, int mode) {
    return on_system("PIOc_createfile", iosysid, [&](Iosystem& s) {
        need(ncidp, "ncidp");
        need(iotype, "iotype");
        need(fname, "fname");
        *ncidp = add_file(s.id, File::create(*s.session, s.writers, fname, *iotype, mode));
    });
}

int PIOc_create(int iosysid, const char* path, int cmode, int* ncidp) {
    int iotype = (cmode & NC_NETCDF4) != 0 ? PIO_IOTYPE_NETCDF4C : PIO_IOTYPE_NETCDF;
    return PIOc_createfile(iosysid, ncidp, &iotype, path, cmode);
}

int PIOc_openfile(int iosysid, int* ncidp, int* iotype, const char* fname, int mode) {
    return on_system("PIOc_openfile", iosysid, [&](Iosystem& s) {
        need(ncidp, "ncidp");
        need(fname, "fname");
        if (iotype != nullptr && PIOc_iotype_available(*iotype) == 0)
            throw Error{PIO_EBADIOTYPE,
                        std::string(fname) + ": there is no I/O type " + std::to_string(*iotype)};
        *ncidp = add_file(s.id, File::open(*s.session, s.writers, fname, mode));
    });
}

int PIOc_openfile2(int iosysid, int* ncidp, int* iotype, const char* fname, int mode) {
    return PIOc_openfile(iosysid, ncidp, iotype, fname, mode);
}

int PIOc_open(int iosysid, const char* path, int mode, int* ncidp) {
    return PIOc_openfile(iosysid, ncidp, nullptr, path, mode);
}

int PIOc_closefile(int ncid) {
    Iosystem* system = nullptr;
    std::unique_ptr<File> file;
    const int found = on_file("PIOc_closefile", ncid, [&](File&) {
        system = &iosystem(open_file(ncid).iosystem);
        file = remove_file(ncid);  // in any case
    });
    if (found != PIO_NOERR) return found;
    return attempt("PIOc_closefile", system, file->path(), [&] { file->close(); });
}

int PIOc_deletefile(int iosysid, const char* filename) {
    return on_system("PIOc_deletefile", iosysid, [&](Iosystem& s) {
        need(filename, "filename");
        s.session->check(tw_wait(s.session->handle(), 0));
        on_rank(s.session->comm(), s.writers.first, [&] {
            if (unlink(filename) != 0)
                throw Error{errno, std::string(filename) + ": " + std::strerror(errno)};
        });
    });
}

int PIOc_redef(int ncid) {
    return on_file("PIOc_redef", ncid, [](File& file) { file.redef(); });
}

int PIOc_enddef(int ncid) {
    return on_file("PIOc_enddef", ncid, [](File& file) { file.enddef(); });
}

int PIOc_sync(int ncid) {
    return on_file("PIOc_sync", ncid, [](File& file) { file.sync(); });
}

int PIOc_File_is_Open(int ncid) { return is_open(ncid) ? 1 : 0; }

int PIOc_inq(int ncid, int* ndimsp, int* nvarsp, int* ngattsp, int* unlimdimidp) {
    return on_file("PIOc_inq", ncid, [&](File& file) {
        if (ngattsp != nullptr) file.agree_attributes();
        const Table& table = file.table();
        set(ndimsp, static_cast<int>(table.dimensions.size()));
        set(nvarsp, static_cast<int>(table.variables.size()));
        set(ngattsp, static_cast<int>(table.attributes.size()));
        set(unlimdimidp, table.unlimited());
    });
}

int PIOc_inq_ndims(int ncid, int* p) { return PIOc_inq(ncid, p, nullptr, nullptr, nullptr); }
int PIOc_inq_nvars(int ncid, int* p) { return PIOc_inq(ncid, nullptr, p, nullptr, nullptr); }
int PIOc_inq_natts(int ncid, int* p) { return PIOc_inq(ncid, nullptr, nullptr, p, nullptr); }
int PIOc_inq_unlimdim(int ncid, int* p) { return PIOc_inq(ncid, nullptr, nullptr, nullptr, p); }

int PIOc_inq_format(int ncid, int* formatp) {
    return on_file("PIOc_inq_format", ncid, [&](File& file) { set(formatp, file.format()); });
}

int PIOc_inq_unlimdims(int ncid, int* nunlimdimsp, int* unlimdimidsp) {
    return on_file("PIOc_inq_unlimdims", ncid, [&](File& file) {
        int n = 0;
        const std::vector<Dimension>& all = file.table().dimensions;
        for (std::size_t d = 0; d < all.size(); d++)
            if (all[d].unlimited) {
                if (unlimdimidsp != nullptr) unlimdimidsp[n] = static_cast<int>(d);
                n++;
            }
        set(nunlimdimsp, n);
    });
}

int PIOc_inq_type(int ncid, nc_type xtype, char* name, PIO_Offset* sizep) {
    return on_file("PIOc_inq_type", ncid, [&](File&) {
        static const char* const names[] = {"byte",  "char",   "short", "int",   "float", "double",
                                            "ubyte", "ushort", "uint",  "int64", "uint64"};
        if (size_of(xtype) == 0)
            throw Error{NC_EBADTYPE, "there is no type " + std::to_string(xtype)};
        set(name, std::string(names[xtype - 1]));
        set(sizep, static_cast<Index>(size_of(xtype)));
    });
}

int PIOc_set_fill(int ncid, int fillmode, int* old_modep) {
    return on_file("PIOc_set_fill", ncid,
                   [&](File& file) { set(old_modep, file.set_fill(fillmode)); });
}

// ---- dimensions ---------------------------------------------------------------------------------

int PIOc_def_dim(int ncid, const char* name, PIO_Offset len, int* idp) {
    return on_file("PIOc_def_dim", ncid, [&](File& file) {
        need(name, "name");
        set(idp, file.def_dim(name, len));
    });
}

int PIOc_inq_dim(int ncid, int dimid, char* name, PIO_Offset* lenp) {
    return on_file("PIOc_inq_dim", ncid, [&](File& file) {
        set(name, file.table().dimension(dimid).name);
        set(lenp, file.table().length(dimid));
    });
}

int PIOc_inq_dimname(int ncid, int dimid, char* name) {
    return PIOc_inq_dim(ncid, dimid, name, nullptr);
}

int PIOc_inq_dimlen(int ncid, int dimid, PIO_Offset* lenp) {
    return PIOc_inq_dim(ncid, dimid, nullptr, lenp);
}

int PIOc_inq_dimid(int ncid, const char* name, int* idp) {
    return on_file("PIOc_inq_dimid", ncid, [&](File& file) {
        need(name, "name");
        const int id = file.table().find_dimension(name);
        if (id < 0) throw Error{NC_EBADDIM, std::string("there is no dimension ") + name};
        set(idp, id);
    });
}

int PIOc_rename_dim(int ncid, int dimid, const char* name) {
    return on_file("PIOc_rename_dim", ncid, [&](File& file) {
        need(name, "name");
        file.rename_dim(dimid, name);
    });
}

// ---- variables ----------------------------------------------------------------------------------

int PIOc_def_var(int ncid, const char* name, nc_type xtype, int ndims, const int* dimidsp,
                 int* varidp) {
    return on_file("PIOc_def_var", ncid, [&](File& file) {
        need(name, "name");
        if (ndims < 0 || ndims > NC_MAX_VAR_DIMS)
            throw Error{NC_EINVAL,
                        std::string(name) + ": has " + std::to_string(ndims) + " dimensions"};
        if (ndims > 0) need(dimidsp, "dimids");
        set(varidp, file.def_var(name, xtype, std::vector<int>(dimidsp, dimidsp + ndims)));
    });
}

int PIOc_inq_varid(int ncid, const char* name, int* varidp) {
    return on_file("PIOc_inq_varid", ncid, [&](File& file) {
        need(name, "name");
        const int id = file.table().find_variable(name);
        if (id < 0) throw Error{NC_ENOTVAR, std::string("there is no variable ") + name};
        set(varidp, id);
    });
}

int PIOc_inq_var(int ncid, int varid, char* name, nc_type* xtypep, int* ndimsp, int* dimidsp,
                 int* nattsp) {
    return on_file("PIOc_inq_var", ncid, [&](File& file) {
        if (nattsp != nullptr) file.agree_attributes();
        // The number of global attributes is all that there is of PIO_GLOBAL.
        if (varid == NC_GLOBAL && name == nullptr && xtypep == nullptr && ndimsp == nullptr &&
            dimidsp == nullptr) {
            set(nattsp, static_cast<int>(file.table().attributes.size()));
            return;
        }
        const Variable& v = file.table().variable(varid);
        set(name, v.name);
        set(xtypep, v.type);
        set(ndimsp, static_cast<int>(v.dims.size()));
        if (dimidsp != nullptr) std::copy(v.dims.begin(), v.dims.end(), dimidsp);
        set(nattsp, static_cast<int>(v.attributes.size()));
    });
}

int PIOc_inq_varname(int ncid, int varid, char* name) {
    return PIOc_inq_var(ncid, varid, name, nullptr, nullptr, nullptr, nullptr);
}

int PIOc_inq_vartype(int ncid, int varid, nc_type* xtypep) {
    return PIOc_inq_var(ncid, varid, nullptr, xtypep, nullptr, nullptr, nullptr);
}

int PIOc_inq_varndims(int ncid, int varid, int* ndimsp) {
    return PIOc_inq_var(ncid, varid, nullptr, nullptr, ndimsp, nullptr, nullptr);
}

int PIOc_inq_vardimid(int ncid, int varid, int* dimidsp) {
    return PIOc_inq_var(ncid, varid, nullptr, nullptr, nullptr, dimidsp, nullptr);
}

int PIOc_inq_varnatts(int ncid, int varid, int* nattsp) {
    return PIOc_inq_var(ncid, varid, nullptr, nullptr, nullptr, nullptr, nattsp);
}

int PIOc_rename_var(int ncid, int varid, const char* name) {
    return on_file("PIOc_rename_var", ncid, [&](File& file) {
        need(name, "name");
        file.rename_var(varid, name);
    });
}

int PIOc_def_var_fill(int ncid, int varid, int no_fill, const void* fill_value) {
    return on_file("PIOc_def_var_fill", ncid, [&](File& file) {
        if (varid == NC_GLOBAL) throw Error{NC_EGLOBAL, "PIO_GLOBAL has no fill value"};
        file.storage(varid).no_fill = no_fill != 0;
        const Variable& v = file.table().variable(varid);
        if (fill_value == nullptr || no_fill != 0) return;
        file.put_att(varid, {fill_attribute, v.type, 1,
                             std::string(static_cast<const char*>(fill_value), size_of(v.type))});
    });
}

int PIOc_inq_var_fill(int ncid, int varid, int* no_fill, void* fill_valuep) {
    return on_file("PIOc_inq_var_fill", ncid, [&](File& file) {
        file.agree_attributes();
        const Variable& v = file.table().variable(varid);
        set(no_fill, v.storage.no_fill ? 1 : 0);
        if (fill_valuep == nullptr) return;
        const std::string fill = Table::fill_of(v);
        std::memcpy(fill_valuep, fill.data(), fill.size());
    });
}

// ---- storage in netCDF-4 ------------------------------------------------------------------------

namespace {

template <class Action>
int define_storage(const char* call, int ncid, int varid, Action action) {
    return on_file(call, ncid, [&](File& file) {
        if (!file.is_netcdf4()) throw Error{NC_ENOTNC4, file.path() + " is not a netCDF-4 file"};
        action(file.storage(varid), file.table().variable(varid), file);
    });
}

template <class Action>
int inquire_storage(const char* call, int ncid, int varid, Action action) {
    return on_file(call, ncid, [&](File& file) {
        const Storage storage = file.inquire_storage(varid);
        action(storage, file.table().variable(varid), file);
    });
}

int not_built(const char* call, int ncid, const char* what) {
    return on_file(call, ncid, [&](File& file) {
        throw Error{NC_ENOTBUILT, file.path() + ": " + what + " is not supported"};
    });
}

}  // namespace

int PIOc_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int level) {
    return define_storage(
        "PIOc_def_var_deflate", ncid, varid, [&](Storage& s, const Variable& v, const File&) {
            if (deflate != 0 && (level < 0 || level > 9))
                throw Error{NC_EINVAL,
                            v.name + ": there is no deflate level " + std::to_string(level)};
            s.filters_set = true;
            s.shuffle = shuffle != 0 ? 1 : 0;
            s.deflate = deflate != 0 && level > 0 ? 1 : 0;  // level 0 compresses nothing
            s.level = s.deflate != 0 ? level : 0;
            if (s.filtered() && s.layout == NC_CONTIGUOUS) s.layout = -1;
        });
}

int PIOc_inq_var_deflate(int ncid, int varid, int* shufflep, int* deflatep, int* levelp) {
    return inquire_storage("PIOc_inq_var_deflate", ncid, varid,
                           [&](const Storage& s, const Variable&, const File& file) {
                               if (!file.is_netcdf4())
                                   throw Error{NC_ENOTNC4, file.path() + " is not a netCDF-4 file"};
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
            double bytes = static_cast<double>(size_of(v.type));
            for (std::size_t d = 0;
                 storage == NC_CHUNKED && chunksizesp != nullptr && d < v.dims.size(); d++) {
                const Dimension& dim = file.table().dimension(v.dims[d]);
                if (chunksizesp[d] < 1 || (!dim.unlimited && chunksizesp[d] > dim.length))
                    throw Error{NC_EBADCHUNK, v.name + ": a chunk of " +
                                                  std::to_string(chunksizesp[d]) + " along " +
                                                  dim.name};
                bytes *= static_cast<double>(chunksizesp[d]);
                chunks.push_back(static_cast<std::size_t>(chunksizesp[d]));
            }
            if (bytes > 4294967295.0)
                throw Error{NC_EBADCHUNK, v.name + ": a chunk is less than 4 GiB"};
            s.layout = storage;
            s.chunks = std::move(chunks);
        });
}

int PIOc_inq_var_chunking(int ncid, int varid, int* storagep, PIO_Offset* chunksizesp) {
    return inquire_storage("PIOc_inq_var_chunking", ncid, varid,
                           [&](const Storage& s, const Variable& v, const File&) {
                               const bool chunked = s.layout == NC_CHUNKED;
                               set(storagep, s.layout);
                               for (std::size_t d = 0;
                                    chunked && chunksizesp != nullptr && d < v.dims.size(); d++)
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
                           [&](const Storage& s, const Variable&, const File& file) {
                               if (!file.is_netcdf4())
                                   throw Error{NC_ENOTNC4, file.path() + " is not a netCDF-4 file"};
                               set(endianp, s.endian);
                           });
}

int PIOc_set_var_chunk_cache(int ncid, int varid, PIO_Offset, PIO_Offset, float) {
    return on_file("PIOc_set_var_chunk_cache", ncid, [&](File& file) {
        file.table().variable(varid);
        if (!file.is_netcdf4()) throw Error{NC_ENOTNC4, file.path() + " is not a netCDF-4 file"};
        tell_once("chunk caches");
    });
}

int PIOc_get_var_chunk_cache(int ncid, int varid, PIO_Offset* sizep, PIO_Offset* nelemsp,
                             float* preemptionp) {
    return on_file("PIOc_get_var_chunk_cache", ncid, [&](File& file) {
        file.table().variable(varid);
        if (!file.is_netcdf4()) throw Error{NC_ENOTNC4, file.path() + " is not a netCDF-4 file"};
        std::size_t size = 0, n = 0;
        float preemption = 0;
        nc_get_chunk_cache(&size, &n, &preemption);
        set(sizep, static_cast<Index>(size));
        set(nelemsp, static_cast<Index>(n));
        if (preemptionp != nullptr) *preemptionp = preemption;
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
            if (s.filtered() && s.layout == NC_CONTIGUOUS) s.layout = -1;
        });
}

int PIOc_inq_var_quantize(int ncid, int varid, int* quantize_mode, int* nsdp) {
    return inquire_storage("PIOc_inq_var_quantize", ncid, varid,
                           [&](const Storage& s, const Variable&, const File&) {
                               set(quantize_mode, s.quantize);
                               set(nsdp, s.digits);
                           });
}

int PIOc_def_var_zstandard(int ncid, int varid, int level) {
    return define_storage(
        "PIOc_def_var_zstandard", ncid, varid, [&](Storage& s, const Variable& v, const File&) {
            if (level < -100 || level > 22)
                throw Error{NC_EINVAL,
                            v.name + ": there is no zstd level " + std::to_string(level)};
            s.filters_set = true;
            s.zstandard = true;
            s.zstandard_level = level;
            if (s.layout == NC_CONTIGUOUS) s.layout = -1;
        });
}

int PIOc_inq_var_zstandard(int ncid, int varid, int* hasfilterp, int* levelp) {
    return inquire_storage("PIOc_inq_var_zstandard", ncid, varid,
                           [&](const Storage& s, const Variable&, const File&) {
                               set(hasfilterp, s.zstandard ? 1 : 0);
                               set(levelp, s.zstandard_level);
                           });
}

int PIOc_def_var_bzip2(int ncid, int, int) {
    return not_built("PIOc_def_var_bzip2", ncid, "bzip2");
}

int PIOc_inq_var_bzip2(int ncid, int, int*, int*) {
    return not_built("PIOc_inq_var_bzip2", ncid, "bzip2");
}

int PIOc_def_var_szip(int ncid, int, int, int) {
    return not_built("PIOc_def_var_szip", ncid, "szip");
}

int PIOc_inq_var_szip(int ncid, int, int*, int*) {
    return not_built("PIOc_inq_var_szip", ncid, "szip");
}

int PIOc_inq_var_filter_ids(int ncid, int varid, size_t* nfiltersp, unsigned int* filterids) {
    return inquire_storage("PIOc_inq_var_filter_ids", ncid, varid,
                           [&](const Storage& s, const Variable&, const File&) {
                               std::vector<unsigned> ids;  // their numbers at the HDF group
                               if (s.shuffle != 0) ids.push_back(2);
                               if (s.deflate != 0) ids.push_back(1);
                               if (s.zstandard) ids.push_back(32015);
                               if (nfiltersp != nullptr) *nfiltersp = ids.size();
                               if (filterids != nullptr)
                                   std::copy(ids.begin(), ids.end(), filterids);
                           });
}

int PIOc_inq_var_filter_info(int ncid, int varid, unsigned int id, size_t* nparamsp,
                             unsigned int* params) {
    return inquire_storage(
        "PIOc_inq_var_filter_info", ncid, varid,
        [&](const Storage& s, const Variable& v, const File&) {
            const bool has = (id == 1 && s.deflate != 0) || (id == 32015 && s.zstandard);
            if (!has) throw Error{NC_ENOFILTER, v.name + " has no filter " + std::to_string(id)};
            if (nparamsp != nullptr) *nparamsp = 1;
            if (params != nullptr)
                *params = static_cast<unsigned>(id == 1 ? s.level : s.zstandard_level);
        });
}

int PIOc_inq_filter_avail(int ncid, unsigned int id) {
    return on_file("PIOc_inq_filter_avail", ncid, [&](File&) {
        if (id != 1 && id != 2 && id != 3)
            throw Error{NC_ENOFILTER, "there is no filter " + std::to_string(id)};
    });
}
