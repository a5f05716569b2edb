// The functions of pio.h for files, dimensions and variables.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "library.hpp"
#include "nc/base/types.hpp"

using namespace thalweg::pio;

// ---- files --------------------------------------------------------------------------------------

int PIOc_createfile(int iosysid, int* ncidp, int* iotype, const char* fname, int mode) {
    return on_system(__func__, iosysid, [&](Iosystem& s) {
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
    return on_system(__func__, iosysid, [&](Iosystem& s) {
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
    const int found = on_file_of_all(__func__, ncid, [&](File&) {
        system = &iosystem(open_file(ncid).iosystem);
        file = remove_file(ncid);  // remove the file from the list even if a later step fails
    });
    if (found != PIO_NOERR) return found;
    return attempt(__func__, system, file->path(), [&] {
        file->state.close();
        system->repeats = true;
    });
}

int PIOc_deletefile(int iosysid, const char* filename) {
    return on_system(__func__, iosysid, [&](Iosystem& s) {
        need(filename, "filename");
        s.session->check(tw_wait(s.session->handle(), 0));
        on_rank(s.session->comm(), s.writers.first, [&] {
            // A Zarr store is a folder.
            std::error_code error;
            if (access((std::string(filename) + "/zarr.json").c_str(), F_OK) == 0)
                std::filesystem::remove_all(filename, error);
            else if (unlink(filename) != 0)
                error.assign(errno, std::generic_category());
            if (error) throw Error{error.value(), filename + (": " + error.message())};
        });
    });
}

int PIOc_redef(int ncid) {
    return on_file(__func__, ncid, [](File& file) {
        file.arrays.forget_names();
        file.definitions.begin();
    });
}

int PIOc_enddef(int ncid) {
    return on_file_of_all(__func__, ncid, [](File& file) { file.state.enddef(); });
}

int PIOc_sync(int ncid) {
    return on_file_of_all(__func__, ncid, [](File& file) { file.state.sync(); });
}

int PIOc_flush(int ncid) {
    return on_file(__func__, ncid, [](File& file) { file.state.flush(); });
}

int PIOc_File_is_Open(int ncid) { return is_open(ncid) ? 1 : 0; }

int PIOc_inq(int ncid, int* ndimsp, int* nvarsp, int* ngattsp, int* unlimdimidp) {
    return on_file(__func__, ncid, [&](File& file) {
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
    return on_file(__func__, ncid,
                   [&](File& file) { set(formatp, number_of(file.definitions.format)); });
}

int PIOc_inq_unlimdims(int ncid, int* nunlimdimsp, int* unlimdimidsp) {
    return on_file(__func__, ncid, [&](File& file) {
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
    return on_file(__func__, ncid, [&](File&) {
        static const char* const names[] = {"byte",  "char",   "short", "int",   "float", "double",
                                            "ubyte", "ushort", "uint",  "int64", "uint64"};
        if (size_of(xtype) == 0)
            throw Error{NC_EBADTYPE, "there is no type " + std::to_string(xtype)};
        set(name, std::string(names[xtype - 1]));
        set(sizep, static_cast<Index>(size_of(xtype)));
    });
}

int PIOc_set_fill(int ncid, int fillmode, int* old_modep) {
    return on_file(__func__, ncid,
                   [&](File& file) { set(old_modep, set_fill(file.definitions, fillmode)); });
}

// ---- dimensions ---------------------------------------------------------------------------------

int PIOc_def_dim(int ncid, const char* name, PIO_Offset len, int* idp) {
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        set(idp, file.definitions.def_dim(name, len));
    });
}

int PIOc_inq_dim(int ncid, int dimid, char* name, PIO_Offset* lenp) {
    return on_file(__func__, ncid, [&](File& file) {
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
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        set(idp, file.table().dimension_named(name));
    });
}

int PIOc_rename_dim(int ncid, int dimid, const char* name) {
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        file.definitions.need_define();
        file.definitions.rename_dim(dimid, name);
    });
}

// ---- variables ----------------------------------------------------------------------------------

int PIOc_def_var(int ncid, const char* name, nc_type xtype, int ndims, const int* dimidsp,
                 int* varidp) {
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        if (ndims < 0 || ndims > NC_MAX_VAR_DIMS)
            throw Error{NC_EINVAL,
                        std::string(name) + ": has " + std::to_string(ndims) + " dimensions"};
        if (ndims > 0) need(dimidsp, "dimids");
        set(varidp,
            file.definitions.def_var(name, xtype, std::vector<int>(dimidsp, dimidsp + ndims)));
    });
}

int PIOc_inq_varid(int ncid, const char* name, int* varidp) {
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        set(varidp, file.table().variable_named(name));
    });
}

int PIOc_inq_var(int ncid, int varid, char* name, nc_type* xtypep, int* ndimsp, int* dimidsp,
                 int* nattsp) {
    return on_file(__func__, ncid, [&](File& file) {
        if (nattsp != nullptr) file.agree_attributes();
        // A call for PIO_GLOBAL that only asks for the number of attributes is valid.
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
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        file.definitions.need_define();
        file.definitions.rename_var(varid, name);
    });
}

int PIOc_def_var_fill(int ncid, int varid, int no_fill, const void* fill_value) {
    return on_file(__func__, ncid, [&](File& file) {
        if (varid == NC_GLOBAL) throw Error{NC_EGLOBAL, "PIO_GLOBAL has no fill value"};
        file.definitions.storage(varid).no_fill = no_fill != 0;
        const Variable& v = file.table().variable(varid);
        if (fill_value == nullptr || no_fill != 0) return;
        file.definitions.put_att(
            varid, {fill_attribute, v.type, 1,
                    std::string(static_cast<const char*>(fill_value), size_of(v.type))});
    });
}

int PIOc_inq_var_fill(int ncid, int varid, int* no_fill, void* fill_valuep) {
    return on_file(__func__, ncid, [&](File& file) {
        file.agree_attributes();
        const Variable& v = file.table().variable(varid);
        set(no_fill, v.storage.no_fill ? 1 : 0);
        if (fill_valuep == nullptr) return;
        const std::string fill = Table::fill_of(v);
        std::memcpy(fill_valuep, fill.data(), fill.size());
    });
}
