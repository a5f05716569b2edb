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

void check_requests(const File& file, int code) {
    if (code != NC_NOERR) throw Error{code, file.path() + ": not all requests have succeeded"};
}

}  // namespace

void ncmpi_redef(File& file) { file.redef(); }

void ncmpi_enddef(File& file) { file.enddef(); }

void ncmpi__enddef(File& file, MPI_Offset header_free, MPI_Offset align, MPI_Offset fixed_free,
                   MPI_Offset record_align) {
    if (!file.handle().defines)
        throw Error{NC_ENOTINDEFINE, file.path() + " is not in define mode"};
    for (const MPI_Offset n : {header_free, align, fixed_free, record_align})
        if (n < 0) throw Error{NC_EINVAL, file.path() + ": a negative alignment"};
    file.enddef({header_free, align, fixed_free, record_align});
}

void ncmpi_def_dim(File& file, const char* name, MPI_Offset length, int* id) {
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
}

void ncmpi_def_var(File& file, const char* name, nc_type type, int n, const int* dims, int* id) {
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
}

void ncmpi_rename_dim(File& file, int id, const char* name) {
    file.handle().need_write();
    file.definitions.rename_dim(id, text_of(name));
}

void ncmpi_rename_var(File& file, int id, const char* name) {
    file.handle().need_write();
    variable_of(file.definitions, id);
    file.definitions.rename_var(id, text_of(name));
}

void ncmpi_set_fill(File& file, int mode, int* old) {
    file.handle().need_define();
    set_fill(file.definitions, mode);
    for (Variable& v : file.table().variables) v.storage.no_fill = mode == NC_NOFILL;
    const int before = std::exchange(file.handle().fill_mode, mode);
    set(old, before);
}

void ncmpi_def_var_fill(File& file, int id, int no_fill, const void* value) {
    file.handle().need_define();
    Variable& v = variable_of(file.definitions, id);
    v.storage.no_fill = no_fill != 0;
    if (no_fill != 0 || value == nullptr) return;
    Attribute a{fill_attribute, v.type, 1, std::string(size_of(v.type), '\0')};
    std::memcpy(a.bytes.data(), value, a.bytes.size());
    file.definitions.put_att(id, std::move(a));
}

void ncmpi_fill_var_rec(File& file, int id, MPI_Offset record) {
    file.transfers.fill_record(id, record);
}

void ncmpi_begin_indep_data(File& file) { file.begin_independent(); }

void ncmpi_end_indep_data(File& file) { file.end_independent(); }

void ncmpi_sync(File& file) { sync(file.puts); }

// Checks the mode, and has no other effect: the engine has no burst buffer, which PnetCDF writes
// here.
void ncmpi_flush(File& file) { file.handle().need_data(); }

void ncmpi_sync_numrecs(File& file) {
    file.handle().need_data();
    if (file.definitions.is_writable() && file.handle().independent) file.puts.join(Reason::leave);
}

void ncmpi_wait(File& file, int n, int* ids, int* statuses) {
    check_requests(file, file.transfers.wait(false, n, ids, statuses));
}

void ncmpi_wait_all(File& file, int n, int* ids, int* statuses) {
    check_requests(file, file.transfers.wait(true, n, ids, statuses));
}

void ncmpi_cancel(File& file, int n, int* ids, int* statuses) {
    check_requests(file, file.transfers.cancel(n, ids, statuses));
}

void ncmpi_buffer_attach(File& file, MPI_Offset bytes) { file.handle().attach(bytes); }

void ncmpi_buffer_detach(File& file) { file.handle().detach(); }

}  // namespace calls

}  // namespace thalweg::pnetcdf::engine
