// SPDX-License-Identifier: Apache-2.0
#include "zarr/metadata.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/text/text.hpp"
#include "zarr/base64.hpp"

namespace thalweg::detail {

namespace {

/// Calls act(value) with the value at an address.
template <class Act>
auto with_value(tw_type type, const char* at, Act&& act) {
    return with_number(type, [&](auto value) {
        std::memcpy(&value, at, sizeof value);
        return act(value);
    });
}

/// Formats a number as JSON. NaN and infinities, which JSON lacks, are written in the form that
/// Python's JSON reader accepts.
std::string number_text(tw_type type, const char* at) {
    return with_value(type, at, [](auto value) -> std::string {
        if constexpr (std::is_floating_point_v<decltype(value)>) {
            if (std::isnan(value)) return "NaN";
            if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
            return nlohmann::json(static_cast<double>(value)).dump();
        } else {
            return std::to_string(value);
        }
    });
}

std::string value_text(const Attribute& a) {
    if (a.type == TW_CHAR) {
        std::string text(a.values.begin(), a.values.end());
        text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());
        return json_string(text);
    }
    const std::size_t size = size_of(a.type);
    if (a.n == 1) return number_text(a.type, a.values.data());
    std::string list = "[";
    for (std::int64_t i = 0; i < a.n; ++i) {
        if (i > 0) list += ",";
        list += number_text(a.type, a.values.data() + i * size);
    }
    return list + "]";
}

}  // namespace

std::string list_text(const std::vector<std::int64_t>& values) {
    return "[" + joined(values, ",") + "]";
}

std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

double number_of(tw_type type, const char* at) {
    return with_value(type, at, [](auto value) { return static_cast<double>(value); });
}

std::string fill_text(tw_type type, const char* value) {
    if (type == TW_CHAR) return json_string(base64({value, 1}));
    const std::string text = number_text(type, value);
    return std::isalpha(static_cast<unsigned char>(text.back())) != 0 ? json_string(text) : text;
}

const Attribute* fill_attribute(const Variable& v) {
    const Attribute* const a = v.attributes.get("_FillValue");
    return a != nullptr && a->type == v.type && a->n == 1 ? a : nullptr;
}

std::vector<std::string> attribute_members(const Definitions& d, const Variable* v) {
    std::vector<std::string> members;
    for (const Attribute& a : v != nullptr ? v->attributes : d.attributes) {
        if (!valid_type(a.type) || a.name == "_ARRAY_DIMENSIONS") continue;
        if (v != nullptr && &a == fill_attribute(*v)) continue;
        members.push_back(json_string(a.name) + ":" + value_text(a));
    }
    return members;
}

std::string dimensions_text(const Definitions& d, const Variable& v) {
    std::vector<std::string> names;
    for (const int dim : v.dims) names.push_back(json_string(d.dims[dim].name));
    return "[" + joined(names, ",") + "]";
}

}  // namespace thalweg::detail
