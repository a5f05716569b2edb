// SPDX-License-Identifier: Apache-2.0
#include "nc/base/types.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace thalweg::nc {

namespace {

// Calls an action with a value of the C type that corresponds to a type. Returns false if the type
// is not numeric.
template <class Action>
bool with_type(nc_type type, Action action) {
    switch (type) {
        case NC_BYTE: action(static_cast<signed char>(NC_FILL_BYTE)); return true;
        case NC_SHORT: action(static_cast<short>(NC_FILL_SHORT)); return true;
        case NC_INT: action(static_cast<int>(NC_FILL_INT)); return true;
        case NC_FLOAT: action(static_cast<float>(NC_FILL_FLOAT)); return true;
        case NC_DOUBLE: action(static_cast<double>(NC_FILL_DOUBLE)); return true;
        case NC_UBYTE: action(static_cast<unsigned char>(NC_FILL_UBYTE)); return true;
        case NC_USHORT: action(static_cast<unsigned short>(NC_FILL_USHORT)); return true;
        case NC_UINT: action(static_cast<unsigned int>(NC_FILL_UINT)); return true;
        case NC_INT64: action(static_cast<long long>(NC_FILL_INT64)); return true;
        case NC_UINT64: action(static_cast<unsigned long long>(NC_FILL_UINT64)); return true;
        default: return false;
    }
}

template <class To, class From>
bool fits(From value) {
    if constexpr (std::is_same_v<To, double>)
        return true;
    else if constexpr (std::is_same_v<To, float>) {
        if constexpr (std::is_same_v<From, double>)
            return !std::isfinite(value) ||
                   std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max());
        else
            return true;
    } else if constexpr (std::is_floating_point_v<From>) {
        // Compare with powers of two, which floating-point numbers represent exactly.
        const double whole = std::trunc(static_cast<double>(value));
        const double above = std::ldexp(1.0, std::numeric_limits<To>::digits);
        const double below = std::is_signed_v<To> ? -above : 0.0;
        return whole >= below && whole < above;
    } else {
        if constexpr (std::is_signed_v<From>) {
            if (value < 0) {
                if constexpr (!std::is_signed_v<To>)
                    return false;
                else
                    return static_cast<long long>(value) >=
                           static_cast<long long>(std::numeric_limits<To>::min());
            }
        }
        return static_cast<unsigned long long>(value) <=
               static_cast<unsigned long long>(std::numeric_limits<To>::max());
    }
}

bool is_byte(nc_type type) { return type == NC_BYTE || type == NC_UBYTE; }

}  // namespace

namespace {

struct FormatName {
    Format format;
    const char* name;
    int number;
};

constexpr FormatName formats[] = {
    {Format::cdf1, "cdf1", NC_FORMAT_CLASSIC},
    {Format::cdf2, "cdf2", NC_FORMAT_64BIT_OFFSET},
    {Format::cdf5, "cdf5", NC_FORMAT_64BIT_DATA},
    {Format::netcdf4, "netcdf4", NC_FORMAT_NETCDF4},
    {Format::netcdf4_classic, "netcdf4-classic", NC_FORMAT_NETCDF4_CLASSIC}};

}  // namespace

const char* name_of(Format format) { return formats[static_cast<int>(format)].name; }

int number_of(Format format) { return formats[static_cast<int>(format)].number; }

Format format_named(const std::string& name) {
    for (const FormatName& f : formats)
        if (name == f.name) return f.format;
    return Format::netcdf4;
}

Format format_numbered(int number) {
    for (const FormatName& f : formats)
        if (number == f.number) return f.format;
    return Format::cdf1;
}

bool is_netcdf4(Format format) {
    return format == Format::netcdf4 || format == Format::netcdf4_classic;
}

bool has_classic_types(Format format) {
    return format != Format::cdf5 && format != Format::netcdf4;
}

std::size_t size_of(nc_type type) {
    if (type == NC_CHAR) return 1;
    std::size_t size = 0;
    with_type(type, [&](auto fill) { size = sizeof fill; });
    return size;
}

const char* name_of_type(nc_type type) {
    static const char* const names[] = {"byte",  "char",   "short", "int",   "float", "double",
                                        "ubyte", "ushort", "uint",  "int64", "uint64"};
    return names[type - NC_BYTE];
}

std::string default_fill(nc_type type) {
    std::string bytes(type == NC_CHAR ? 1 : 0, NC_FILL_CHAR);
    with_type(type, [&](auto fill) {
        bytes.resize(sizeof fill);
        std::memcpy(bytes.data(), &fill, sizeof fill);
    });
    return bytes;
}

bool always_fits(nc_type from, nc_type to) {
    if (from == to || to == NC_DOUBLE || (to == NC_FLOAT && from != NC_DOUBLE)) return true;
    bool result = false;
    with_type(from, [&](auto a) {
        with_type(to, [&](auto b) {
            using From = decltype(a);
            using To = decltype(b);
            if constexpr (std::is_integral_v<From>)
                result = fits<To>(std::numeric_limits<From>::min()) &&
                         fits<To>(std::numeric_limits<From>::max());
        });
    });
    return result;
}

int convert(nc_type from, const void* source, nc_type to, void* target, std::int64_t n,
            const std::string& fill, bool any_sign) {
    if (size_of(from) == 0 || size_of(to) == 0) return NC_EBADTYPE;
    if (n == 0) return NC_NOERR;
    if (from == to || (any_sign && is_byte(from) && is_byte(to))) {
        std::memcpy(target, source, static_cast<std::size_t>(n) * size_of(from));
        return NC_NOERR;
    }
    if (from == NC_CHAR || to == NC_CHAR) return NC_ECHAR;
    int code = NC_NOERR;
    with_type(from, [&](auto a) {
        with_type(to, [&](auto replacement) {
            using From = decltype(a);
            using To = decltype(replacement);
            if (!fill.empty()) std::memcpy(&replacement, fill.data(), sizeof replacement);
            const auto* const in = static_cast<const From*>(source);
            auto* const out = static_cast<To*>(target);
            for (std::int64_t i = 0; i < n; i++) {
                const bool ok = fits<To>(in[i]);
                out[i] = ok ? static_cast<To>(in[i]) : replacement;
                if (!ok) code = NC_ERANGE;
            }
        });
    });
    return code;
}

}  // namespace thalweg::nc
