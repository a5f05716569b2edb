// SPDX-License-Identifier: Apache-2.0
#include "nc/base/types.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "exchange/pack/kernels.hpp"
#include "index/types.hpp"

namespace thalweg::nc {

namespace {

bool is_byte(nc_type type) { return type == NC_BYTE || type == NC_UBYTE; }

tw_type own(nc_type type) { return static_cast<tw_type>(type); }

// Converts numbers. Returns the number of those that do not fit, which `fill` replaces.
std::int64_t convert_numbers(nc_type from, const void* source, nc_type to, void* target,
                             std::int64_t n, const std::string& fill, Order order) {
    const auto to_size = static_cast<std::ptrdiff_t>(size_of(to));
    char ordered[8];
    detail::pack_kernel(own(to), own(to), order)(ordered, to_size, fill.data(), to_size, 1,
                                                 nullptr);
    return detail::pack_kernel(own(from), own(to), order)(
        static_cast<char*>(target), to_size, static_cast<const char*>(source),
        static_cast<std::ptrdiff_t>(size_of(from)), n, ordered);
}

}  // namespace

Format format_named(const std::string& name) {
    for (int number = NC_FORMAT_CLASSIC; number <= NC_FORMAT_CDF5; number++)
        if (name == name_of(static_cast<Format>(number))) return static_cast<Format>(number);
    return Format::netcdf4;
}

Format format_numbered(int number) {
    const bool known = number >= NC_FORMAT_CLASSIC && number <= NC_FORMAT_CDF5;
    return known ? static_cast<Format>(number) : Format::cdf1;
}

std::size_t size_of(nc_type type) {
    return detail::valid_type(type) ? static_cast<std::size_t>(detail::size_of(own(type))) : 0;
}

const char* name_of_type(nc_type type) { return detail::name_of(own(type)); }

std::string default_fill(nc_type type) {
    std::string bytes(size_of(type), '\0');
    if (!bytes.empty()) detail::default_fill(own(type), bytes.data());
    return bytes;
}

bool always_fits(nc_type from, nc_type to) {
    if (from == to || to == NC_DOUBLE || (to == NC_FLOAT && from != NC_DOUBLE)) return true;
    if (size_of(to) == 0 || to == NC_CHAR || !detail::valid_type(from)) return false;
    return detail::with_number(own(from), [&](auto number) {
        using Limits = std::numeric_limits<decltype(number)>;
        const decltype(number) extremes[] = {Limits::min(), Limits::max()};
        char converted[2 * sizeof(double)];
        return Limits::is_integer && convert_numbers(from, extremes, to, converted, 2,
                                                     default_fill(to), Order::native) == 0;
    });
}

int convert(nc_type from, const void* source, nc_type to, void* target, std::int64_t n,
            const std::string& fill, bool any_sign, Order order) {
    if (size_of(from) == 0 || size_of(to) == 0) return NC_EBADTYPE;
    if (n == 0) return NC_NOERR;
    const bool as_is = size_of(to) == 1 || order == Order::native;
    if ((from == to && as_is) || (any_sign && is_byte(from) && is_byte(to))) {
        std::memcpy(target, source, static_cast<std::size_t>(n) * size_of(from));
        return NC_NOERR;
    }
    if (from == NC_CHAR || to == NC_CHAR) return NC_ECHAR;
    const std::int64_t misfits =
        convert_numbers(from, source, to, target, n, fill.empty() ? default_fill(to) : fill, order);
    return misfits == 0 ? NC_NOERR : NC_ERANGE;
}

}  // namespace thalweg::nc
