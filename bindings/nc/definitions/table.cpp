// SPDX-License-Identifier: Apache-2.0
#include "nc/definitions/table.hpp"

#include <algorithm>

#include "base/text/normal_form.hpp"
#include "definitions/definitions.hpp"
#include "nc/base/error.hpp"
#include "nc/base/types.hpp"

namespace thalweg::nc {

Dimension& Table::dimension(int dimid) {
    if (dimid < 0 || static_cast<std::size_t>(dimid) >= dimensions.size())
        throw Error{NC_EBADDIM, "there is no dimension with the id " + std::to_string(dimid)};
    return dimensions[static_cast<std::size_t>(dimid)];
}

Variable& Table::variable(int varid) {
    if (varid < 0 || static_cast<std::size_t>(varid) >= variables.size())
        throw Error{NC_ENOTVAR, "there is no variable with the id " + std::to_string(varid)};
    return variables[static_cast<std::size_t>(varid)];
}

detail::NamedList<Attribute>& Table::attributes_of(int varid) {
    return varid == NC_GLOBAL ? attributes : variable(varid).attributes;
}

Attribute& Table::attribute(int varid, const std::string& name) {
    detail::NamedList<Attribute>& all = attributes_of(varid);
    if (const int at = all.find(name); at >= 0) return all[static_cast<std::size_t>(at)];
    throw Error{NC_ENOTATT, "there is no attribute " + name +
                                (varid == NC_GLOBAL ? "" : " of " + variable(varid).name)};
}

const Attribute& Table::attribute(int varid, int number) {
    const detail::NamedList<Attribute>& all = attributes_of(varid);
    if (number < 0 || static_cast<std::size_t>(number) >= all.size())
        throw Error{NC_ENOTATT, "there is no attribute number " + std::to_string(number)};
    return all[static_cast<std::size_t>(number)];
}

int Table::number_of_attribute(int varid, const std::string& name) {
    return static_cast<int>(&attribute(varid, name) - &attributes_of(varid)[0]);
}

int Table::dimension_named(const std::string& name) const {
    if (const int found = find_dimension(name); found >= 0) return found;
    throw Error{NC_EBADDIM, "there is no dimension " + name};
}

int Table::variable_named(const std::string& name) const {
    if (const int found = find_variable(name); found >= 0) return found;
    throw Error{NC_ENOTVAR, "there is no variable " + name};
}

int Table::unlimited() const {
    for (std::size_t i = 0; i < dimensions.size(); i++)
        if (dimensions[i].unlimited) return static_cast<int>(i);
    return -1;
}

Index Table::records() const { return unlimited() < 0 ? 0 : length(unlimited()); }

void Table::set_records(Index records) {
    if (unlimited() >= 0) dimension(unlimited()).length = records;
}

void Table::grow(const Variable& variable, const Index* start, const Index* count,
                 const Index* stride) {
    for (std::size_t d = 0; d < variable.dims.size(); d++) {
        Dimension& dimension = dimensions[static_cast<std::size_t>(variable.dims[d])];
        const Index end = start[d] + (count[d] - 1) * (stride == nullptr ? 1 : stride[d]) + 1;
        if (dimension.unlimited) dimension.length = std::max(dimension.length, end);
    }
}

bool Table::is_record(const Variable& variable) const {
    return !variable.dims.empty() &&
           dimensions[static_cast<std::size_t>(variable.dims.front())].unlimited;
}

std::vector<Index> Table::lengths(const Variable& variable) const {
    std::vector<Index> result;
    for (const int dimid : variable.dims) result.push_back(length(dimid));
    return result;
}

std::vector<std::string> Table::names(const Variable& variable) const {
    std::vector<std::string> result;
    for (const int dimid : variable.dims)
        result.push_back(dimensions[static_cast<std::size_t>(dimid)].name);
    return result;
}

std::string Table::fill_of(const Variable& variable) {
    for (const Attribute& attribute : variable.attributes)
        if (attribute.name == fill_attribute && attribute.type == variable.type && attribute.n == 1)
            return attribute.bytes;
    return default_fill(variable.type);
}

void check_name(std::string& name) {
    name = detail::normal_form(std::move(name));
    if (name.size() > NC_MAX_NAME) throw Error{NC_EMAXNAME, "the name " + name + " is too long"};
    const detail::Status status = detail::check_name("a definition", name);
    if (!status.ok())
        throw Error{status.code == TW_EUNSUPPORTED ? code_of(status.code) : NC_EBADNAME,
                    status.text};
}

}  // namespace thalweg::nc
