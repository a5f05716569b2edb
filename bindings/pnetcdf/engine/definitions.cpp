// Definitions and fill values, and the modes of a file.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <cstring>
#include <utility>

#include "nc/base/types.hpp"
#include "pnetcdf/engine/calls.hpp"

namespace thalweg::pnetcdf::engine {

namespace calls {

namespace {

std::string text_of(const char* name) {
    if (name == nullptr || *name == '\0') throw Error{NC_EBADNAME, "a name is empty"};
    return name;
}

}  // namespace

int ncmpi_redef(File& file) {
    return on(file, [&] { file.redef(); });
}

int ncmpi_enddef(File& file) {
    return on(file, [&] { file.enddef(); });
}

int ncmpi__enddef(File& file, MPI_Offset header_free, MPI_Offset align, MPI_Offset fixed_free,
                  MPI_Offset record_align) {
    return on(file, [&] {
        if (!file.handle().defines)
            throw Error{NC_ENOTINDEFINE, file.path() + " is not in define mode"};
        for (const MPI_Offset n : {header_free, align, fixed_free, record_align})
            if (n < 0) throw Error{NC_EINVAL, file.path() + ": a negative alignment"};
        file.enddef({header_free, align, fixed_free, record_align});
    });
}

int ncmpi_def_dim(File& file, const char* name, MPI_Offset length, int* id) {
    return on(file, [&] {
        file.handle().need_define();
        std::string checked = text_of(name);
        check_name(checked);
        const Format format = file.definitions.format;
        const Index most = format == Format::cdf1   ? 0x7ffffffc
                           : format == Format::cdf2 ? 0xfffffffc
                                                    : INT64_MAX;
        if (length < 0 || length > most)
            throw Error{NC_EDIMSIZE, file.path() + ": dimension " + name + " has the length " +
                                         std::to_string(length)};
        if (length == NC_UNLIMITED && file.table().unlimited() >= 0)
            throw Error{NC_EUNLIMIT, file.path() + " has an unlimited dimension"};
        const int made = file.definitions.def_dim(name, length);
        set(id, made);
    });
}

int ncmpi_def_var(File& file, const char* name, nc_type type, int n, const int* dims, int* id) {
    return on(file, [&] {
        file.handle().need_define();
        std::string checked = text_of(name);
        if (size_of(type) == 0) throw Error{NC_EBADTYPE, checked + ": there is no such type"};
        if (n < 0 || (n > 0 && dims == nullptr))
            throw Error{NC_EINVAL, checked + ": the dimensions are missing"};
        check_name(checked);
        if (type > NC_DOUBLE && file.definitions.format != Format::cdf5)
            throw Error{NC_ESTRICTCDF2,
                        file.path() + ": variable " + name + ": the format has no such type"};
        const int made = file.definitions.def_var(name, type, std::vector<int>(dims, dims + n));
        file.table().variable(made).storage.no_fill = file.handle().fill_mode == NC_NOFILL;
        set(id, made);
    });
}

int ncmpi_rename_dim(File& file, int id, const char* name) {
    return on(file, [&] {
        file.handle().need_write();
        file.definitions.rename_dim(id, text_of(name));
    });
}

int ncmpi_rename_var(File& file, int id, const char* name) {
    return on(file, [&] {
        file.handle().need_write();
        variable_of(file.definitions, id);
        file.definitions.rename_var(id, text_of(name));
    });
}

int ncmpi_set_fill(File& file, int mode, int* old) {
    return on(file, [&] {
        file.handle().need_define();
        set_fill(file.definitions, mode);
        for (Variable& v : file.table().variables) v.storage.no_fill = mode == NC_NOFILL;
        const int before = std::exchange(file.handle().fill_mode, mode);
        set(old, before);
    });
}

int ncmpi_def_var_fill(File& file, int id, int no_fill, const void* value) {
    return on(file, [&] {
        file.handle().need_define();
        Variable& v = variable_of(file.definitions, id);
        v.storage.no_fill = no_fill != 0;
        if (no_fill != 0 || value == nullptr) return;
        Attribute a{fill_attribute, v.type, 1, std::string(size_of(v.type), '\0')};
        std::memcpy(a.bytes.data(), value, a.bytes.size());
        file.definitions.put_att(id, std::move(a));
    });
}

int ncmpi_fill_var_rec(File& file, int id, MPI_Offset record) {
    return on(file, [&] { file.transfers.fill_record(id, record); });
}

int ncmpi_begin_indep_data(File& file) {
    return on(file, [&] { file.begin_independent(); });
}

int ncmpi_end_indep_data(File& file) {
    return on(file, [&] { file.end_independent(); });
}

int ncmpi_sync(File& file) {
    return on(file, [&] { sync(file.puts); });
}

// Checks the mode, and has no other effect: the engine has no burst buffer, which PnetCDF writes
// here.
int ncmpi_flush(File& file) {
    return on(file, [&] { file.handle().need_data(); });
}

int ncmpi_sync_numrecs(File& file) {
    return on(file, [&] {
        file.handle().need_data();
        if (file.definitions.is_writable() && file.handle().independent)
            file.puts.join(Reason::leave);
    });
}

int ncmpi_wait(File& file, int n, int* ids, int* statuses) {
    return on(file, [&] { return file.transfers.wait(false, n, ids, statuses); });
}

int ncmpi_wait_all(File& file, int n, int* ids, int* statuses) {
    return on(file, [&] { return file.transfers.wait(true, n, ids, statuses); });
}

int ncmpi_cancel(File& file, int n, int* ids, int* statuses) {
    return on(file, [&] { return file.transfers.cancel(n, ids, statuses); });
}

int ncmpi_buffer_attach(File& file, MPI_Offset bytes) {
    return on(file, [&] { file.handle().attach(bytes); });
}

int ncmpi_buffer_detach(File& file) {
    return on(file, [&] { file.handle().detach(); });
}

}  // namespace calls

}  // namespace thalweg::pnetcdf::engine
