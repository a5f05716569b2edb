// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "nc/base/memory_order.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage.hpp"
#include "nc/state/library_file.hpp"

namespace thalweg::netcdf::engine {

// ---- files --------------------------------------------------------------------------------------

// Without other ranks, a program may have readers that look for the file while it is written.
File::File(Session& session, std::string path)
    : definitions(std::move(path), Definitions::Attributes::of_each),
      state(session, definitions, 0, session.comm() == MPI_COMM_NULL ? "; publish=live" : "",
            State::Existing::by_library, nullptr) {}

std::string File::place() const {
    const std::string part = path() + ".part";
    return access(part.c_str(), F_OK) == 0 ? part : path();
}

void File::settle() { settled_ = ended_ = table().variables.size(); }

void File::sync() {
    nc::sync(puts);
    settle();
}

void File::close_and_wait() {
    close(puts);
    state.session.check(tw_wait(state.session.handle(), 0));
}

// ---- definitions --------------------------------------------------------------------------------

void File::enddef() {
    if (!definitions.in_define_mode())
        throw Error{NC_ENOTINDEFINE, path() + " is not in define mode"};
    for (const Variable& v : table().variables)
        if (const Attribute* const fill = v.attributes.get(fill_attribute))
            if (fill->type != v.type || fill->n != 1)
                throw Error{NC_EBADTYPE,
                            path() + ": _FillValue of " + v.name + " is not one value of its type"};
    end_definitions(puts);
    settle();
}

int File::def_dim(const std::string& name, std::size_t length) {
    const Format format = definitions.format;
    const bool small = format == Format::cdf1 || format == Format::cdf2;
    if (static_cast<Index>(length) < 0 || (small && length > 0x7ffffffcU)) {
        definitions.need_define();
        throw Error{NC_EDIMSIZE,
                    path() + ": dimension " + name + " has the length " + std::to_string(length)};
    }
    return definitions.def_dim(name, static_cast<Index>(length));
}

int File::def_var(const std::string& name, int type, std::vector<int> dims) {
    if (definitions.format == Format::netcdf4_classic && type > NC_DOUBLE && type <= NC_STRING)
        throw Error{NC_ESTRICTNC3, path() + ": variable " + name +
                                       ": the classic model has no type " + std::to_string(type)};
    constexpr std::size_t most_of_hdf5 = 32;  // dimensions
    if (is_netcdf4() && dims.size() > most_of_hdf5)
        throw Error{NC_EMAXDIMS, path() + ": variable " + name + " has too many dimensions"};
    const int id = definitions.def_var(name, type, std::move(dims));
    table().variable(id).storage.no_fill = definitions.fill_mode == NC_NOFILL;
    return id;
}

int File::put_att(int varid, const std::string& name, int type, std::size_t n, const void* values,
                  int memory_type) {
    definitions.need_write();
    const auto fail = [&](int code, const std::string& what) {
        throw Error{code, path() + ": attribute " + name + ": " + what};
    };
    if (definitions.format == Format::netcdf4_classic && type > NC_DOUBLE && type <= NC_STRING)
        fail(NC_ESTRICTNC3, "the classic model has no type " + std::to_string(type));
    if (size_of(type) == 0 || (has_classic_types(definitions.format) && type > NC_DOUBLE))
        fail(NC_EBADTYPE, "the format has no type " + std::to_string(type));
    if (n > INT_MAX) fail(NC_EINVAL, "has too many values");
    if (n > 0 && values == nullptr) fail(NC_EINVAL, "the pointer to the values is NULL");
    // PnetCDF, which writes classic files with a communicator, checks fill values at once, too.
    const bool is_fill = name == fill_attribute && varid != NC_GLOBAL;
    if (is_fill && (is_netcdf4() || call_.parallel) && n != 1) fail(NC_EINVAL, "is not one value");
    if (is_fill && !is_netcdf4() && call_.parallel && type != table().variable(varid).type)
        fail(NC_EBADTYPE, "has another type than its variable");
    if (is_fill && is_netcdf4()) {
        const auto at = static_cast<std::size_t>(varid);
        // With independent access, other ranks may have put. A wrong type has an error of its own.
        const auto others = [&] {
            return !is_collective(varid) && type == table().variable(varid).type;
        };
        if (at < ended_ ||
            (at < settled_ && (!definitions.is_new() || puts.has_put(varid) || others())))
            fail(NC_ELATEFILL, "comes too late");
    }
    Attribute a{name, type, static_cast<Index>(n), std::string(n * size_of(type), '\0')};
    const int code = convert(memory_type == NC_NAT ? type : memory_type, values, type,
                             a.bytes.data(), a.n, "", has_classic_types(definitions.format));
    if (code != NC_NOERR && code != NC_ERANGE)
        fail(code, "text cannot be converted to numbers, nor numbers to text");
    definitions.put_att(varid, std::move(a));
    return code;
}

Storage& File::storage_to_change(int varid) {
    definitions.need_write();
    const Variable& v = table().variable(varid);
    if (static_cast<std::size_t>(varid) < settled_)
        throw Error{!is_netcdf4() ? NC_ENOTINDEFINE : NC_ELATEDEF,
                    path() + ": variable " + v.name + " is in the file already"};
    return definitions.storage(varid);
}

// Returns the storage of a variable: for a file that is read, as the library reports it; for one
// that is written, as at the last sync.
Storage File::storage_of(int varid) {
    Variable& v = table().variable(varid);
    if (state.kind() != State::Kind::reading || !definitions.in_file(varid) || v.storage.of_file)
        return expected_storage(table(), v);
    Variable named = v;  // with the name that it has in the file
    for (const Edit& e : definitions.changes.edits)
        if (e.kind == Edit::Kind::rename_variable && e.id == varid) {
            named.name = e.name;
            break;
        }
    v.storage = storage_in_file(named, state.session, state.file(), state.path());
    return v.storage;
}

// ---- access -------------------------------------------------------------------------------------

bool File::is_collective(int varid) const {
    if (state.session.ranks() == 1) return true;
    if (is_netcdf4() && definitions.table.variable(varid).storage.filtered())
        return true;  // netCDF-C writes filtered variables only collectively
    return is_set_collective(varid);
}

bool File::is_known(int varid) const {
    return varid >= 0 && static_cast<std::size_t>(varid) < definitions.table.variables.size();
}

// Tests if a put or get is collective. A wrong variable may stand for any.
bool File::calls_together(int varid) const {
    if (is_known(varid)) return is_collective(varid);
    for (std::size_t i = 0; i < definitions.table.variables.size(); i++)
        if (is_collective(static_cast<int>(i))) return true;
    return false;
}

bool File::is_set_collective(int varid) const {
    const auto at = static_cast<std::size_t>(!is_netcdf4() ? 0 : varid);
    return at < collective_.size() && collective_[at];
}

void File::set_access(int varid, int access) {
    if (access != 0 && access != 1)  // NC_INDEPENDENT, NC_COLLECTIVE
        throw Error{NC_EINVAL, path() + ": there is no access " + std::to_string(access)};
    if (is_netcdf4()) {
        const Variable& v = table().variable(varid);
        if (access == 0 && v.storage.filtered())
            throw Error{NC_EINVAL,
                        path() + ": variable " + v.name + " has filters: its access is collective"};
    }
    const auto at = static_cast<std::size_t>(!is_netcdf4() ? 0 : varid);
    if (collective_.size() <= at) collective_.resize(at + 1);
    if (collective_[at] != (access != 0)) puts.stop_passing();
    collective_[at] = access != 0;
}

// ---- data ---------------------------------------------------------------------------------------

void File::need_data_mode() {
    if (!definitions.in_define_mode()) return;
    if (definitions.format != Format::netcdf4)
        throw Error{NC_EINDEFINE, path() + " is in define mode"};
    definitions.set_define_mode(false);
    definitions.remember();
    settled_ = table().variables.size();
}

Variable& File::variable_for_data(int varid) {
    if (varid == NC_GLOBAL && !is_netcdf4())
        throw Error{NC_EGLOBAL, path() + ": NC_GLOBAL has no data"};
    return table().variable(varid);
}

Index File::length_of(int dimid) {
    return dimid == table().unlimited() ? puts.records() : table().dimension(dimid).length;
}

namespace {

Section section_of(const std::string& path, const Variable& v, const Request& r) {
    const std::size_t n = v.dims.size();
    const auto fail = [&](int code, const char* what) {
        throw Error{code, path + ": variable " + v.name + ": " + what};
    };
    if ((r.type == NC_CHAR) != (v.type == NC_CHAR) || size_of(r.type) == 0)
        fail(NC_ECHAR, "text cannot be converted to numbers, nor numbers to text");
    if (n > 0 && r.start == nullptr) fail(NC_EINVALCOORDS, "start is NULL");
    if (n > 0 && r.count == nullptr) fail(NC_EEDGE, "count is NULL");
    Section s;
    s.start.assign(r.start, r.start + n);
    s.count.assign(r.count, r.count + n);
    if (r.stride != nullptr) s.stride.assign(r.stride, r.stride + n);
    if (std::any_of(s.stride.begin(), s.stride.end(), [](Index step) { return step < 1; }))
        fail(NC_ESTRIDE, "a stride is below 1");
    return s;
}

}  // namespace

int File::put(Request r, const void* values) {
    definitions.need_write();
    need_data_mode();
    const bool together = calls_together(r.varid);
    Entry entry;
    int code = NC_NOERR;
    try {
        const Variable& v = variable_for_data(r.varid);
        if (r.type == NC_NAT) r.type = v.type;
        const Section s = section_of(path(), v, r);
        check_section(definitions, v, s.start.data(), s.count.data(), s.steps(), false);
        const Index n = volume(s.count);
        if (n > 0 && values == nullptr)
            throw Error{NC_EINVAL,
                        path() + ": variable " + v.name + ": the pointer to the values is NULL"};
        if (!together && is_netcdf4() && n > 0 && table().is_record(v) &&
            s.start[0] + (s.count[0] - 1) * (s.stride.empty() ? 1 : s.stride[0]) >= puts.records())
            throw Error{NC_ECANTEXTEND, path() + ": variable " + v.name +
                                            ": records can be added with collective access only"};
        const bool dense = is_dense(s.count, r.map);
        entry = {r.varid, together, s.start, s.count, s.stride, static_cast<const char*>(values)};
        if (!together && dense && r.type == v.type && puts.put_at_once(entry)) return NC_NOERR;
        if (n > 0 && (!together || state.session.ranks() == 1)) puts.make_room(r.varid, s);
        // The joint calls in puts.put_at_once() and puts.make_room() may have replaced the
        // definitions.
        const Variable& now = table().variable(r.varid);
        if (n > 0 && !(dense && r.type == now.type && together && puts.borrows(entry))) {
            char* const own =
                puts.take(n * static_cast<Index>(size_of(now.type)), size_of(now.type));
            code = convert_from({r.type, values, s.count, r.map}, now.type, own,
                                nc::Table::fill_of(now), has_classic_types(definitions.format),
                                puts.pack(entry));
            entry.values = own;
        }
    } catch (...) {
        if (together) puts.put_nothing(is_known(r.varid) ? r.varid : -1);
        throw;
    }
    puts.put(std::move(entry));
    return code;
}

int File::get(Request r, void* values) {
    need_data_mode();
    const bool together = calls_together(r.varid);
    const int all_read = together ? puts.begin_get(is_known(r.varid) ? r.varid : -1) : -1;
    Section s;
    std::string read;
    try {
        const Variable& v = variable_for_data(r.varid);
        if (r.type == NC_NAT) r.type = v.type;
        if (!together) puts.records();
        s = section_of(path(), v, r);
        const bool beyond = !is_netcdf4() && table().is_record(v);
        if (beyond && s.start[0] + (s.count[0] > 0 ? 1 : 0) > table().length(v.dims[0]))
            throw Error{NC_EEDGE, path() + ": variable " + v.name + ": there is no such record"};
        check_section(definitions, v, s.start.data(), s.count.data(), s.steps(), true);
        const Index n = volume(s.count);
        if (n > 0 && values == nullptr)
            throw Error{NC_EINVAL,
                        path() + ": variable " + v.name + ": the pointer to the array is NULL"};
        if (!is_dense(s.count, r.map) || r.type != v.type)
            read.resize(static_cast<std::size_t>(n) * size_of(v.type));
    } catch (...) {
        if (all_read >= 0) puts.get_nothing(all_read);
        throw;
    }
    const bool direct = read.empty();
    void* const to = direct ? values : read.data();
    if (together)
        puts.get(r.varid, s, to);
    else
        puts.get_alone(r.varid, s, to);
    if (direct) return NC_NOERR;
    return convert_to({r.type, values, s.count, r.map}, table().variable(r.varid).type, read.data(),
                      has_classic_types(definitions.format));
}

}  // namespace thalweg::netcdf::engine
