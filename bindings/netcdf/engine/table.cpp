// The engine's table: files, dimensions, attributes, variables, data, groups and types.
// storage_entries.cpp has the entries for netCDF-4's storage. The engine has the root group and the
// atomic types; a file in which a program defines others is passed to the real library.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <cstdint>

#include "files.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage.hpp"

namespace thalweg::netcdf::engine {

namespace {

// ---- files --------------------------------------------------------------------------------------

void redef(File& file) { file.definitions.begin(); }

void enddef(File& file, std::size_t header_free, std::size_t fixed_align, std::size_t fixed_free,
            std::size_t record_align) {
    for (const std::size_t n : {header_free, fixed_align, fixed_free, record_align})
        if (!file.is_netcdf4() && static_cast<std::ptrdiff_t>(n) < 0)
            throw Error{NC_EINVAL, file.path() + ": a negative alignment"};
    if (!file.is_netcdf4() &&
        (header_free > 0 || fixed_align > 1 || fixed_free > 0 || record_align > 1)) {
        const auto words = [](std::size_t n) { return static_cast<std::int64_t>(n); };
        file.definitions.spacing = {words(header_free), words(fixed_align), words(fixed_free),
                                    words(record_align)};
    }
    file.enddef();
}

void sync(File& file) { file.sync(); }

int abort(int ncid) {
    return attempt([&] { end_file(remove_file(ncid), [](File& file) { abort(file.puts); }); });
}

int close(int ncid, void*) {
    return attempt([&] { end_file(remove_file(ncid), [](File& file) { close(file.puts); }); });
}

void set_fill(File& file, int mode, int* old) {
    set(old, nc::set_fill(file.definitions, mode));
    if (file.is_netcdf4()) return;
    for (Variable& v : file.table().variables) v.storage.no_fill = mode == NC_NOFILL;
}

void inq_format(File& file, int* format) { set(format, number_of(file.definitions.format)); }

void inq_format_extended(File& file, int* format, int* mode) {
    const Call& call = file.call();
    if (!file.is_netcdf4()) {
        set(format, call.parallel ? NC_FORMATX_PNETCDF : NC_FORMATX_NC3);
        set(mode, call.mode & (NC_64BIT_OFFSET | NC_64BIT_DATA));
    } else {
        set(format, NC_FORMATX_NC_HDF5);
        set(mode, NC_NETCDF4 | (file.definitions.format == Format::netcdf4 ? 0 : NC_CLASSIC_MODEL));
    }
}

void inq(File& file, int* dims, int* vars, int* attributes, int* unlimited) {
    const nc::Table& t = file.table();
    set(dims, t.dimensions.size());
    set(vars, t.variables.size());
    set(attributes, t.attributes.size());
    set(unlimited, t.unlimited());
}

void inq_type(File&, int type, char* name, std::size_t* size) {
    if (size_of(type) == 0) throw Error{NC_EBADTYPE, "there is no type " + std::to_string(type)};
    set(name, std::string(name_of_type(type)));
    set(size, size_of(type));
}

// ---- dimensions ---------------------------------------------------------------------------------

void def_dim(File& file, const char* name, std::size_t length, int* id) {
    if (length == NC_UNLIMITED && file.definitions.format == Format::netcdf4 &&
        file.table().unlimited() >= 0)
        throw Leave{std::string("'") + name + "' is a second unlimited dimension"};
    set(id, file.def_dim(name, length));
}

void inq_dimid(File& file, const char* name, int* id) {
    set(id, file.table().dimension_named(name));
}

void inq_dim(File& file, int dimid, char* name, std::size_t* length) {
    const Dimension& d = file.table().dimension(dimid);
    set(name, d.name);
    if (length != nullptr) *length = static_cast<std::size_t>(file.length_of(dimid));
}

void inq_unlimdim(File& file, int* id) { inq(file, nullptr, nullptr, nullptr, id); }

void inq_unlimdims(File& file, int* n, int* ids) {
    int found = 0;
    const std::vector<Dimension>& all = file.table().dimensions;
    for (std::size_t d = 0; d < all.size(); d++) {
        if (!all[d].unlimited) continue;
        if (ids != nullptr) ids[found] = static_cast<int>(d);
        found++;
    }
    set(n, found);
}

void rename_dim(File& file, int dimid, const char* name) {
    file.definitions.rename_dim(dimid, name);
}

// ---- attributes ---------------------------------------------------------------------------------

void inq_att(File& file, int varid, const char* name, int* type, std::size_t* n) {
    const Attribute& a = file.table().attribute(varid, name);
    set(type, a.type);
    set(n, static_cast<std::size_t>(a.n));
}

void inq_attid(File& file, int varid, const char* name, int* id) {
    set(id, file.table().number_of_attribute(varid, name));
}

void inq_attname(File& file, int varid, int number, char* name) {
    set(name, file.table().attribute(varid, number).name);
}

void rename_att(File& file, int varid, const char* name, const char* new_name) {
    file.definitions.rename_att(varid, name, new_name);
}

void del_att(File& file, int varid, const char* name) { file.definitions.del_att(varid, name); }

int get_att(File& file, int varid, const char* name, void* values, int memory_type) {
    const Attribute& a = file.table().attribute(varid, name);
    return convert(a.type, a.bytes.data(), memory_type == NC_NAT ? a.type : memory_type, values,
                   a.n, "", has_classic_types(file.definitions.format));
}

int put_att(File& file, int varid, const char* name, int type, std::size_t n, const void* values,
            int memory_type) {
    if (type > NC_STRING && file.is_netcdf4())
        throw Error{NC_EBADTYPID, "there is no type " + std::to_string(type)};
    if (type == NC_STRING && file.definitions.format == Format::netcdf4)
        throw Leave{std::string("attribute '") + name + "' has strings"};
    return file.put_att(varid, name, type, n, values, memory_type);
}

// ---- variables ----------------------------------------------------------------------------------

// Throws Leave if the engine cannot write a variable with these properties.
void check_variable(File& file, const char* name, int type, int n, const int* dims) {
    if (file.definitions.format != Format::netcdf4) return;
    const std::string variable = std::string("variable '") + name + "'";
    if (type == NC_STRING) throw Leave{variable + " has strings"};
    for (int d = 0; d < n; d++)
        if (file.table().dimension(dims[d]).unlimited && d > 0)
            throw Leave{"the record dimension of " + variable + " is not the first"};
}

void def_var(File& file, const char* name, int type, int n, const int* dims, int* id) {
    if (n < 0 || (n > 0 && dims == nullptr))
        throw Error{NC_EINVAL, std::string(name) + ": the dimensions are missing"};
    if (n > NC_MAX_VAR_DIMS)
        throw Error{NC_EMAXDIMS, std::string(name) + ": has too many dimensions"};
    check_variable(file, name, type, n, dims);
    set(id, file.def_var(name, type, std::vector<int>(dims, dims + n)));
}

void inq_varid(File& file, const char* name, int* id) {
    set(id, file.table().variable_named(name));
}

void rename_var(File& file, int varid, const char* name) {
    file.definitions.rename_var(varid, name);
}

bool has_checksums(const Storage& s) {
    return std::any_of(s.others.begin(), s.others.end(),
                       [](const Filter& f) { return f.id == fletcher_filter; });
}

int inq_var_all(File& file, int varid, char* name, int* type, int* n, int* dims, int* attributes,
                int* shuffle, int* deflate, int* level, int* fletcher32, int* contiguous,
                std::size_t* chunks, int* no_fill, void* fill, int* endian, unsigned* filter,
                std::size_t* parameters, unsigned* values) {
    if (varid == NC_GLOBAL && attributes != nullptr && type == nullptr && n == nullptr) {
        set(attributes, file.table().attributes.size());
        return 0;
    }
    const Variable& v = file.table().variable(varid);
    set(name, v.name);
    set(type, v.type);
    set(n, v.dims.size());
    if (dims != nullptr) std::copy(v.dims.begin(), v.dims.end(), dims);
    set(attributes, v.attributes.size());
    set(no_fill, v.storage.no_fill ? 1 : 0);
    if (fill != nullptr && !(v.storage.no_fill && file.is_netcdf4())) {
        const std::string bytes = nc::Table::fill_of(v);
        std::copy(bytes.begin(), bytes.end(), static_cast<char*>(fill));
    }
    const bool asked = shuffle != nullptr || deflate != nullptr || level != nullptr ||
                       fletcher32 != nullptr || contiguous != nullptr || chunks != nullptr ||
                       endian != nullptr || filter != nullptr || parameters != nullptr;
    if (!asked) return 0;
    Storage s;
    s.layout = NC_CONTIGUOUS;
    if (file.is_netcdf4()) s = file.storage_of(varid);
    set(shuffle, s.shuffle);
    set(deflate, s.deflate);
    set(level, s.level);
    set(fletcher32, has_checksums(s) ? 1 : 0);
    set(contiguous, s.layout == NC_CONTIGUOUS ? 1 : 0);
    if (chunks != nullptr && s.layout == NC_CHUNKED)
        std::copy(s.chunks.begin(), s.chunks.end(), chunks);
    if (!file.is_netcdf4() && (endian != nullptr || filter != nullptr)) return NC_ENOTNC4;
    set(endian, s.endian);
    const std::vector<Filter> filters = filters_of(s);
    const Filter first = filters.empty() ? Filter{} : filters.front();
    set(filter, first.id);
    set(parameters, first.parameters.size());
    if (values != nullptr) std::copy(first.parameters.begin(), first.parameters.end(), values);
    return 0;
}

int var_par_access(int ncid, int varid, int access) {
    // Needs no lock, because it changes nothing that files share.
    return attempt([&] { file_of(ncid).set_access(varid, access); });
}

// ---- data ---------------------------------------------------------------------------------------

int put_varm(File& file, int varid, Lengths start, Lengths count, Steps stride, Steps map,
             const void* values, int type) {
    return file.put({varid, start, count, stride, map, type}, values);
}

int get_varm(File& file, int varid, Lengths start, Lengths count, Steps stride, Steps map,
             void* values, int type) {
    return file.get({varid, start, count, stride, map, type}, values);
}

int put_vars(File& f, int varid, Lengths start, Lengths count, Steps stride, const void* values,
             int type) {
    return f.put({varid, start, count, stride, nullptr, type}, values);
}

int get_vars(File& f, int varid, Lengths start, Lengths count, Steps stride, void* values,
             int type) {
    return f.get({varid, start, count, stride, nullptr, type}, values);
}

int put_vara(File& f, int varid, Lengths start, Lengths count, const void* values, int type) {
    return f.put({varid, start, count, nullptr, nullptr, type}, values);
}

int get_vara(File& f, int varid, Lengths start, Lengths count, void* values, int type) {
    return f.get({varid, start, count, nullptr, nullptr, type}, values);
}

// ---- the root group -----------------------------------------------------------------------------

int inq_ncid(File& file, const char*, int* group) {
    if (file.is_netcdf4()) return NC_ENOGRP;
    set(group, file.ncid);
    return 0;
}

void inq_grps(File&, int* n, int*) { set(n, 0); }

void inq_grpname(File&, char* name) { set(name, std::string("/")); }

void inq_grpname_full(File&, std::size_t* n, char* name) {
    set(n, std::size_t{1});
    set(name, std::string("/"));
}

int inq_grp_parent(File&, int*) { return NC_ENOGRP; }

int inq_grp_full_ncid(File& file, const char* name, int* group) {
    if (file.is_netcdf4() && name != nullptr && std::string(name) != "/") return NC_ENOGRP;
    set(group, file.ncid);
    return 0;
}

void count(int* n, int* ids, std::size_t size) {
    set(n, size);
    for (std::size_t i = 0; ids != nullptr && i < size; i++) ids[i] = static_cast<int>(i);
}

void inq_varids(File& file, int* n, int* ids) { count(n, ids, file.table().variables.size()); }

void inq_dimids(File& file, int* n, int* ids, int) {
    count(n, ids, file.table().dimensions.size());
}

void inq_type_equal(File&, int type, int, int other_type, int* equal) {
    set(equal, type == other_type ? 1 : 0);
}

int inq_typeid(File& file, const char* name, int* type) {
    for (int t = NC_BYTE; t <= NC_UINT64; t++)
        if (name != nullptr && name == std::string(name_of_type(t))) return set(type, t), 0;
    return file.is_netcdf4() ? NC_EBADTYPE : NC_ENOTNC4;
}

// ---- what the engine does not have --------------------------------------------------------------

std::string named(const char* what, const char* name) {
    return std::string(what) + " '" + (name == nullptr ? "" : name) + "'";
}

void def_grp(File&, const char* name, int*) { throw Leave{named("group", name)}; }

int rename_grp(File& file, const char*) { return file.is_netcdf4() ? NC_EBADGRPID : NC_ENOTNC4; }

void def_compound(File&, std::size_t, const char* name, int*) { throw Leave{named("type", name)}; }

void def_vlen(File&, const char* name, int, int*) { throw Leave{named("type", name)}; }

void def_enum(File&, int, const char* name, int*) { throw Leave{named("type", name)}; }

void def_opaque(File&, std::size_t, const char* name, int*) { throw Leave{named("type", name)}; }

// Answers calls about types that the file does not have.
template <class... Arguments>
int no_type(int ncid, Arguments...) {
    return on_file(ncid, [](File& file) { return file.is_netcdf4() ? NC_EBADTYPE : NC_ENOTNC4; });
}

Table make() {
    Table t{};
    t.abort = abort;
    t.close = close;
    t.var_par_access = var_par_access;
    t._enddef = OnFile<&Table::_enddef, enddef>::call;
#define X(name) t.name = OnFile<&Table::name, name>::call
    X(redef), X(sync), X(set_fill), X(inq_format), X(inq_format_extended), X(inq), X(inq_type),
        X(def_dim), X(inq_dimid), X(inq_dim), X(inq_unlimdim), X(rename_dim), X(inq_att),
        X(inq_attid), X(inq_attname), X(rename_att), X(del_att), X(get_att), X(put_att), X(def_var),
        X(inq_varid), X(rename_var), X(get_vara), X(put_vara), X(get_vars), X(put_vars),
        X(get_varm), X(put_varm), X(inq_var_all), X(inq_unlimdims), X(inq_ncid), X(inq_grps),
        X(inq_grpname), X(inq_grpname_full), X(inq_grp_parent), X(inq_grp_full_ncid), X(inq_varids),
        X(inq_dimids), X(inq_type_equal), X(inq_typeid), X(def_grp), X(rename_grp), X(def_compound),
        X(def_vlen), X(def_enum), X(def_opaque);
#undef X
    t.inq_typeids = t.inq_grps;
#define X(name) t.name = no_type
    X(inq_user_type), X(insert_compound), X(insert_array_compound), X(inq_compound_field),
        X(inq_compound_fieldindex), X(put_vlen_element), X(get_vlen_element), X(insert_enum),
        X(inq_enum_member), X(inq_enum_ident);
#undef X
    t.model = NC_FORMATX_UDF1;
    t.dispatch_version = 5;
    add_storage(t);
    return t;
}

}  // namespace

}  // namespace thalweg::netcdf::engine

namespace thalweg::netcdf {

const Table engine_table = engine::make();

int engine_begin(Call& call, int ncid) {
    const MPI_Comm comm = call.parallel ? call.comm : MPI_COMM_NULL;
    return engine::attempt([&] {
        try {
            engine::add_file(ncid, call.create ? engine::File::create(call, comm)
                                               : engine::File::open(call, comm));
        } catch (const nc::Error& error) {
            if (error.code == step_aside) call.reason = error.text;
            throw;
        }
    });
}

bool engine_prepare(const char* path, int mode, Use use) {
    engine::wait_for_closing();
    if (use != Use::open) return false;
    if (engine::File* const own = engine::find_written(path))
        return engine::is_redirected(*own, mode);
    nc::recover_killed(path);
    return false;
}

void engine_finish() { engine::tell_unclosed_files(); }

}  // namespace thalweg::netcdf
