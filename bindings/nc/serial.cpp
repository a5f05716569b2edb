// SPDX-License-Identifier: Apache-2.0
#include "serial.hpp"

#include <hdf5.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/untaken.hpp"
#include "boxes.hpp"
#include "storage.hpp"
#include "types.hpp"

namespace thalweg::nc {

namespace {

// For the duration of a scope, silences HDF5's error messages, because netCDF-C makes calls that
// may fail. Also makes this layer's own calls reach netCDF-C, even if the shim replaces the
// program's calls.
class Quiet {
public:
    Quiet() {
        H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    detail::Untaken untaken_;
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

void check_code(int code, const std::string& path, const std::string& what) {
    if (code != NC_NOERR) throw Error{code, path + ": " + what + ": " + nc_strerror(code)};
}

constexpr unsigned zstd_filter = 32015;  // number that the HDF Group has registered

int define_variable(int ncid, const Variable& v) {
    int varid = 0;
    if (size_of(v.type) == 0) return NC_EBADTYPE;
    int code = nc_def_var(ncid, v.name.c_str(), v.type, static_cast<int>(v.dims.size()),
                          v.dims.data(), &varid);
    const Storage& s = v.storage;
    if (code == NC_NOERR && s.layout >= 0 && !v.dims.empty())
        code = nc_def_var_chunking(ncid, varid, s.layout,
                                   s.chunks.empty() ? nullptr : s.chunks.data());
    if (code == NC_NOERR && !v.dims.empty() && (s.deflate != 0 || s.shuffle != 0))
        code = nc_def_var_deflate(ncid, varid, s.shuffle, s.deflate, s.level);
#ifdef NC_QUANTIZE_BITGROOM
    if (code == NC_NOERR && s.quantize != 0)
        code = nc_def_var_quantize(ncid, varid, s.quantize, s.digits);
#endif
    if (code == NC_NOERR && s.endian != NC_ENDIAN_NATIVE)
        code = nc_def_var_endian(ncid, varid, s.endian);
    if (code == NC_NOERR && s.zstandard) {
        const unsigned level = static_cast<unsigned>(s.zstandard_level);
        code = nc_def_var_filter(ncid, varid, zstd_filter, 1, &level);
    }
    for (const Filter& f : s.others)
        if (code == NC_NOERR && !v.dims.empty())
            code = f.id == H5Z_FILTER_FLETCHER32
                       ? nc_def_var_fletcher32(ncid, varid, 1)
                       : nc_def_var_filter(ncid, varid, f.id, f.parameters.size(),
                                           f.parameters.data());
    return code;
}

int put_attribute(int ncid, int varid, const Attribute& a) {
    if (size_of(a.type) == 0) return NC_EBADTYPE;  // the table lacks such values
    return nc_put_att(ncid, varid, a.name.c_str(), a.type, static_cast<std::size_t>(a.n),
                      a.bytes.data());
}

void define_all(int ncid, const Table& table, const std::string& path) {
    const auto check = [&](int code, const std::string& what) { check_code(code, path, what); };
    for (const Dimension& d : table.dimensions)
        check(nc_def_dim(ncid, d.name.c_str(),
                         d.unlimited ? NC_UNLIMITED : static_cast<std::size_t>(d.length), nullptr),
              "dimension " + d.name);
    for (const Attribute& a : table.attributes)
        check(put_attribute(ncid, NC_GLOBAL, a), "attribute " + a.name);
    for (std::size_t i = 0; i < table.variables.size(); i++) {
        const Variable& v = table.variables[i];
        check(define_variable(ncid, v), "variable " + v.name);
        for (const Attribute& a : v.attributes)
            check(put_attribute(ncid, static_cast<int>(i), a), "attribute " + a.name);
    }
    check(nc_enddef(ncid), "definitions");
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

// Checks that netCDF-C can read the file: after some renames, netCDF-C 4.9.0 leaves netCDF-4 files
// that it cannot read.
void check_readable(const std::string& path, const Table& table) {
    int ncid = -1;
    char name[NC_MAX_NAME + 1] = "";
    int nd = 0, dims[NC_MAX_VAR_DIMS] = {0};
    bool same = true;
    const auto compare = [&](int code, const std::string& expected) {
        same = same && code == NC_NOERR && expected == name;
    };
    const int opened = nc_open(path.c_str(), NC_NOWRITE, &ncid);
    for (std::size_t d = 0; opened == NC_NOERR && d < table.dimensions.size(); d++)
        compare(nc_inq_dimname(ncid, static_cast<int>(d), name), table.dimensions[d].name);
    for (std::size_t v = 0; opened == NC_NOERR && v < table.variables.size(); v++)
        compare(nc_inq_var(ncid, static_cast<int>(v), name, nullptr, &nd, dims, nullptr),
                table.variables[v].name);
    if (opened == NC_NOERR) nc_close(ncid);
    if (opened != NC_NOERR || !same)
        throw Error{NC_EHDFERR,
                    path +
                        ": netCDF-C cannot read the file with the changed definitions, which "
                        "are dropped (it cannot rename all dimensions and variables)"};
}

void make_all(const std::string& path, const std::vector<Edit>& edits, const Table& table) {
    const Quiet quiet;
    int ncid = -1;
    check_code(nc_open(path.c_str(), NC_WRITE, &ncid), path, "cannot be opened for definitions");
    int code = nc_redef(ncid);
    std::string what = "the definitions cannot be changed";
    for (const Edit& edit : edits) {
        if (code != NC_NOERR) break;
        what = "definition of " + (edit.name.empty() ? edit.attribute.name : edit.name);
        code = make(ncid, edit, table);
    }
    const int closed = nc_close(ncid);  // nc_close also ends define mode
    check_code(code, path, what);
    check_code(closed, path, "close");
    check_readable(path, table);
}

// Copies the values of a variable that has the same id in two files.
void copy_values(int from, int to, int varid, const Variable& v) {
    std::vector<int> dims(v.dims.size() + 1);
    Shape lengths(v.dims.size());
    int code = nc_inq_vardimid(from, varid, dims.data());
    for (std::size_t d = 0; d < lengths.size() && code == NC_NOERR; d++) {
        std::size_t length = 0;
        code = nc_inq_dimlen(from, dims[d], &length);
        lengths[d] = static_cast<Index>(length);
    }
    const Boxes boxes(lengths, size_of(v.type));
    std::vector<std::size_t> start, count;
    std::string values;
    for (Index i = 0; i < boxes.number() && code == NC_NOERR; i++) {
        boxes.get(i, start, count);
        values.resize(static_cast<std::size_t>(volume({count.begin(), count.end()})) *
                      size_of(v.type));
        code = nc_get_vara(from, varid, start.data(), count.data(), values.data());
        if (code == NC_NOERR)
            code = nc_put_vara(to, varid, start.data(), count.data(), values.data());
    }
    check_code(code, v.name, "copying");
}

// Writes a netCDF-4 file anew, with the definitions of a table. The variables of the old file are
// the first ones in the table, perhaps by other names.
void write_anew(const std::string& from, const std::string& to, Table table) {
    const Quiet quiet;
    int old = -1, fresh = -1, n = 0, format = 0;
    check_code(nc_open(from.c_str(), NC_NOWRITE, &old), from, "cannot be opened");
    Error error = error_of([&] {
        nc_inq_nvars(old, &n);
        nc_inq_format(old, &format);
        for (int v = 0; v < n; v++) {
            char name[NC_MAX_NAME + 1] = "";
            nc_inq_varname(old, v, name);
            table.variables[static_cast<std::size_t>(v)].storage = stored(from, name);
        }
        const int model = format == NC_FORMAT_NETCDF4_CLASSIC ? NC_CLASSIC_MODEL : 0;
        unlink(to.c_str());  // HDF5 keeps a file open that netCDF-C cannot close
        check_code(nc_create(to.c_str(), NC_CLOBBER | NC_NETCDF4 | model, &fresh), to, "create");
        define_all(fresh, table, to);
        for (int v = 0; v < n; v++)
            copy_values(old, fresh, v, table.variables[static_cast<std::size_t>(v)]);
    });
    nc_close(old);
    const int closed = fresh >= 0 ? nc_close(fresh) : NC_NOERR;
    if (error.code != 0) throw error;
    check_code(closed, to, "close");
}

bool has_renames(const std::vector<Edit>& edits) {
    return std::any_of(edits.begin(), edits.end(), [](const Edit& e) {
        return e.kind == Edit::Kind::rename_variable || e.kind == Edit::Kind::rename_dimension;
    });
}

// Makes edits in the copy of a file. NetCDF-C fails to rename some dimensions and variables, so
// then the copy is written anew.
void edit_copy(const std::string& path, const WorkFile& copy, const std::vector<Edit>& edits,
               const Table& table, bool netcdf4) {
    const Error error = error_of([&] { make_all(copy.path(), edits, table); });
    if (error.code == 0) return;
    if (!netcdf4 || !has_renames(edits)) throw error;
    write_anew(path, copy.path(), table);
    check_readable(copy.path(), table);
}

}  // namespace

// Edits a copy of the file. netCDF-C moves data within a file, so a killed run could otherwise
// leave neither the old nor the new file.
void edit_file(const std::string& path, const std::vector<Edit>& edits, const Table& table,
               bool netcdf4) {
    WorkFile work(path, WorkFile::Begin::copy);
    edit_copy(path, work, edits, table, netcdf4);
    work.publish();
}

bool has_filter(unsigned id) {
    const Quiet quiet;
    unsigned flags = 0;
    const auto filter = static_cast<H5Z_filter_t>(id);
    return H5Zfilter_avail(filter) > 0 && H5Zget_filter_info(filter, &flags) >= 0 &&
           (flags & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0;
}

Storage stored(const std::string& path, const std::string& variable) {
    const Quiet quiet;
    int ncid = -1, id = -1;
    check_code(nc_open(path.c_str(), NC_NOWRITE, &ncid), path, "cannot be opened");
    Storage s;
    int nd = 0;
    int code = nc_inq_varid(ncid, variable.c_str(), &id);
    if (code == NC_NOERR) code = nc_inq_varndims(ncid, id, &nd);
    s.chunks.resize(static_cast<std::size_t>(nd) + 1);
    if (code == NC_NOERR) code = nc_inq_var_chunking(ncid, id, &s.layout, s.chunks.data());
    if (code == NC_NOERR) code = nc_inq_var_deflate(ncid, id, &s.shuffle, &s.deflate, &s.level);
    if (code == NC_NOERR) code = nc_inq_var_endian(ncid, id, &s.endian);
    std::size_t n = 0;
    if (code == NC_NOERR) code = nc_inq_var_filter_ids(ncid, id, &n, nullptr);
    std::vector<unsigned> ids(n + 1);
    if (code == NC_NOERR) code = nc_inq_var_filter_ids(ncid, id, &n, ids.data());
    for (std::size_t i = 0; i < n && code == NC_NOERR; i++) {
        std::size_t parameters = 0;
        code = nc_inq_var_filter_info(ncid, id, ids[i], &parameters, nullptr);
        Filter filter{ids[i], std::vector<unsigned>(parameters + 1)};
        if (code == NC_NOERR)
            code = nc_inq_var_filter_info(ncid, id, ids[i], &parameters, filter.parameters.data());
        filter.parameters.resize(parameters);
        if (filter.id == zstd_filter && parameters == 1) {
            s.zstandard = true;
            s.zstandard_level = static_cast<int>(filter.parameters[0]);
        } else if (filter.id != H5Z_FILTER_DEFLATE && filter.id != H5Z_FILTER_SHUFFLE) {
            s.others.push_back(std::move(filter));
        }
    }
    nc_close(ncid);
    check_code(code, path, "storage of " + variable);
    s.chunks.resize(static_cast<std::size_t>(nd));
    return s;
}

Serial::~Serial() {
    const Quiet quiet;
    if (ncid_ >= 0) nc_close(ncid_);
}

void Serial::on_root(const std::function<void()>& action) const {
    on_rank(comm_, root_, [&] {
        const Quiet quiet;
        action();
    });
}

void Serial::check(int code) const { check_code(code, path_, "netCDF"); }

// Handles the code of a write: after an error of the system or of HDF5, the contents of the file
// are unknown, so it is closed.
void Serial::check_write(int code) {
    failed_ |= code > 0 || code == NC_EHDFERR || code == NC_ENOMEM;
    check(code);
}

void Serial::begin(const std::string& path, WorkFile::Begin begin) {
    path_ = path;
    on_rank(comm_, root_, [&] {
        const char* const publish = std::getenv("THALWEG_PUBLISH");
        const bool live = publish != nullptr && std::strcmp(publish, "live") == 0;
        work_ = std::make_unique<WorkFile>(path, live ? WorkFile::Begin::in_place : begin);
        work_path_ = work_->path();
    });
    work_path_ = broadcast(comm_, root_, work_path_);
}

void Serial::create(const std::string& path, const Table& table, int mode) {
    begin(path, WorkFile::Begin::empty);
    on_root([&] {
        failed_ = true;
        check(nc_create(work_path_.c_str(), NC_CLOBBER | mode, &ncid_));
        define_all(ncid_, table, path_);
        failed_ = false;
    });
}

void Serial::open(const std::string& path, const Table& table) {
    begin(path, WorkFile::Begin::copy);
    resume();
    // Check that netCDF-C has the same ids of dimensions and variables as the table.
    on_root([&] {
        char name[NC_MAX_NAME + 1] = "";
        const auto same = [&](int code, const std::string& known) {
            check(code);
            if (known != name)
                throw Error{NC_EINVAL, path_ + ": netCDF-C numbers " + name + " otherwise than " +
                                           known + ": the file cannot be written"};
        };
        for (std::size_t d = 0; d < table.dimensions.size(); d++)
            same(nc_inq_dimname(ncid_, static_cast<int>(d), name), table.dimensions[d].name);
        for (std::size_t v = 0; v < table.variables.size(); v++)
            same(nc_inq_varname(ncid_, static_cast<int>(v), name), table.variables[v].name);
    });
}

void Serial::sync() {
    on_root([&] { check_write(nc_sync(ncid_)); });
}

void Serial::pause() {
    on_root([&] {
        if (ncid_ >= 0) check_write(nc_close(std::exchange(ncid_, -1)));
    });
}

void Serial::resume() {
    on_root([&] { check_write(nc_open(work_path_.c_str(), NC_WRITE, &ncid_)); });
}

// Edits a copy, so that the original is safe if netCDF-C fails.
void Serial::edit(const std::vector<Edit>& edits, const Table& table) {
    on_root([&] {
        if (has_renames(edits) || work_->in_place()) {
            WorkFile copy(work_path_, WorkFile::Begin::copy, WorkFile::Lock::held);
            edit_copy(work_path_, copy, edits, table, true);
            copy.publish();
            return;
        }
        const bool before = std::exchange(failed_, true);
        make_all(work_path_, edits, table);
        failed_ = before;
    });
}

void Serial::close() {
    on_root([&] {
        const std::unique_ptr<WorkFile> work = std::move(work_);
        if (!work) return;
        if (ncid_ >= 0) check_write(nc_close(std::exchange(ncid_, -1)));
        if (failed_)
            throw Error{NC_EIO,
                        path_ +
                            ": a write has failed: nothing is kept of what was written since "
                            "the file was opened"};
        work->publish();
    });
}

// Tests if the file contains the record.
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

void Serial::check_filters(int varid) const {
    std::size_t n = 0;
    check(nc_inq_var_filter_ids(ncid_, varid, &n, nullptr));
    std::vector<unsigned> ids(n + 1);
    check(nc_inq_var_filter_ids(ncid_, varid, &n, ids.data()));
    for (std::size_t i = 0; i < n; i++)
        if (!has_filter(ids[i]))
            throw Error{NC_ENOFILTER, path_ + ": HDF5 has no filter " + std::to_string(ids[i]) +
                                          " to write with; it finds plugins by HDF5_PLUGIN_PATH"};
}

// Writes values on the root. netCDF-C 4.9.0 does not swap bytes when it writes to a variable of
// another byte order in an existing file. So the values are read again, and swapped here if
// necessary.
void Serial::put_values(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
                        const std::vector<Index>& stride, std::string& values) {
    const std::vector<std::size_t> first = sizes(start), n = sizes(count);
    const std::vector<std::ptrdiff_t> steps(stride.begin(), stride.end());
    const auto put = [&](const std::string& of) {
        check_write(nc_put_vars(ncid_, varid, first.data(), n.data(), steps.data(), of.data()));
    };
    check_filters(varid);
    put(values);
    int endian = NC_ENDIAN_NATIVE;
    check(nc_inq_var_endian(ncid_, varid, &endian));
    if (is_native(endian)) return;
    std::string got(values.size(), '\0');
    const auto arrived = [&] {
        check(nc_get_vars(ncid_, varid, first.data(), n.data(), steps.data(), got.data()));
        return got == values;
    };
    if (arrived()) return;
    const std::size_t bytes = values.size() / static_cast<std::size_t>(volume(count));
    std::string swapped = values;
    for (std::size_t at = 0; at < swapped.size(); at += bytes)
        std::reverse(swapped.data() + at, swapped.data() + at + bytes);
    put(swapped);
    if (arrived()) return;
    failed_ = true;
    throw Error{NC_EHDFERR, path_ + ": netCDF-C writes wrong values of another byte order"};
}

constexpr Index most_sent = 1 << 26;  // largest number of elements in a message

// Receives the parts of a rank. If there is no memory for them, the messages are received
// nevertheless and dropped.
void Serial::receive(int rank, const std::function<void(const Index*, const char*, Index)>& place,
                     std::size_t bytes) const {
    Index theirs = 0;
    MPI_Recv(&theirs, 1, MPI_INT64_T, rank, 2, comm_, MPI_STATUS_IGNORE);
    std::vector<Index> at;
    std::string got;
    const Index room = std::min(most_sent, theirs);
    bool enough = true;
    try {
        at.resize(static_cast<std::size_t>(room));
        got.resize(static_cast<std::size_t>(room) * bytes);
    } catch (const std::bad_alloc&) {
        enough = false;
    }
    const char go_on = enough ? 1 : 0;
    MPI_Send(&go_on, 1, MPI_CHAR, rank, 3, comm_);
    if (!enough) throw std::bad_alloc();
    for (Index from = 0; from < theirs; from += most_sent) {
        const Index part = std::min(most_sent, theirs - from);
        MPI_Recv(at.data(), static_cast<int>(part), MPI_INT64_T, rank, 0, comm_, MPI_STATUS_IGNORE);
        const auto size = static_cast<int>(static_cast<std::size_t>(part) * bytes);
        MPI_Recv(got.data(), size, MPI_BYTE, rank, 1, comm_, MPI_STATUS_IGNORE);
        place(at.data(), got.data(), part);
    }
}

void Serial::write(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
                   const std::vector<Index>& dofs, const std::string& values,
                   const std::string& fill, bool whole) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &ranks);
    const std::size_t bytes = fill.size();
    const Index n = static_cast<Index>(dofs.size());
    // Let the root allocate and read first: after this, it must receive all messages, even after an
    // error.
    std::string slab;
    on_root([&] {
        slab.reserve(static_cast<std::size_t>(volume(count)) * bytes);
        for (Index i = 0, all = volume(count); i < all; i++) slab += fill;
        if (!whole && exists(varid, start))
            check(nc_get_vara(ncid_, varid, sizes(start).data(), sizes(count).data(), slab.data()));
    });
    if (rank != root_) {
        char go_on = 0;
        MPI_Send(&n, 1, MPI_INT64_T, root_, 2, comm_);
        MPI_Recv(&go_on, 1, MPI_CHAR, root_, 3, comm_, MPI_STATUS_IGNORE);
        for (Index from = 0; go_on != 0 && from < n; from += most_sent) {
            const Index part = std::min(most_sent, n - from);
            const auto size = static_cast<int>(static_cast<std::size_t>(part) * bytes);
            MPI_Send(dofs.data() + from, static_cast<int>(part), MPI_INT64_T, root_, 0, comm_);
            MPI_Send(values.data() + static_cast<std::size_t>(from) * bytes, size, MPI_BYTE, root_,
                     1, comm_);
        }
    }
    on_root([&] {
        const auto place = [&](const Index* at, const char* from, Index part) {
            for (Index i = 0; i < part; i++)
                if (at[i] >= 0)
                    std::memcpy(slab.data() + static_cast<std::size_t>(at[i]) * bytes,
                                from + static_cast<std::size_t>(i) * bytes, bytes);
        };
        place(dofs.data(), values.data(), n);
        bool lost = false;
        for (int r = 0; r < ranks; r++) try {
                if (r != root_) receive(r, place, bytes);
            } catch (const std::bad_alloc&) {
                lost = true;
            }
        if (lost) throw std::bad_alloc();
        put_values(varid, start, count, std::vector<Index>(start.size(), 1), slab);
    });
}

void Serial::put(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
                 const std::vector<Index>& stride, nc_type type, const void* values,
                 const std::string& fill) {
    on_root([&] {
        nc_type own = NC_NAT;
        check(nc_inq_vartype(ncid_, varid, &own));
        std::string converted(static_cast<std::size_t>(volume(count)) * size_of(own), '\0');
        const int code = convert(type, values, own, converted.data(), volume(count), fill);
        if (code != NC_NOERR && code != NC_ERANGE) check(code);
        put_values(varid, start, count, stride, converted);
        check(code);
    });
}

}  // namespace thalweg::nc
