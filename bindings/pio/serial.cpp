// SPDX-License-Identifier: Apache-2.0
#include "serial.hpp"

#include <netcdf.h>
#include <netcdf_filter.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "types.hpp"

namespace thalweg::pio {

namespace {

void check_code(int code, const std::string& path, const std::string& what) {
    if (code != NC_NOERR) throw Error{code, path + ": " + what + ": " + nc_strerror(code)};
}

int define_variable(int ncid, const Variable& v) {
    int varid = 0;
    int code = nc_def_var(ncid, v.name.c_str(), v.type, static_cast<int>(v.dims.size()),
                          v.dims.data(), &varid);
    const Storage& s = v.storage;
    if (code == NC_NOERR && s.layout >= 0 && !v.dims.empty())
        code = nc_def_var_chunking(ncid, varid, s.layout,
                                   s.chunks.empty() ? nullptr : s.chunks.data());
    if (code == NC_NOERR && !v.dims.empty() && (s.deflate != 0 || s.shuffle != 0))
        code = nc_def_var_deflate(ncid, varid, s.shuffle, s.deflate, s.level);
#ifdef NC_HAS_QUANTIZE
    if (code == NC_NOERR && s.quantize != 0)
        code = nc_def_var_quantize(ncid, varid, s.quantize, s.digits);
#endif
    if (code == NC_NOERR && s.endian != NC_ENDIAN_NATIVE)
        code = nc_def_var_endian(ncid, varid, s.endian);
    if (code == NC_NOERR && s.zstandard) {
        const unsigned level = static_cast<unsigned>(s.zstandard_level);
        code = nc_def_var_filter(ncid, varid, 32015, 1, &level);  // its number at the HDF group
    }
    return code;
}

int put_attribute(int ncid, int varid, const Attribute& a) {
    return nc_put_att(ncid, varid, a.name.c_str(), a.type, static_cast<std::size_t>(a.n),
                      a.bytes.data());
}

int make(int ncid, const Edit& edit, const Table& table) {
    switch (edit.kind) {
        case Edit::Kind::dimension: {
            const Dimension& d = table.dimensions[static_cast<std::size_t>(edit.id)];
            return nc_def_dim(ncid, edit.name.c_str(),
                              d.unlimited ? NC_UNLIMITED : static_cast<std::size_t>(d.length),
                              nullptr);
        }
        case Edit::Kind::variable: {
            Variable v = table.variables[static_cast<std::size_t>(edit.id)];
            v.name = edit.name;
            return define_variable(ncid, v);
        }
        case Edit::Kind::attribute: return put_attribute(ncid, edit.id, edit.attribute);
        case Edit::Kind::delete_attribute: return nc_del_att(ncid, edit.id, edit.name.c_str());
        case Edit::Kind::rename_attribute:
            return nc_rename_att(ncid, edit.id, edit.name.c_str(), edit.new_name.c_str());
        case Edit::Kind::rename_variable:
            return nc_rename_var(ncid, edit.id, edit.new_name.c_str());
        case Edit::Kind::rename_dimension:
            return nc_rename_dim(ncid, edit.id, edit.new_name.c_str());
    }
    return NC_EINVAL;
}

std::vector<std::size_t> sizes(const std::vector<Index>& values) {
    return {values.begin(), values.end()};
}

}  // namespace

namespace {

void make_all(const std::string& path, const std::vector<Edit>& edits, const Table& table) {
    int ncid = -1;
    check_code(nc_open(path.c_str(), NC_WRITE, &ncid), path, "cannot be opened for definitions");
    int code = nc_redef(ncid);
    std::string what = "the definitions cannot be changed";
    for (const Edit& edit : edits) {
        if (code != NC_NOERR) break;
        what = "definition of " + (edit.name.empty() ? edit.attribute.name : edit.name);
        code = make(ncid, edit, table);
    }
    const int closed = nc_close(ncid);  // which ends the definitions
    check_code(code, path, what);
    check_code(closed, path, "close");
}

}  // namespace

// netCDF-C moves the data within the file: whoever is killed meanwhile would leave neither the old
// file nor the new one. So a copy is changed, which then takes the file's name.
void edit_file(const std::string& path, const std::vector<Edit>& edits, const Table& table) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto check_system = [&](const char* what) {
        if (error) throw Error{error.value(), path + ": " + what + ": " + error.message()};
    };
    const fs::path file = fs::canonical(path, error);  // not the link to it
    check_system("definitions");
    const fs::path copy = file.string() + ".redef";
    fs::copy_file(file, copy, fs::copy_options::overwrite_existing, error);
    if (!error) try {
            make_all(copy.string(), edits, table);
            fs::rename(copy, file, error);
        } catch (const Error&) {
            std::error_code ignored;
            fs::remove(copy, ignored);
            throw;
        }
    if (error) {
        std::error_code ignored;
        fs::remove(copy, ignored);
    }
    check_system("the copy with the new definitions");
}

Serial::~Serial() {
    if (ncid_ >= 0) nc_close(ncid_);
}

void Serial::check(int code) const { check_code(code, path_, "netCDF"); }

void Serial::create(const std::string& path, const Table& table, int mode) {
    path_ = path;
    on_rank(comm_, root_, [&] {
        check(nc_create(path.c_str(), NC_CLOBBER | mode, &ncid_));
        for (const Dimension& d : table.dimensions)
            check(nc_def_dim(ncid_, d.name.c_str(),
                             d.unlimited ? NC_UNLIMITED : static_cast<std::size_t>(d.length),
                             nullptr));
        for (const Attribute& a : table.attributes) check(put_attribute(ncid_, NC_GLOBAL, a));
        for (std::size_t v = 0; v < table.variables.size(); v++) {
            check(define_variable(ncid_, table.variables[v]));
            for (const Attribute& a : table.variables[v].attributes)
                check(put_attribute(ncid_, static_cast<int>(v), a));
        }
        check(nc_enddef(ncid_));
    });
}

void Serial::open(const std::string& path) {
    path_ = path;
    on_rank(comm_, root_, [&] { check(nc_open(path.c_str(), NC_WRITE, &ncid_)); });
}

void Serial::sync() {
    on_rank(comm_, root_, [&] { check(nc_sync(ncid_)); });
}

void Serial::close() {
    on_rank(comm_, root_, [&] {
        const int ncid = ncid_;
        ncid_ = -1;
        check(nc_close(ncid));
    });
}

// Whether the record is in the file.
bool Serial::exists(int varid, const std::vector<Index>& start) const {
    int dims[NC_MAX_VAR_DIMS] = {0};
    check(nc_inq_vardimid(ncid_, varid, dims));
    for (std::size_t d = 0; d < start.size(); d++) {
        std::size_t length = 0;
        check(nc_inq_dimlen(ncid_, dims[d], &length));
        if (static_cast<std::size_t>(start[d]) >= length) return false;
    }
    return true;
}

void Serial::write(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
                   const std::vector<Index>& dofs, const std::string& values,
                   const std::string& fill, bool whole) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &ranks);
    constexpr Index most = 1 << 26;  // elements a message
    const std::size_t bytes = fill.size();
    Index n = static_cast<Index>(dofs.size());
    const auto send = [&](Index from, Index part) {
        MPI_Send(dofs.data() + from, static_cast<int>(part), MPI_INT64_T, root_, 0, comm_);
        MPI_Send(values.data() + static_cast<std::size_t>(from) * bytes,
                 static_cast<int>(static_cast<std::size_t>(part) * bytes), MPI_BYTE, root_, 1,
                 comm_);
    };
    if (rank != root_) {
        MPI_Send(&n, 1, MPI_INT64_T, root_, 2, comm_);
        for (Index from = 0; from < n; from += most) send(from, std::min(most, n - from));
    }
    on_rank(comm_, root_, [&] {
        std::string slab;
        for (Index i = 0, all = volume(count); i < all; i++) slab += fill;
        if (!whole && exists(varid, start))
            check(nc_get_vara(ncid_, varid, sizes(start).data(), sizes(count).data(), slab.data()));
        const auto place = [&](const Index* at, const char* from, Index part) {
            for (Index i = 0; i < part; i++)
                if (at[i] >= 0)
                    std::memcpy(slab.data() + static_cast<std::size_t>(at[i]) * bytes,
                                from + static_cast<std::size_t>(i) * bytes, bytes);
        };
        for (int r = 0; r < ranks; r++) {
            if (r == root_) {
                place(dofs.data(), values.data(), n);
                continue;
            }
            Index theirs = 0;
            MPI_Recv(&theirs, 1, MPI_INT64_T, r, 2, comm_, MPI_STATUS_IGNORE);
            for (Index from = 0; from < theirs; from += most) {
                const Index part = std::min(most, theirs - from);
                std::vector<Index> at(static_cast<std::size_t>(part));
                std::string got(static_cast<std::size_t>(part) * bytes, '\0');
                MPI_Recv(at.data(), static_cast<int>(part), MPI_INT64_T, r, 0, comm_,
                         MPI_STATUS_IGNORE);
                MPI_Recv(got.data(), static_cast<int>(got.size()), MPI_BYTE, r, 1, comm_,
                         MPI_STATUS_IGNORE);
                place(at.data(), got.data(), part);
            }
        }
        check(nc_put_vara(ncid_, varid, sizes(start).data(), sizes(count).data(), slab.data()));
    });
}

void Serial::put(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
                 const std::vector<Index>& stride, nc_type type, const void* values) {
    on_rank(comm_, root_, [&] {
        nc_type own = NC_NAT;
        check(nc_inq_vartype(ncid_, varid, &own));
        std::string converted(static_cast<std::size_t>(volume(count)) * size_of(own), '\0');
        const int code = convert(type, values, own, converted.data(), volume(count));
        if (code != NC_NOERR && code != NC_ERANGE) check(code);
        const std::vector<std::ptrdiff_t> steps(stride.begin(), stride.end());
        check(nc_put_vars(ncid_, varid, sizes(start).data(), sizes(count).data(), steps.data(),
                          converted.data()));
        check(code);
    });
}

}  // namespace thalweg::pio
