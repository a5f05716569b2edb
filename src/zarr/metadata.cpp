// SPDX-License-Identifier: Apache-2.0
#include "zarr/metadata.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/text.hpp"
#include "zarr/base64.hpp"

namespace thalweg::detail {

namespace {

constexpr int deflate_filter = 1, shuffle_filter = 2, fletcher32_filter = 3;  // identifiers in HDF5

/// Calls act(value) with a value of the type.
template <class Act>
auto with_value(tw_type type, const char* at, Act&& act) {
    const auto as = [&](auto value) {
        std::memcpy(&value, at, sizeof value);
        return act(value);
    };
    switch (type) {
        case TW_SHORT: return as(std::int16_t{});
        case TW_INT: return as(std::int32_t{});
        case TW_FLOAT: return as(float{});
        case TW_DOUBLE: return as(double{});
        case TW_UBYTE: return as(std::uint8_t{});
        case TW_USHORT: return as(std::uint16_t{});
        case TW_UINT: return as(std::uint32_t{});
        case TW_INT64: return as(std::int64_t{});
        case TW_UINT64: return as(std::uint64_t{});
        default: return as(std::int8_t{});
    }
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

std::string codec_text(const StoredFilter& filter) {
    switch (filter.id) {
        case shuffle_filter:
            return fmt::format(R"({{"elementsize":{},"id":"shuffle"}})", filter.element);
        case deflate_filter: return R"({"id":"zlib","level":1})";
        case zstd_filter: return R"({"id":"zstd","level":1})";
        default: return R"({"id":"fletcher32"})";
    }
}

}  // namespace

std::string list_text(const std::vector<std::int64_t>& values) {
    return "[" + joined(values, ",") + "]";
}

std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string why_no_codecs(const std::vector<StoredFilter>& filters, std::int64_t bytes) {
    for (const StoredFilter& f : filters) {
        switch (f.id) {
            case fletcher32_filter: bytes += 4; break;
            case deflate_filter:
            // Compressed data can have any length, so assume no multiple of the element size.
            case zstd_filter: bytes = 1; break;
            case shuffle_filter:
                if (f.element > 1 && bytes % f.element != 0)
                    return fmt::format(
                        "the codec shuffle of Zarr readers takes whole elements of {} bytes only, "
                        "and another filter comes before it",
                        f.element);
                break;
            default: return fmt::format("Zarr has no codec for HDF5's filter {}", f.id);
        }
    }
    return {};
}

double number_of(tw_type type, const char* at) {
    return with_value(type, at, [](auto value) { return static_cast<double>(value); });
}

std::string fill_text(tw_type type, const char* value) {
    if (type == TW_CHAR) return json_string(base64({value, 1}));
    const std::string text = number_text(type, value);
    return std::isalpha(static_cast<unsigned char>(text.back())) != 0 ? json_string(text) : text;
}

std::string array_text(const ArrayMembers& a) {
    return fmt::format(R"({{"zarr_format":2,"shape":{},"chunks":{},"dtype":"{}","order":"C",)"
                       R"("fill_value":{},"compressor":null,"filters":{}}})",
                       list_text(a.shape), list_text(a.chunk), a.dtype, a.fill, a.filters);
}

std::string dtype_text(tw_type type, bool big_endian) {
    char kind = 'i';
    if (type == TW_CHAR) kind = 'S';
    if (type == TW_FLOAT || type == TW_DOUBLE) kind = 'f';
    if (type == TW_UBYTE || type == TW_USHORT || type == TW_UINT || type == TW_UINT64) kind = 'u';
    const std::size_t size = size_of(type);
    const char order = size == 1 ? '|' : big_endian ? '>' : '<';
    return fmt::format("{}{}{}", order, kind, size);
}

std::string filters_text(const std::vector<StoredFilter>& filters) {
    std::vector<std::string> codecs;
    for (const StoredFilter& f : filters)
        if (f.id != shuffle_filter || f.element > 1) codecs.push_back(codec_text(f));
    return codecs.empty() ? "null" : "[" + joined(codecs, ",") + "]";
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

std::string attributes_text(const Definitions& d, const Variable* v) {
    std::vector<std::string> members = attribute_members(d, v);
    if (v != nullptr) members.push_back("\"_ARRAY_DIMENSIONS\":" + dimensions_text(d, *v));
    return "{" + joined(members, ",") + "}";
}

}  // namespace thalweg::detail
