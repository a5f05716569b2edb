// SPDX-License-Identifier: Apache-2.0
#include "nc/definitions/definitions.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "nc/base/error.hpp"

namespace thalweg::nc {

// ---- changes ------------------------------------------------------------------------------------

void Changes::rename(Edit::Kind kind, int id, const std::string& old, const std::string& name) {
    if (!recorded) return;
    if (edits.empty() || edits.back().kind != kind || edits.back().id != id)
        edits.push_back({kind, id, old, name, {}});
    edits.back().new_name = name;
    if (edits.back().name == name) edits.pop_back();
}

void Changes::add_fresh(Table& table) {
    for (const auto& [varid, name] : std::exchange(fresh, {}))
        add({Edit::Kind::attribute, varid, "", "", table.attribute(varid, name)});
}

bool Changes::are_attributes() const {
    return std::all_of(edits.begin(), edits.end(),
                       [](const Edit& e) { return e.kind == Edit::Kind::attribute; });
}

// ---- modes --------------------------------------------------------------------------------------

void Definitions::adopt(Format its_format, Table its_table) {
    format = its_format;
    table = std::move(its_table);
    define_ = false;
    written();
}

void Definitions::written() {
    changes.recorded = true;
    variables_in_file_ = table.variables.size();
}

bool Definitions::in_file(int varid) const {
    return !is_new() && static_cast<std::size_t>(varid) < variables_in_file_;
}

void Definitions::need_write() const {
    if (!writable_) throw Error{NC_EPERM, path + " is open for reading"};
}

void Definitions::need_define() {
    need_write();
    if (define_) return;
    if (format != Format::netcdf4) throw Error{NC_ENOTINDEFINE, path + " is not in define mode"};
    begin();
}

void Definitions::begin() {
    need_write();
    if (define_ && format != Format::netcdf4)
        throw Error{NC_EINDEFINE, path + " is in define mode"};
    if (!define_ && attributes == Attributes::of_each) {
        changes.add_fresh(table);
        kept_ = {table, changes.edits};
    }
    define_ = true;
}

void Definitions::end() {
    need_write();
    if (!define_) throw Error{NC_ENOTINDEFINE, path + " is not in define mode"};
    check_sizes(*this);
    define_ = false;
}

void Definitions::remember() {
    ended_once_ = true;
    kept_.reset();
    if (define_) kept_ = {table, changes.edits};
}

void Definitions::undo() {
    if (kept_) {
        const Index records = table.records();
        table = std::move(kept_->table);
        changes.edits = std::move(kept_->edits);
        table.set_records(records);
    }
    kept_.reset();
    changes.fresh.clear();
    define_ = false;
}

void check_sizes(const Definitions& definitions) {
    const Format format = definitions.format;
    const Table& table = definitions.table;
    if (format != Format::cdf1 && format != Format::cdf2) return;
    const double most = format == Format::cdf1 ? 2147483647.0 : 4294967292.0;
    double begin = 0;
    for (const Variable& v : table.variables) {
        double bytes = static_cast<double>(size_of(v.type));
        for (const int d : v.dims)
            if (!table.dimensions[static_cast<std::size_t>(d)].unlimited)
                bytes *= static_cast<double>(table.length(d));
        const bool last = &v == &table.variables.back();
        if ((bytes > most && !last) || (format == Format::cdf1 && begin > most))
            throw Error{NC_EVARSIZE, definitions.path + ": variable " + v.name +
                                         " is too large for " + name_of(format) +
                                         "; use CDF-5 (64-bit data)"};
        begin += bytes;
    }
}

int set_fill(Definitions& definitions, int mode) {
    definitions.need_write();
    if (mode != NC_FILL && mode != NC_NOFILL)
        throw Error{NC_EINVAL,
                    definitions.path + ": there is no fill mode " + std::to_string(mode)};
    return std::exchange(definitions.fill_mode, mode);
}

// ---- dimensions and variables -------------------------------------------------------------------

int Definitions::def_dim(std::string name, Index length) {
    need_define();
    check_name(name);
    if (table.find_dimension(name) >= 0)
        throw Error{NC_ENAMEINUSE, path + ": dimension " + name + " exists"};
    if (length < 0)
        throw Error{NC_EDIMSIZE,
                    path + ": dimension " + name + " has the length " + std::to_string(length)};
    if (length == NC_UNLIMITED && table.unlimited() >= 0 && (format != Format::netcdf4 || zarr))
        throw Error{NC_EUNLIMIT, path + " has an unlimited dimension"};
    const int id = static_cast<int>(table.dimensions.size());
    table.dimensions.push_back({name, length, length == NC_UNLIMITED});
    changes.add({Edit::Kind::dimension, id, name, "", {}});
    return id;
}

int Definitions::def_var(std::string name, nc_type type, std::vector<int> dims) {
    need_define();
    check_name(name);
    if (table.find_variable(name) >= 0)
        throw Error{NC_ENAMEINUSE, path + ": variable " + name + " exists"};
    if (size_of(type) == 0 || (has_classic_types(format) && type > NC_DOUBLE))
        throw Error{NC_EBADTYPE, path + ": variable " + name + ": the format has no type " +
                                     std::to_string(type)};
    for (std::size_t i = 0; i < dims.size(); i++) {
        const Dimension& d = table.dimension(dims[i]);
        if (d.unlimited && i > 0 && (format != Format::netcdf4 || zarr))
            throw Error{NC_EUNLIMPOS, path + ": variable " + name + ": the unlimited dimension " +
                                          d.name + " is not the slowest"};
    }
    // The bytes of a CDF-5 variable, or of a record of it, must be countable.
    Index bytes = static_cast<Index>(size_of(type));
    for (const int d : dims)
        if (format == Format::cdf5 && !table.dimension(d).unlimited &&
            (__builtin_mul_overflow(bytes, std::max<Index>(1, table.length(d)), &bytes) ||
             bytes > INT64_MAX - 3))
            throw Error{NC_EVARSIZE, path + ": variable " + name + " is too large"};
    const int id = static_cast<int>(table.variables.size());
    Variable variable;
    variable.name = name;
    variable.type = type;
    variable.dims = std::move(dims);
    table.variables.push_back(std::move(variable));
    changes.add({Edit::Kind::variable, id, name, "", {}});
    return id;
}

Storage& Definitions::storage(int varid) {
    need_define();
    Variable& variable = table.variable(varid);
    if (in_file(varid))
        throw Error{NC_ELATEDEF, path + ": variable " + variable.name + " is in the file already"};
    return variable.storage;
}

// ---- names --------------------------------------------------------------------------------------

namespace {

// Checks a new name. In data mode, a classic file accepts only names that are not longer than the
// old ones.
template <class List>
void check_new_name(Definitions& definitions, const List& list, const std::string& old,
                    std::string& name, const char* what) {
    definitions.need_write();
    check_name(name);
    if (list.find(name) >= 0)
        throw Error{NC_ENAMEINUSE, definitions.path + ": " + what + " " + name + " exists"};
    if (definitions.format == Format::netcdf4 || name.size() > old.size())
        definitions.need_define();
}

}  // namespace

void Definitions::rename_dim(int dimid, std::string name) {
    const std::string old = table.dimension(dimid).name;
    check_new_name(*this, table.dimensions, old, name, "dimension");
    changes.rename(Edit::Kind::rename_dimension, dimid, old, name);
    table.dimensions.rename(static_cast<std::size_t>(dimid), name);
}

void Definitions::rename_var(int varid, std::string name) {
    const std::string old = table.variable(varid).name;
    check_new_name(*this, table.variables, old, name, "variable");
    changes.rename(Edit::Kind::rename_variable, varid, old, name);
    table.variables.rename(static_cast<std::size_t>(varid), name);
}

void Definitions::rename_att(int varid, const std::string& name, std::string new_name) {
    detail::NamedList<Attribute>& all = table.attributes_of(varid);
    const std::string old = table.attribute(varid, name).name;
    check_new_name(*this, all, old, new_name, "attribute");
    changes.add_fresh(table);
    changes.add({Edit::Kind::rename_attribute, varid, old, new_name, {}});
    all.rename(static_cast<std::size_t>(all.find(old)), new_name);
}

// ---- attributes ---------------------------------------------------------------------------------

// Sets an attribute. In data mode, a classic file accepts an attribute only if it replaces one of
// the same length.
void Definitions::put_att(int varid, Attribute attribute) {
    need_write();
    check_name(attribute.name);
    detail::NamedList<Attribute>& all = table.attributes_of(varid);
    if (attribute.name == fill_attribute && varid != NC_GLOBAL && !fill_is_free) {
        const Variable& v = table.variable(varid);
        if (attribute.type != v.type)
            throw Error{NC_EBADTYPE, path + ": _FillValue of " + v.name + " has another type"};
        if (attribute.n != 1)
            throw Error{NC_EINVAL, path + ": _FillValue of " + v.name + " is not one value"};
        if (in_file(varid))
            throw Error{NC_ELATEFILL, path + ": _FillValue of " + v.name + " comes too late"};
    }
    if (!define_ && format != Format::netcdf4) {
        const Attribute* const old = all.get(attribute.name);
        const auto room = [&](std::size_t bytes) {  // classic files round sizes up to 4 bytes
            return is_netcdf4() ? bytes : (bytes + 3) / 4;
        };
        if (old == nullptr || room(attribute.bytes.size()) > room(old->bytes.size()))
            throw Error{NC_ENOTINDEFINE, path + " is not in define mode"};
    }
    changes.fresh.emplace_back(varid, attribute.name);
    all.set(std::move(attribute));
}

void Definitions::del_att(int varid, const std::string& name) {
    need_define();
    changes.add_fresh(table);
    const std::string own = table.attribute(varid, name).name;
    table.attributes_of(varid).remove_if([&](const Attribute& a) { return a.name == own; });
    changes.add({Edit::Kind::delete_attribute, varid, own, "", {}});
}

// An attribute that was put since the ranks last agreed on attributes.
struct PutAttribute {
    int varid = NC_GLOBAL;
    Attribute attribute;
};

template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, PutAttribute> put) {
    wire(put.varid, put.attribute);
}

void agree_attributes(Definitions& definitions, MPI_Comm comm, int root) {
    Table& table = definitions.table;
    if (definitions.attributes == Definitions::Attributes::of_each)
        return definitions.changes.add_fresh(table);
    const auto fresh = std::exchange(definitions.changes.fresh, {});
    if (fresh.empty()) return;
    std::vector<PutAttribute> put;
    for (const auto& [varid, name] : fresh) put.push_back({varid, table.attribute(varid, name)});
    std::set<std::pair<int, std::string>> agreed;
    for (auto& [varid, a] : broadcast_value(comm, root, put)) {
        definitions.changes.fresh.emplace_back(varid, a.name);
        agreed.emplace(varid, a.name);
        table.attributes_of(varid).set(std::move(a));
    }
    for (const auto& [varid, name] : fresh)
        if (!agreed.contains({varid, name}))
            table.attributes_of(varid).remove_if(
                [&mine = name](const Attribute& a) { return a.name == mine; });
    definitions.changes.add_fresh(table);
}

}  // namespace thalweg::nc
