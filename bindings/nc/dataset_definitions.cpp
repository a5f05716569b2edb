// Definitions and modes of an open file.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "dataset.hpp"
#include "types.hpp"

namespace thalweg::nc {

void Dataset::redef() {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    if (define_ && format_ != Format::netcdf4)
        throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    begin_definitions();
}

void Dataset::enddef() {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    if (!define_) throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
    check_sizes();
    define_ = false;
    settle_attributes();
    make_edits();
}

void Dataset::need_define_mode() {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    if (define_) return;
    if (format_ != Format::netcdf4) throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
    begin_definitions();
}

void Dataset::begin_definitions() {
    if (!define_) definitions_begin();
    define_ = true;
}

void Dataset::need_data_mode() {
    if (!define_) return;
    if (format_ != Format::netcdf4) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    enddef();
}

// Checks the limits of CDF-1 and CDF-2. The errors have netCDF's texts.
void Dataset::check_sizes() const {
    if (format_ != Format::cdf1 && format_ != Format::cdf2) return;
    const double most = format_ == Format::cdf1 ? 2147483647.0 : 4294967292.0;
    double begin = 0;
    for (std::size_t i = 0; i < table_.variables.size(); i++) {
        const Variable& v = table_.variables[i];
        double bytes = static_cast<double>(size_of(v.type));
        for (const int d : v.dims)
            if (!table_.dimensions[static_cast<std::size_t>(d)].unlimited)
                bytes *= static_cast<double>(table_.dimensions[static_cast<std::size_t>(d)].length);
        const bool last = i + 1 == table_.variables.size();
        if ((bytes > most && !last) || (format_ == Format::cdf1 && begin > most))
            throw Error{NC_EVARSIZE, path_ + ": variable " + v.name + " is too large for " +
                                         name_of_format(format_) + "; use CDF-5 (64-bit data)"};
        begin += bytes;
    }
}

// Checks that the bytes of a CDF-5 variable, or of a record of it, can be counted.
void Dataset::check_bytes(const std::string& name, nc_type type, const std::vector<int>& dims) {
    Index bytes = static_cast<Index>(size_of(type));
    for (const int d : dims) {
        const Dimension& dimension = table_.dimension(d);
        if (dimension.unlimited) continue;
        if (__builtin_mul_overflow(bytes, std::max<Index>(1, dimension.length), &bytes) ||
            bytes > INT64_MAX - 3)
            throw Error{NC_EVARSIZE, path_ + ": variable " + name + " is too large"};
    }
}

int Dataset::def_dim(std::string name, Index length) {
    need_define_mode();
    check_name(name);
    if (table_.find_dimension(name) >= 0)
        throw Error{NC_ENAMEINUSE, path_ + ": dimension " + name + " exists"};
    if (length < 0)
        throw Error{NC_EDIMSIZE,
                    path_ + ": dimension " + name + " has the length " + std::to_string(length)};
    if (length == NC_UNLIMITED && table_.unlimited() >= 0 && format_ != Format::netcdf4)
        throw Error{NC_EUNLIMIT, path_ + " has an unlimited dimension"};
    const int id = static_cast<int>(table_.dimensions.size());
    table_.dimensions.push_back({name, length, length == NC_UNLIMITED});
    if (state_ != State::defining) edits_.push_back({Edit::Kind::dimension, id, name, "", {}});
    return id;
}

int Dataset::def_var(std::string name, nc_type type, std::vector<int> dims) {
    need_define_mode();
    check_name(name);
    if (table_.find_variable(name) >= 0)
        throw Error{NC_ENAMEINUSE, path_ + ": variable " + name + " exists"};
    const bool small = format_ != Format::cdf5 && format_ != Format::netcdf4;
    if (size_of(type) == 0 || (small && type > NC_DOUBLE))
        throw Error{NC_EBADTYPE, path_ + ": variable " + name + ": the format has no type " +
                                     std::to_string(type)};
    for (std::size_t i = 0; i < dims.size(); i++) {
        const Dimension& d = table_.dimension(dims[i]);
        if (d.unlimited && i > 0 && format_ != Format::netcdf4)
            throw Error{NC_EUNLIMPOS, path_ + ": variable " + name + ": the unlimited dimension " +
                                          d.name + " is not the slowest"};
    }
    if (format_ == Format::cdf5) check_bytes(name, type, dims);
    const int id = static_cast<int>(table_.variables.size());
    Variable variable;
    variable.name = name;
    variable.type = type;
    variable.dims = std::move(dims);
    table_.variables.push_back(std::move(variable));
    if (state_ != State::defining) edits_.push_back({Edit::Kind::variable, id, name, "", {}});
    return id;
}

// Adds a rename. A second rename of the same object replaces the first: netCDF-C cannot read some
// files after several renames.
void Dataset::add_rename(Edit::Kind kind, int id, const std::string& old, const std::string& name) {
    if (state_ == State::defining) return;
    if (edits_.empty() || edits_.back().kind != kind || edits_.back().id != id)
        edits_.push_back({kind, id, old, name, {}});
    edits_.back().new_name = name;
    if (edits_.back().name == name) edits_.pop_back();
}

void Dataset::rename_dim(int dimid, std::string name) {
    need_define_mode();
    check_name(name);
    Dimension& dimension = table_.dimension(dimid);
    if (table_.find_dimension(name) >= 0)
        throw Error{NC_ENAMEINUSE, path_ + ": dimension " + name + " exists"};
    add_rename(Edit::Kind::rename_dimension, dimid, dimension.name, name);
    table_.dimensions.rename(static_cast<std::size_t>(dimid), name);
}

void Dataset::rename_var(int varid, std::string name) {
    need_define_mode();
    check_name(name);
    Variable& variable = table_.variable(varid);
    if (table_.find_variable(name) >= 0)
        throw Error{NC_ENAMEINUSE, path_ + ": variable " + name + " exists"};
    add_rename(Edit::Kind::rename_variable, varid, variable.name, name);
    table_.variables.rename(static_cast<std::size_t>(varid), name);
}

// Sets an attribute. In data mode, a classic file accepts an attribute only if it replaces one of
// the same length.
void Dataset::put_att(int varid, Attribute attribute) {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    check_name(attribute.name);
    detail::NamedList<Attribute>& all = table_.attributes_of(varid);
    if (attribute.name == fill_attribute && varid != NC_GLOBAL && !fill_is_free_) {
        const Variable& v = table_.variable(varid);
        if (attribute.type != v.type)
            throw Error{NC_EBADTYPE, path_ + ": _FillValue of " + v.name + " has another type"};
        if (attribute.n != 1)
            throw Error{NC_EINVAL, path_ + ": _FillValue of " + v.name + " is not one value"};
        if (state_ != State::defining && static_cast<std::size_t>(varid) < variables_in_file_)
            throw Error{NC_ELATEFILL, path_ + ": _FillValue of " + v.name + " comes too late"};
    }
    if (!define_ && format_ != Format::netcdf4) {
        const Attribute* const old = all.get(attribute.name);
        const auto room = [&](std::size_t bytes) {  // classic files round sizes up to 4 bytes
            return is_netcdf4() ? bytes : (bytes + 3) / 4;
        };
        if (old == nullptr || room(attribute.bytes.size()) > room(old->bytes.size()))
            throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
    }
    fresh_.emplace_back(varid, attribute.name);
    all.set(std::move(attribute));
}

void Dataset::rename_att(int varid, const std::string& name, std::string new_name) {
    need_define_mode();
    check_name(new_name);
    agree_attributes();
    const std::string own = table_.attribute(varid, name).name;
    detail::NamedList<Attribute>& all = table_.attributes_of(varid);
    if (all.find(new_name) >= 0)
        throw Error{NC_ENAMEINUSE, path_ + ": attribute " + new_name + " exists"};
    if (state_ != State::defining)
        edits_.push_back({Edit::Kind::rename_attribute, varid, own, new_name, {}});
    all.rename(static_cast<std::size_t>(all.find(own)), new_name);
}

void Dataset::del_att(int varid, const std::string& name) {
    need_define_mode();
    agree_attributes();
    const std::string own = table_.attribute(varid, name).name;
    detail::NamedList<Attribute>& all = table_.attributes_of(varid);
    all.remove_if([&](const Attribute& a) { return a.name == own; });
    if (state_ != State::defining)
        edits_.push_back({Edit::Kind::delete_attribute, varid, own, "", {}});
}

Storage& Dataset::storage(int varid) {
    need_define_mode();
    Variable& variable = table_.variable(varid);
    if (state_ != State::defining && static_cast<std::size_t>(varid) < variables_in_file_)
        throw Error{NC_ELATEDEF, path_ + ": variable " + variable.name + " is in the file already"};
    return variable.storage;
}

int Dataset::set_fill(int mode) {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    if (mode != NC_FILL && mode != NC_NOFILL)
        throw Error{NC_EINVAL, path_ + ": there is no fill mode " + std::to_string(mode)};
    return std::exchange(fill_mode_, mode);
}

}  // namespace thalweg::nc
