// SPDX-License-Identifier: Apache-2.0
#include "storage/zarr/metadata.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/crc32c.hpp"
#include "base/text/normal_form.hpp"
#include "base/text/text.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"
#include "storage/zarr/base64.hpp"

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

bool is_member(const Attribute& a, const Variable* v) {
    return valid_type(a.type) && a.name != "_ARRAY_DIMENSIONS" &&
           (v == nullptr || &a != fill_attribute(*v));
}

bool is_json(const Attribute& a, const Variable* v) {
    const std::string_view text(a.values.data(), a.values.size());
    return a.type != TW_CHAR || (v != nullptr && &a == fill_attribute(*v)) ||
           (is_utf8(text) && text.find('\0') == text.npos);
}

std::vector<std::string> attribute_members(const Definitions& d, const Variable* v) {
    std::vector<std::string> members;
    for (const Attribute& a : v != nullptr ? v->attributes : d.attributes) {
        if (is_member(a, v)) members.push_back(json_string(a.name) + ":" + value_text(a));
    }
    return members;
}

std::string dimensions_text(const Definitions& d, const Variable& v) {
    std::vector<std::string> names;
    for (const int dim : v.dims) names.push_back(json_string(d.dims[dim].name));
    return "[" + joined(names, ",") + "]";
}

std::string data_type_text(tw_type type) {
    switch (type) {
        case TW_CHAR:
            return R"({"name":"null_terminated_bytes","configuration":{"length_bytes":1}})";
        case TW_SHORT: return R"("int16")";
        case TW_INT: return R"("int32")";
        case TW_FLOAT: return R"("float32")";
        case TW_DOUBLE: return R"("float64")";
        case TW_UBYTE: return R"("uint8")";
        case TW_USHORT: return R"("uint16")";
        case TW_UINT: return R"("uint32")";
        case TW_INT64: return R"("int64")";
        case TW_UINT64: return R"("uint64")";
        default: return R"("int8")";
    }
}

namespace {

/// Formats a fill value as xarray does in Zarr version 3: a floating-point value is a double in
/// base64.
std::string fill_attribute_text(tw_type type, const Attribute& fill) {
    if (type != TW_FLOAT && type != TW_DOUBLE) return fill_text(type, fill.values.data());
    const double value = number_of(type, fill.values.data());
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    return json_string(base64({bytes, sizeof bytes}));
}

}  // namespace

std::string array_metadata(const Definitions& d, const Variable& v, const ArrayStorage& its) {
    std::vector<std::string> attributes = attribute_members(d, &v);
    // xarray cannot decode the attribute of a text, for which Zarr's own member has to do.
    if (const Attribute* fill = fill_attribute(v); fill != nullptr && v.type != TW_CHAR)
        attributes.push_back("\"_FillValue\":" + fill_attribute_text(v.type, *fill));
    std::vector<std::string> codecs = its.codecs;
    codecs.insert(
        codecs.begin(),
        v.element() == 1
            ? std::string(R"({"name":"bytes"})")
            : fmt::format(R"({{"name":"bytes","configuration":{{"endian":"{}"}}}})", its.endian));
    return fmt::format(
        R"({{"zarr_format":3,"node_type":"array","shape":{},"data_type":{},)"
        R"("chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{}}}}},)"
        R"("chunk_key_encoding":{{"name":"default","configuration":{{"separator":"."}}}},)"
        R"("fill_value":{},"codecs":[{{"name":"sharding_indexed","configuration":)"
        R"({{"chunk_shape":{},"codecs":[{}],"index_codecs":[{{"name":"bytes","configuration":)"
        R"({{"endian":"little"}}}},{{"name":"crc32c"}}],"index_location":"end"}}}}],)"
        R"("attributes":{{{}}},"dimension_names":{}}})",
        list_text(its.shape), data_type_text(v.type), list_text(its.shard),
        fill_text(v.type, v.fill_value().data()), list_text(its.chunk), joined(codecs, ","),
        joined(attributes, ","), dimensions_text(d, v));
}

std::string group_metadata(const Definitions& d, const std::vector<std::string>& arrays,
                           const std::string& more) {
    return fmt::format(R"({{"zarr_format":3,"node_type":"group","attributes":{{{}}},)"
                       R"("consolidated_metadata":{{"kind":"inline",)"
                       R"("must_understand":false,"metadata":{{{}}}{}}}}})",
                       joined(attribute_members(d, nullptr), ","), joined(arrays, ","), more);
}

std::string shard_index(std::span<const ChunkPlace> chunks) {
    std::string index;
    const auto add = [&](std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) index += static_cast<char>(value >> (8 * i) & 255);
    };
    for (const ChunkPlace& chunk : chunks) {
        add(static_cast<std::uint64_t>(chunk.offset), 8);
        add(static_cast<std::uint64_t>(chunk.bytes), 8);
    }
    add(crc32c(index), 4);
    return index;
}

Status write_metadata(const std::string& folder, const std::string& text, bool durable) {
    const std::string path = folder + "/zarr.json", part = temporary_path(path);
    Status status = write_file(part, {text.begin(), text.end()});
    if (status.ok() && durable) status = sync_closed(part);
    if (status.ok() && std::rename(part.c_str(), path.c_str()) != 0)
        status = system_failure(part, "cannot rename to " + path);
    if (!status.ok()) unlink(part.c_str());
    return status.ok() && durable ? sync_folder_of(path) : status;
}

}  // namespace thalweg::detail
