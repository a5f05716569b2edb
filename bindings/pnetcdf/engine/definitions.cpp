// Definitions and fill values.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pnetcdf/engine/calls.hpp"
#include "types.hpp"

namespace thalweg::pnetcdf::engine {

int File::def_dim(const std::string& name, Index length) {
    need_define();
    std::string checked = name;
    check_name(checked);
    const Index most = format_ == Format::cdf1   ? 0x7ffffffc
                       : format_ == Format::cdf2 ? 0xfffffffc
                                                 : INT64_MAX;
    if (length < 0 || length > most)
        throw Error{NC_EDIMSIZE,
                    path_ + ": dimension " + name + " has the length " + std::to_string(length)};
    if (length == NC_UNLIMITED && table_.unlimited() >= 0)
        throw Error{NC_EUNLIMIT, path_ + " has an unlimited dimension"};
    return Dataset::def_dim(name, length);
}

int File::def_var(const std::string& name, int type, std::vector<int> dims) {
    std::string checked = name;
    check_name(checked);
    if (size_of(type) == 0)
        throw Error{NC_EBADTYPE, path_ + ": variable " + name + ": there is no such type"};
    if (type > NC_DOUBLE && format_ != Format::cdf5)
        throw Error{strict_cdf2, path_ + ": variable " + name + ": the format has no such type"};
    const int id = Dataset::def_var(name, type, std::move(dims));
    table_.variable(id).storage.no_fill = handle_->fill_mode == NC_NOFILL;
    return id;
}

int File::set_fill(int mode) {
    need_define();
    Dataset::set_fill(mode);
    for (Variable& v : table_.variables) v.storage.no_fill = mode == NC_NOFILL;
    return std::exchange(handle_->fill_mode, mode);
}

void File::def_var_fill(int varid, bool no_fill, const void* value) {
    need_define();
    Variable& v = variable_of(varid);
    v.storage.no_fill = no_fill;
    if (no_fill || value == nullptr) return;
    Attribute a{fill_attribute, v.type, 1, std::string(size_of(v.type), '\0')};
    std::memcpy(a.bytes.data(), value, a.bytes.size());
    Dataset::put_att(varid, std::move(a));
}

// Fills a record of a variable. Each rank writes fill values to a part of it.
void File::fill_record(int varid, Index record) {
    need_write();
    if (define_) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    const Variable& v = variable_of(varid);
    if (!table_.is_record(v))
        throw Error{no_record_variable, path_ + ": variable " + v.name + " has no records"};
    if (handle_->independent) throw Error{is_independent, path_ + " is in independent data mode"};
    if (v.storage.no_fill && v.attributes.get(fill_attribute) == nullptr)
        throw Error{not_filled, path_ + ": variable " + v.name + " is not filled"};
    Section s;
    s.count = table_.lengths(v);
    s.start.assign(s.count.size(), 0);
    s.start[0] = record;
    s.count[0] = 1;
    const auto rank = Index{session_.rank()}, ranks = Index{session_.ranks()};
    if (s.count.size() > 1) {
        const Index rows = s.count[1];
        s.start[1] = rows * rank / ranks;
        s.count[1] = rows * (rank + 1) / ranks - s.start[1];
    } else if (rank > 0) {
        s.count[0] = 0;
    }
    const std::string fill = nc::Table::fill_of(v);
    const Index n = volume(s.count);
    char* own = nullptr;
    try {
        own = QueuedFile::take(n * static_cast<Index>(fill.size()), fill.size());
    } catch (...) {
        put_nothing(varid);
        throw;
    }
    for (Index i = 0; i < n; i++)
        std::memcpy(own + i * static_cast<Index>(fill.size()), fill.data(), fill.size());
    QueuedFile::put(varid, true, std::move(s), own);
}

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
        if (!file.in_define_mode())
            throw Error{NC_ENOTINDEFINE, file.path() + " is not in define mode"};
        for (const MPI_Offset n : {header_free, align, fixed_free, record_align})
            if (n < 0) throw Error{NC_EINVAL, file.path() + ": a negative alignment"};
        file.enddef({header_free, align, fixed_free, record_align});
    });
}

int ncmpi_def_dim(File& file, const char* name, MPI_Offset length, int* id) {
    return on(file, [&] {
        file.need_define();
        const int made = file.def_dim(text_of(name), length);
        if (id != nullptr) *id = made;
    });
}

int ncmpi_def_var(File& file, const char* name, nc_type type, int n, const int* dims, int* id) {
    return on(file, [&] {
        file.need_define();
        const std::string checked = text_of(name);
        if (size_of(type) == 0) throw Error{NC_EBADTYPE, checked + ": there is no such type"};
        if (n < 0 || (n > 0 && dims == nullptr))
            throw Error{NC_EINVAL, checked + ": the dimensions are missing"};
        const int made = file.def_var(checked, type, std::vector<int>(dims, dims + n));
        if (id != nullptr) *id = made;
    });
}

int ncmpi_rename_dim(File& file, int id, const char* name) {
    return on(file, [&] {
        file.need_write();
        file.rename_dim(id, text_of(name));
    });
}

int ncmpi_rename_var(File& file, int id, const char* name) {
    return on(file, [&] {
        file.need_write();
        file.variable_of(id);
        file.rename_var(id, text_of(name));
    });
}

int ncmpi_set_fill(File& file, int mode, int* old) {
    return on(file, [&] {
        const int before = file.set_fill(mode);
        if (old != nullptr) *old = before;
    });
}

int ncmpi_def_var_fill(File& file, int id, int no_fill, const void* value) {
    return on(file, [&] { file.def_var_fill(id, no_fill != 0, value); });
}

int ncmpi_fill_var_rec(File& file, int id, MPI_Offset record) {
    return on(file, [&] { file.fill_record(id, record); });
}

int ncmpi_begin_indep_data(File& file) {
    return on(file, [&] { file.begin_independent(); });
}

int ncmpi_end_indep_data(File& file) {
    return on(file, [&] { file.end_independent(); });
}

int ncmpi_sync(File& file) {
    return on(file, [&] { file.sync(); });
}

// Checks the mode, and has no other effect: the engine has no burst buffer, which PnetCDF writes
// here.
int ncmpi_flush(File& file) {
    return on(file, [&] {
        if (file.in_define_mode()) throw Error{NC_EINDEFINE, file.path() + " is in define mode"};
    });
}

int ncmpi_sync_numrecs(File& file) {
    return on(file, [&] { file.sync_records(); });
}

int ncmpi_wait(File& file, int n, int* ids, int* statuses) {
    return on(file, [&] { return file.wait(false, n, ids, statuses); });
}

int ncmpi_wait_all(File& file, int n, int* ids, int* statuses) {
    return on(file, [&] { return file.wait(true, n, ids, statuses); });
}

int ncmpi_cancel(File& file, int n, int* ids, int* statuses) {
    return on(file, [&] { return file.cancel(n, ids, statuses); });
}

int ncmpi_buffer_attach(File& file, MPI_Offset bytes) {
    return on(file, [&] { file.attach(bytes); });
}

int ncmpi_buffer_detach(File& file) {
    return on(file, [&] { file.detach(); });
}

}  // namespace calls

}  // namespace thalweg::pnetcdf::engine
