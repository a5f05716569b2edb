// SPDX-License-Identifier: Apache-2.0
#include "nc/fallback/edits.hpp"

#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "nc/base/boxes.hpp"
#include "nc/fallback/by_netcdf.hpp"

namespace thalweg::nc {

namespace {

int make(int ncid, const Edit& edit, const Table& table) {
    switch (edit.kind) {
        case Edit::Kind::dimension: {
            Dimension d = table.dimensions[static_cast<std::size_t>(edit.id)];
            d.name = edit.name;
            return define_dimension(OwnNetcdf{}, ncid, d);
        }
        case Edit::Kind::variable: {
            Variable v = table.variables[static_cast<std::size_t>(edit.id)];
            v.name = edit.name;
            return define_variable(OwnNetcdf{}, ncid, v);
        }
        case Edit::Kind::attribute:
            return define_attribute(OwnNetcdf{}, ncid, edit.id, edit.attribute);
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

// Checks that netCDF-C can read the file: after some renames, netCDF-C 4.9.0 leaves netCDF-4 files
// that it cannot read.
void check_readable(const std::string& path, const Table& table) {
    int ncid = -1, nd = 0, dims[NC_MAX_VAR_DIMS] = {0};
    bool same = nc_open(path.c_str(), NC_NOWRITE, &ncid) == NC_NOERR;
    same = same && has_same_ids(OwnNetcdf{}, ncid, table);
    for (std::size_t v = 0; same && v < table.variables.size(); v++)
        same = nc_inq_var(ncid, static_cast<int>(v), nullptr, nullptr, &nd, dims, nullptr) == 0;
    if (ncid >= 0) nc_close(ncid);
    if (!same)
        throw Error{NC_EHDFERR,
                    path +
                        ": netCDF-C cannot read the file with the changed definitions, which "
                        "are dropped (it cannot rename all dimensions and variables)"};
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
        define_all(OwnNetcdf{}, fresh, table, to);
        check_code(nc_enddef(fresh), to, "definitions");
        for (int v = 0; v < n; v++)
            copy_values(old, fresh, v, table.variables[static_cast<std::size_t>(v)]);
    });
    nc_close(old);
    const int closed = fresh >= 0 ? nc_close(fresh) : NC_NOERR;
    if (error.code != 0) throw error;
    check_code(closed, to, "close");
}

// Makes edits in the file `path` in place.
void make_edits(const std::string& path, const std::vector<Edit>& edits, const Table& table) {
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

bool has_renames(const std::vector<Edit>& edits) {
    return std::any_of(edits.begin(), edits.end(), [](const Edit& e) {
        return e.kind == Edit::Kind::rename_variable || e.kind == Edit::Kind::rename_dimension;
    });
}

}  // namespace

bool edit_in_place(const std::string& path, const std::vector<Edit>& edits, const Table& table) {
    if (has_renames(edits)) return false;
    make_edits(path, edits, table);
    return true;
}

// Edits a copy of the file. netCDF-C moves data within a file, so a killed run could otherwise
// leave neither the old nor the new file.
void edit_file(const std::string& path, const std::vector<Edit>& edits, const Table& table,
               bool netcdf4, WorkFile::Lock lock) {
    WorkFile work(path, WorkFile::Begin::copy, lock);
    const Error error = error_of([&] { make_edits(work.path(), edits, table); });
    if (error.code != 0) {
        // netCDF-C cannot rename all objects, and numbers dimensions otherwise when they get a
        // variable.
        if (!netcdf4 || (!has_renames(edits) && error.code != NC_EHDFERR)) throw error;
        write_anew(path, work.path(), table);
        check_readable(work.path(), table);
    }
    work.publish();
}

}  // namespace thalweg::nc
