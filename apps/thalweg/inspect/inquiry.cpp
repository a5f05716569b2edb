// SPDX-License-Identifier: Apache-2.0
#include "inspect/inquiry.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "verify/difference.hpp"

namespace thalweg::app {

bool has(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Names dims_of(const Reader& file) {
    Names names;
    for (int i = 0, n = file.inq().dims; i < n; ++i) names.push_back(file.dim_name(i));
    return names;
}

Names variables_of(const Reader& file) {
    Names names;
    for (int i = 0, n = file.inq().variables; i < n; ++i) names.push_back(file.var_name(i));
    return names;
}

Names attributes_of(const Reader& file, const std::string& variable) {
    const int n = variable.empty() ? file.inq().attributes : file.var(variable).attributes;
    Names names;
    for (int i = 0; i < n; ++i) names.push_back(file.att_name(variable, i));
    return names;
}

AttributeValue attribute_of(const Reader& file, const std::string& variable,
                            const std::string& name) {
    AttributeValue a;
    tw_type type{};
    std::int64_t n = 0;
    const auto check = [&](tw_status code) {
        if (code != TW_OK)
            throw Error(code, fmt::format("cannot read attribute '{}:{}'", variable, name));
    };
    check(tw_inq_att(file.handle(), variable.c_str(), name.c_str(), &type, &n));
    a.type = static_cast<Type>(type);
    a.values.resize(static_cast<std::size_t>(n) * size_of(a.type));
    if (!a.values.empty())
        check(tw_get_att(file.handle(), variable.c_str(), name.c_str(), type, n, a.values.data()));
    return a;
}

}  // namespace thalweg::app
