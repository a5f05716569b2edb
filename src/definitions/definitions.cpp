// SPDX-License-Identifier: Apache-2.0
#include "definitions/definitions.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/text/nearest.hpp"
#include "base/text/normal_form.hpp"

namespace thalweg::detail {

FillValue Variable::fill_value(Order bytes) const {
    FillValue value{};
    const Attribute* own = attributes.get("_FillValue");
    if (own != nullptr && own->type == type && own->n == 1)
        std::memcpy(value.data(), own->values.data(), element());
    else if (fill)
        value = *fill;
    else
        default_fill(type, value.data());
    if (bytes == Order::big_endian) to_big_endian(type, value.data());
    return value;
}

int Definitions::find_dim(const std::string& name) const { return dims.find(name); }

int Definitions::find_variable(const std::string& name) const { return variables.find(name); }

int Definitions::record_dim() const {
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (dims[i].unlimited()) return i;
    return -1;
}

std::vector<std::string> Definitions::fixed_dims(const Variable& v) const {
    std::vector<std::string> names;
    for (std::size_t d = v.record ? 1 : 0; d < v.dims.size(); ++d)
        names.push_back(dims[v.dims[d]].name);
    return names;
}

Status no_section(const Variable& variable) {
    return failure(TW_ESHAPE,
                   "it has {} dimensions: start, count and stride must have as many values, and "
                   "the array as many as the section",
                   variable.dims.size());
}

Status no_variable(const Definitions& definitions, const std::string& path, const std::string& name,
                   int rank) {
    return about(failure(TW_ENOTFOUND, "{}: no variable '{}'{}{}", path, OfVariable{name},
                         rank < 0 ? "" : fmt::format(" (rank {})", rank),
                         did_you_mean(name, definitions.variables.first_names())),
                 OfRank{rank});
}

std::string describe(const std::string& owner, const Attribute& a) {
    const std::string where = owner.empty() ? "global attribute" : "attribute of '" + owner + "'";
    if (a.type == TW_CHAR)
        return fmt::format("{} '{}' = \"{}\"", where, a.name,
                           std::string(a.values.begin(), a.values.end()));
    std::string values;
    const std::size_t size = size_of(a.type);
    for (std::int64_t i = 0; i < a.n; ++i) {
        const char* at = a.values.data() + i * size;
        with_number(a.type, [&](auto v) {
            std::memcpy(&v, at, sizeof v);
            values += fmt::format(" {}", v);
        });
    }
    return fmt::format("{} '{}' = {}{}", where, a.name, name_of(a.type), values);
}

std::vector<std::string> describe(const Definitions& d, std::span<const std::string> held,
                                  IndexConvention wording) {
    std::vector<std::string> lines;
    // Compare variables before dimensions, because their differences explain more.
    for (std::size_t at = 0; at < d.variables.size(); ++at) {
        const Variable& v = d.variables[at];
        std::vector<std::string> names;
        for (int i : v.dims) names.push_back(d.dims[i].name);
        std::string line =
            fmt::format("variable {} '{}' ({})", name_of(v.type), v.name, wording.names(names));
        if (!held.empty()) line += held[at];
        lines.push_back(line);
        for (const Attribute& a : v.attributes) lines.push_back(describe(v.name, a));
        for (const auto& [name, value] : v.settings)
            lines.push_back(fmt::format("setting {}={} of '{}'", name, value, v.name));
    }
    for (const Dimension& dim : d.dims)
        lines.push_back(dim.unlimited()
                            ? fmt::format("dimension '{}', unlimited", dim.name)
                            : fmt::format("dimension '{}' of length {}", dim.name, dim.length));
    for (const Attribute& a : d.attributes) lines.push_back(describe("", a));
    return lines;
}

std::vector<std::string> split_names(const std::string& list) {
    std::vector<std::string> names;
    bool inside = false;  // the position is inside a name
    for (std::size_t i = 0; i < list.size(); ++i) {
        const bool kept =
            list[i] == '\\' && i + 1 < list.size() && (list[i + 1] == ' ' || list[i + 1] == '\\');
        if (!kept && std::isspace(static_cast<unsigned char>(list[i])) != 0) {
            inside = false;
            continue;
        }
        if (!inside) names.emplace_back();
        inside = true;
        if (kept) ++i;
        names.back() += list[i];
    }
    for (std::string& name : names) name = normal_form(std::move(name));
    return names;
}

Status check_name(const char* what, const std::string& name) {
    if (name.empty()) return failure(TW_EARG, "the name of {} is empty", what);
    if (!is_utf8(name)) return failure(TW_EARG, "the name '{}' of {} is not UTF-8", name, what);
#ifndef THALWEG_HAVE_UTF8PROC
    if (std::ranges::any_of(name, may_combine))
        return failure(TW_EUNSUPPORTED,
                       "the name '{}' of {}: characters beyond Latin need a build of the library "
                       "with utf8proc",
                       name, what);
#endif
    if (name.size() > 256)
        return failure(TW_EARG, "the name of {} has {} bytes; the maximum is 256", what,
                       name.size());
    const auto first = static_cast<unsigned char>(name.front());
    const bool begins_well = std::isalnum(first) || first == '_' || first >= 0x80;
    const bool ends_well = name.back() != ' ';
    const bool all_well = std::all_of(name.begin(), name.end(), [](char c) {
        const auto u = static_cast<unsigned char>(c);
        return u >= 0x20 && u != 0x7f && c != '/';
    });
    if (!begins_well || !ends_well || !all_well)
        return failure(TW_EARG, "'{}' is not a valid netCDF name for {}", name, what);
    return {};
}

namespace {
constexpr std::pair<Format, const char*> format_names[] = {
    {Format::cdf1, "cdf1"},
    {Format::cdf2, "cdf2"},
    {Format::cdf5, "cdf5"},
    {Format::netcdf4, "netcdf4"},
    {Format::netcdf4_classic, "netcdf4-classic"},
    {Format::zarr, "zarr"}};
}  // namespace

const char* name_of(Format format) {
    for (const auto& [f, name] : format_names)
        if (f == format) return name;
    return "";
}

Format format_of(const std::string& name) {
    for (const auto& [f, text] : format_names)
        if (text == name) return f;
    return Format::cdf2;
}

bool is_netcdf4(Format format) {
    return format == Format::netcdf4 || format == Format::netcdf4_classic;
}

bool has_chunks(Format format) { return is_netcdf4(format) || format == Format::zarr; }

bool has_new_types(Format format) {
    return format == Format::cdf5 || format == Format::netcdf4 || format == Format::zarr;
}

std::int64_t most_records(Format format) {
    return format == Format::cdf1 || format == Format::cdf2
               ? 0x7fffffff
               : std::numeric_limits<std::int64_t>::max();
}

namespace {

bool new_type(tw_type type) { return type > TW_DOUBLE; }

Status check_types(const Definitions& d, Format format) {
    auto refuse = [&](const std::string& what, tw_type type) {
        return failure(TW_EFORMAT, "{} has type {}, which format {} does not support; use {}", what,
                       name_of(type), name_of(format), is_netcdf4(format) ? "netcdf4" : "cdf5");
    };
    for (const Attribute& a : d.attributes)
        if (new_type(a.type)) return refuse("global attribute '" + a.name + "'", a.type);
    for (const Variable& v : d.variables) {
        if (new_type(v.type)) return refuse("variable '" + v.name + "'", v.type);
        for (const Attribute& a : v.attributes)
            if (new_type(a.type))
                return refuse("attribute '" + a.name + "' of '" + v.name + "'", a.type);
    }
    return {};
}

/// Returns the size in bytes of a variable (of one record) with padding; the largest integer if the
/// size is larger.
std::int64_t bytes_of(const Variable& v) {
    std::int64_t n = v.element();
    for (std::int64_t length : v.shape)
        if (__builtin_mul_overflow(n, length, &n)) return std::numeric_limits<std::int64_t>::max();
    return n > std::numeric_limits<std::int64_t>::max() - 3 ? n : (n + 3) / 4 * 4;
}

/// Checks that variables can be arrays of a Zarr store, whose names are those of folders.
Status check_zarr(const Definitions& d) {
    for (const Variable& v : d.variables) {
        if (v.name.starts_with("__") || v.name == "zarr.json" || v.name.size() > 255)
            return failure(TW_EFORMAT, "variable '{}': format zarr does not permit this name",
                           OfVariable{v.name});
    }
    return {};
}

}  // namespace

Status check_format(const Definitions& d, Format format) {
    std::int64_t total = 0;
    for (const Variable& v : d.variables)
        if (__builtin_add_overflow(total, bytes_of(v), &total))
            return failure(TW_EFORMAT, "variable '{}' makes the file too large for any format",
                           OfVariable{v.name});
    if (format == Format::zarr) return check_zarr(d);
    if (has_new_types(format)) return {};
    if (Status status = check_types(d, format); !status.ok()) return status;
    if (is_netcdf4(format)) return {};

    // Largest sizes of a variable in the classic formats (netCDF file format specification,
    // "Limitations"); only the very last variable may be larger.
    constexpr std::int64_t gib2 = std::int64_t(1) << 31;
    const std::int64_t limit = (format == Format::cdf1 ? gib2 : 2 * gib2) - 4;
    for (const Dimension& dim : d.dims)
        if (dim.length > limit)
            return failure(
                TW_EFORMAT,
                "dimension '{}' has length {}, which is too large for format {}; use cdf5",
                dim.name, dim.length, name_of(format));
    const bool has_records =
        std::any_of(d.variables.begin(), d.variables.end(), [](auto& v) { return v.record; });
    std::int64_t begin = 32;  // no header is shorter; its length is checked when it is written
    for (int pass = 0; pass < 2; ++pass) {
        const bool record = pass == 1;
        const Variable* last = nullptr;
        for (const Variable& v : d.variables)
            if (v.record == record) last = &v;
        for (const Variable& v : d.variables) {
            if (v.record != record) continue;
            const std::int64_t bytes = bytes_of(v);
            if (bytes > limit && (&v != last || (!record && has_records)))
                return failure(
                    TW_EFORMAT,
                    "variable '{}' has {} bytes{}, more than the {} that format {} can hold; use "
                    "{}",
                    OfVariable{v.name}, bytes, record ? " per record" : "", limit, name_of(format),
                    format == Format::cdf1 && bytes <= 2 * gib2 - 4 ? "cdf2 or cdf5" : "cdf5");
            if (format == Format::cdf1 && begin > gib2 - 1)
                return failure(
                    TW_EFORMAT,
                    "variable '{}' begins beyond the 2 GiB that format cdf1 can address; use cdf2 "
                    "or cdf5",
                    OfVariable{v.name});
            begin += bytes;
        }
    }
    return {};
}

Format choose_format(const Definitions& d) {
    // Some readers take the length of a dimension of CDF-2 for a signed number.
    const bool signed_lengths = std::all_of(
        d.dims.begin(), d.dims.end(), [](const Dimension& dim) { return dim.length <= INT32_MAX; });
    return signed_lengths && check_format(d, Format::cdf2).ok() ? Format::cdf2 : Format::cdf5;
}

}  // namespace thalweg::detail
