// The engine's table: files, dimensions, attributes, variables, data. storage_entries.cpp has the
// entries for netCDF-4's storage, groups_and_types.cpp those for groups and types.
//
// SPDX-License-Identifier: Apache-2.0
#include "entries.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cstdint>

#include "contents.hpp"
#include "files.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage.hpp"

namespace thalweg::netcdf::engine {

namespace {

// ---- files --------------------------------------------------------------------------------------

template <class Make>
int begin(void* parameters, int ncid, Make make) {
    Call& call = *static_cast<Call*>(parameters);
    return attempt([&] { add_file(ncid, make(call, call.parallel ? call.comm : MPI_COMM_NULL)); });
}

int create(const char*, int, std::size_t, int, std::size_t*, void* parameters, const Table*,
           int ncid) {
    return begin(parameters, ncid, File::create);
}

int open(const char*, int, int, std::size_t*, void* parameters, const Table*, int ncid) {
    return begin(parameters, ncid, File::open);
}

int redef(int ncid) {
    return on_file(ncid, [](File& file) { file.definitions.begin(); });
}

int enddef(int ncid, std::size_t header_free, std::size_t fixed_align, std::size_t fixed_free,
           std::size_t record_align) {
    return on_file(ncid, [&](File& file) {
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
    });
}

int sync(int ncid) {
    return on_file(ncid, [](File& file) { file.sync(); });
}

int abort(int ncid) {
    return attempt([&] { end_file(remove_file(ncid), [](File& file) { abort(file.puts); }); });
}

int close(int ncid, void*) {
    return attempt([&] { end_file(remove_file(ncid), [](File& file) { close(file.puts); }); });
}

int set_fill(int ncid, int mode, int* old) {
    return on_file(ncid, [&](File& file) {
        set(old, nc::set_fill(file.definitions, mode));
        if (file.is_netcdf4()) return;
        for (Variable& v : file.table().variables) v.storage.no_fill = mode == NC_NOFILL;
    });
}

int inq_format(int ncid, int* format) {
    return on_file(ncid, [&](File& file) { set(format, number_of(file.definitions.format)); });
}

int inq_format_extended(int ncid, int* format, int* mode) {
    return on_file(ncid, [&](File& file) {
        const Call& call = file.call();
        if (!file.is_netcdf4()) {
            set(format, call.parallel ? NC_FORMATX_PNETCDF : NC_FORMATX_NC3);
            set(mode, call.mode & (NC_64BIT_OFFSET | NC_64BIT_DATA));
        } else {
            set(format, NC_FORMATX_NC_HDF5);
            set(mode,
                NC_NETCDF4 | (file.definitions.format == Format::netcdf4 ? 0 : NC_CLASSIC_MODEL));
        }
    });
}

int inq(int ncid, int* dims, int* vars, int* attributes, int* unlimited) {
    return on_file(ncid, [&](File& file) {
        const nc::Table& t = file.table();
        set(dims, static_cast<int>(t.dimensions.size()));
        set(vars, static_cast<int>(t.variables.size()));
        set(attributes, static_cast<int>(t.attributes.size()));
        set(unlimited, t.unlimited());
    });
}

int inq_type(int ncid, int type, char* name, std::size_t* size) {
    return on_file(ncid, [&](File&) {
        if (size_of(type) == 0)
            throw Error{NC_EBADTYPE, "there is no type " + std::to_string(type)};
        set(name, std::string(name_of_type(type)));
        set(size, size_of(type));
    });
}

// ---- dimensions ---------------------------------------------------------------------------------

int def_dim(int ncid, const char* name, std::size_t length, int* id) {
    bool second = false;
    const int code = on_file(ncid, [&](File& file) {
        second = length == NC_UNLIMITED && file.definitions.format == Format::netcdf4 &&
                 file.table().unlimited() >= 0;
        if (!second) set(id, file.def_dim(name, length));
    });
    if (!second) return code;
    const int left = attempt(
        [&] { return leave(ncid, std::string("'") + name + "' is a second unlimited dimension"); });
    return left != 0 ? left : file_table().def_dim(ncid, name, length, id);
}

int inq_dimid(int ncid, const char* name, int* id) {
    return on_file(ncid, [&](File& file) { set(id, file.table().dimension_named(name)); });
}

int inq_dim(int ncid, int dimid, char* name, std::size_t* length) {
    return on_file(ncid, [&](File& file) {
        const Dimension& d = file.table().dimension(dimid);
        set(name, d.name);
        if (length != nullptr) *length = static_cast<std::size_t>(file.length_of(dimid));
    });
}

int inq_unlimdim(int ncid, int* id) { return inq(ncid, nullptr, nullptr, nullptr, id); }

int inq_unlimdims(int ncid, int* n, int* ids) {
    return on_file(ncid, [&](File& file) {
        int found = 0;
        const std::vector<Dimension>& all = file.table().dimensions;
        for (std::size_t d = 0; d < all.size(); d++) {
            if (!all[d].unlimited) continue;
            if (ids != nullptr) ids[found] = static_cast<int>(d);
            found++;
        }
        set(n, found);
    });
}

int rename_dim(int ncid, int dimid, const char* name) {
    return on_file(ncid, [&](File& file) { file.definitions.rename_dim(dimid, name); });
}

// ---- attributes ---------------------------------------------------------------------------------

int inq_att(int ncid, int varid, const char* name, int* type, std::size_t* n) {
    return on_file(ncid, [&](File& file) {
        const Attribute& a = file.table().attribute(varid, name);
        set(type, a.type);
        set(n, static_cast<std::size_t>(a.n));
    });
}

int inq_attid(int ncid, int varid, const char* name, int* id) {
    return on_file(ncid,
                   [&](File& file) { set(id, file.table().number_of_attribute(varid, name)); });
}

int inq_attname(int ncid, int varid, int number, char* name) {
    return on_file(ncid,
                   [&](File& file) { set(name, file.table().attribute(varid, number).name); });
}

int rename_att(int ncid, int varid, const char* name, const char* new_name) {
    return on_file(ncid, [&](File& file) { file.definitions.rename_att(varid, name, new_name); });
}

int del_att(int ncid, int varid, const char* name) {
    return on_file(ncid, [&](File& file) { file.definitions.del_att(varid, name); });
}

int get_att(int ncid, int varid, const char* name, void* values, int memory_type) {
    return on_file(ncid, [&](File& file) {
        const Attribute& a = file.table().attribute(varid, name);
        return convert(a.type, a.bytes.data(), memory_type == NC_NAT ? a.type : memory_type, values,
                       a.n, "", has_classic_types(file.definitions.format));
    });
}

int put_att(int ncid, int varid, const char* name, int type, std::size_t n, const void* values,
            int memory_type) {
    bool strings = false;
    const int known = on_file(ncid, [&](File& file) {
        if (type > NC_STRING && file.is_netcdf4())
            throw Error{NC_EBADTYPID, "there is no type " + std::to_string(type)};
        strings = type == NC_STRING && file.definitions.format == Format::netcdf4;
    });
    if (known != 0) return known;
    if (strings) {
        const int left = attempt(
            [&] { return leave(ncid, std::string("attribute '") + name + "' has strings"); });
        return left != 0 ? left
                         : file_table().put_att(ncid, varid, name, type, n, values, memory_type);
    }
    return on_file(
        ncid, [&](File& file) { return file.put_att(varid, name, type, n, values, memory_type); });
}

// ---- variables ----------------------------------------------------------------------------------

// Returns the reason why the engine cannot write a variable with these properties; empty if it can.
std::string beyond(File& file, const char* name, int type, int n, const int* dims) {
    if (file.definitions.format != Format::netcdf4) return "";
    const std::string variable = std::string("variable '") + name + "'";
    if (type == NC_STRING) return variable + " has strings";
    int unlimited = 0;
    for (int d = 0; d < n; d++)
        if (file.table().dimension(dims[d]).unlimited) {
            if (d > 0) return "the record dimension of " + variable + " is not the first";
            unlimited++;
        }
    return "";
}

int def_var(int ncid, const char* name, int type, int n, const int* dims, int* id) {
    std::string reason;
    const int code = on_file(ncid, [&](File& file) {
        if (n < 0 || (n > 0 && dims == nullptr))
            throw Error{NC_EINVAL, std::string(name) + ": the dimensions are missing"};
        if (n > NC_MAX_VAR_DIMS)
            throw Error{NC_EMAXDIMS, std::string(name) + ": has too many dimensions"};
        reason = beyond(file, name, type, n, dims);
        if (reason.empty()) set(id, file.def_var(name, type, std::vector<int>(dims, dims + n)));
    });
    if (code != 0 || reason.empty()) return code;
    const int left = attempt([&] { return leave(ncid, reason); });
    return left != 0 ? left : file_table().def_var(ncid, name, type, n, dims, id);
}

int inq_varid(int ncid, const char* name, int* id) {
    return on_file(ncid, [&](File& file) { set(id, file.table().variable_named(name)); });
}

int rename_var(int ncid, int varid, const char* name) {
    return on_file(ncid, [&](File& file) { file.definitions.rename_var(varid, name); });
}

bool has_checksums(const Storage& s) {
    return std::any_of(s.others.begin(), s.others.end(),
                       [](const Filter& f) { return f.id == fletcher_filter; });
}

int inq_var_all(int ncid, int varid, char* name, int* type, int* n, int* dims, int* attributes,
                int* shuffle, int* deflate, int* level, int* fletcher32, int* contiguous,
                std::size_t* chunks, int* no_fill, void* fill, int* endian, unsigned* filter,
                std::size_t* parameters, unsigned* values) {
    return on_file(ncid, [&](File& file) {
        if (varid == NC_GLOBAL && attributes != nullptr && type == nullptr && n == nullptr) {
            set(attributes, static_cast<int>(file.table().attributes.size()));
            return 0;
        }
        const Variable& v = file.table().variable(varid);
        set(name, v.name);
        set(type, v.type);
        set(n, static_cast<int>(v.dims.size()));
        if (dims != nullptr) std::copy(v.dims.begin(), v.dims.end(), dims);
        set(attributes, static_cast<int>(v.attributes.size()));
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
    });
}

int var_par_access(int ncid, int varid, int access) {
    // Needs no lock, because it changes nothing that files share.
    return attempt([&] { file_of(ncid).set_access(varid, access); });
}

// ---- data ---------------------------------------------------------------------------------------

int put_varm(int ncid, int varid, const std::size_t* start, const std::size_t* count,
             const std::ptrdiff_t* stride, const std::ptrdiff_t* map, const void* values,
             int type) {
    return on_file(ncid, [&](File& file) {
        return file.put({varid, start, count, stride, map, type}, values);
    });
}

int get_varm(int ncid, int varid, const std::size_t* start, const std::size_t* count,
             const std::ptrdiff_t* stride, const std::ptrdiff_t* map, void* values, int type) {
    return on_file(ncid, [&](File& file) {
        return file.get({varid, start, count, stride, map, type}, values);
    });
}

int put_vars(int ncid, int varid, const std::size_t* start, const std::size_t* count,
             const std::ptrdiff_t* stride, const void* values, int type) {
    return put_varm(ncid, varid, start, count, stride, nullptr, values, type);
}

int get_vars(int ncid, int varid, const std::size_t* start, const std::size_t* count,
             const std::ptrdiff_t* stride, void* values, int type) {
    return get_varm(ncid, varid, start, count, stride, nullptr, values, type);
}

int put_vara(int ncid, int varid, const std::size_t* start, const std::size_t* count,
             const void* values, int type) {
    return put_varm(ncid, varid, start, count, nullptr, nullptr, values, type);
}

int get_vara(int ncid, int varid, const std::size_t* start, const std::size_t* count, void* values,
             int type) {
    return get_varm(ncid, varid, start, count, nullptr, nullptr, values, type);
}

Table make() {
    Table t{};
#define X(name) t.name = name
    X(create), X(open), X(redef), X(sync), X(abort), X(close), X(set_fill), X(inq_format),
        X(inq_format_extended), X(inq), X(inq_type), X(def_dim), X(inq_dimid), X(inq_dim),
        X(inq_unlimdim), X(rename_dim), X(inq_att), X(inq_attid), X(inq_attname), X(rename_att),
        X(del_att), X(get_att), X(put_att), X(def_var), X(inq_varid), X(rename_var), X(get_vara),
        X(put_vara), X(get_vars), X(put_vars), X(get_varm), X(put_varm), X(inq_var_all),
        X(var_par_access), X(inq_unlimdims);
#undef X
    t.model = NC_FORMATX_UDF1;
    t.dispatch_version = 5;
    t._enddef = enddef;
    add_storage(t);
    add_groups_and_types(t);
    return t;
}

}  // namespace

}  // namespace thalweg::netcdf::engine

namespace thalweg::netcdf {

const Table engine_table = engine::make();

bool engine_prepare(const char* path, int mode, Use use) {
    engine::wait_for_closing();
    if (use != Use::open) return false;
    if (engine::File* const own = engine::find_written(path))
        return engine::is_redirected(*own, mode);
    engine::recover_killed(path);
    return false;
}

void engine_finish() { engine::tell_unclosed_files(); }

}  // namespace thalweg::netcdf
