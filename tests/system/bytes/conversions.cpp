// Converts every type in memory to every type in the file, at the limits of all types: values that
// fit must be written as serial netCDF-C writes them; other values must give TW_ERANGE on every
// rank, and become fill values.
//
// SPDX-License-Identifier: Apache-2.0

#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/compare.hpp"
#include "system/oracle.hpp"
#include "system/values.hpp"
#include "thalweg/thalweg.h"

namespace {

// Values of one type in memory, packed.
struct Values {
    tw_type type;
    std::vector<char> bytes;
    std::int64_t n = 0;

    void add(const char* value) {
        bytes.insert(bytes.end(), value, value + type_size(type));
        ++n;
    }
};

template <class T>
T as(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Returns the exact value: long double has the 64 bits of the widest integer.
long double number(tw_type type, const char* from) {
    static_assert(std::numeric_limits<long double>::digits >= 64);
    switch (type) {
        case TW_BYTE: return as<std::int8_t>(from);
        case TW_SHORT: return as<std::int16_t>(from);
        case TW_INT: return as<std::int32_t>(from);
        case TW_FLOAT: return as<float>(from);
        case TW_DOUBLE: return as<double>(from);
        case TW_UBYTE: return as<std::uint8_t>(from);
        case TW_USHORT: return as<std::uint16_t>(from);
        case TW_UINT: return as<std::uint32_t>(from);
        case TW_INT64: return static_cast<long double>(as<std::int64_t>(from));
        case TW_UINT64: return static_cast<long double>(as<std::uint64_t>(from));
        default: return 0;
    }
}

// Tests if a value fits by netCDF's rule: the value itself, and not the converted one, must be in
// the range of the file's type.
bool fits(tw_type memory, tw_type file, const std::string& format, const char* value) {
    if (memory == file) return true;
    // In CDF-1 and CDF-2, a byte can be interpreted as signed or unsigned.
    if (memory == TW_UBYTE && file == TW_BYTE && format != "cdf5") return true;
    const long double v = number(memory, value);
    if (file == TW_DOUBLE) return true;
    if (file == TW_FLOAT)
        return std::isnan(v) ||
               std::fabs(v) <= static_cast<long double>(std::numeric_limits<float>::max());
    return v >= static_cast<long double>(lowest(file)) &&
           v <= static_cast<long double>(highest(file));
}

// Returns values near the limits of all types. Infinities and NaN are included for floating-point
// types.
std::vector<std::string> candidates(tw_type memory) {
    std::vector<std::string> result;
    const auto size = static_cast<std::size_t>(type_size(memory));
    const auto add_floating = [&](double value) {
        char bytes[8];
        put_floating(bytes, memory, value);
        result.emplace_back(bytes, size);
    };
    for (const tw_type other : number_types()) {
        if (is_floating(other)) continue;
        for (const bool high : {false, true}) {
            const std::uint64_t limit =
                high ? highest(other) : static_cast<std::uint64_t>(lowest(other));
            if (!is_floating(memory)) {
                for (std::uint64_t d = 0; d < 5; ++d) {
                    char bytes[8];
                    put_integer(bytes, memory, limit + d - 2);
                    result.emplace_back(bytes, size);
                }
                continue;
            }
            const double edge =
                high ? static_cast<double>(limit) : static_cast<double>(lowest(other));
            for (const double d : {-2.0, -1.0, -0.75, -0.5, 0.0, 0.5, 0.75, 1.0, 2.0})
                add_floating(edge + d);
            if (memory == TW_FLOAT) {
                add_floating(std::nextafterf(static_cast<float>(edge), 1e38F));
                add_floating(std::nextafterf(static_cast<float>(edge), -1e38F));
            } else {
                add_floating(std::nextafter(edge, 1e300));
                add_floating(std::nextafter(edge, -1e300));
            }
        }
    }
    if (is_floating(memory)) {
        for (const double v :
             {0.0, -0.0, 1e-45, 1e-38, 1.1, -1.9, 3.4028234663852886e38, -3.4028234663852886e38})
            add_floating(v);
        if (memory == TW_DOUBLE)
            for (const double v : {1e-320, 3.40282350e38, 3.5e38, -3.5e38, 1e300, -1e300})
                add_floating(v);
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string folder = check::make_folder("conversions");
    const std::string path = folder + "/file.nc";
    const std::string expected = folder + "/expected.nc";
    tw_session session = nullptr;
    CHECK(tw_init(MPI_COMM_WORLD, "log=off", &session) == TW_OK);

    const auto compare = [&](const std::string& name, const std::string& format,
                             const std::string& storage, bool deferred, tw_type file,
                             const Values& values, bool good) {
        check::step("%s", name.c_str());
        // Each rank puts one part.
        const std::int64_t start = values.n * check::state.rank / check::state.size;
        const std::int64_t count = values.n * (check::state.rank + 1) / check::state.size - start;
        tw_decomposition d = nullptr;
        CHECK(tw_decompose(session, "x", 1, &values.n, &start, &count, &d) == TW_OK);
        tw_file f = nullptr;
        CHECK(tw_create(session, path.c_str(),
                        ("format=" + format + "; storage=" + storage).c_str(), &f) == TW_OK);
        CHECK(tw_def_var(f, "v", file, "x", d) == TW_OK);
        const char* mine = values.bytes.data() + start * type_size(values.type);
        CHECK(tw_enddef(f) == TW_OK);
        const int put = deferred
                            ? tw_put_array(f, "v", tw_dense(values.type, mine, count), TW_DEFERRED)
                            : tw_put(f, "v", values.type, mine, count);
        CHECK_TEXT(put == TW_OK, "%s: %s", name.c_str(), tw_error_message(session));
        const int status = tw_end_step(f);
        CHECK_TEXT(status == (good ? TW_OK : TW_ERANGE), "%s: %s %s", name.c_str(),
                   tw_strerror(status), status == TW_OK ? "" : tw_error_message(session));
        CHECK_TEXT(tw_close(&f) == TW_OK, "%s: %s", name.c_str(), tw_error_message(session));
        if (check::state.rank != 0) return;
        {
            Oracle oracle(expected, format);
            oracle.dim("x", values.n);
            const int v = oracle.var("v", file, {"x"});
            oracle.enddef();
            // Values that do not fit become the fill value, which is in the reference already.
            const std::vector<std::size_t> zero{0};
            if (good)
                oracle.require(
                    oracle.put(v, values.type, zero, {static_cast<std::size_t>(values.n)},
                               values.bytes.data()),
                    "nc_put_vara");
            oracle.close();
        }
        const std::string what = difference(expected, path);
        CHECK_TEXT(what.empty(), "%s: %s", name.c_str(), what.c_str());
    };

    for (const std::string format : {"cdf2", "cdf5"})
        for (const tw_type file : number_types()) {
            if (format == "cdf2" && file > TW_DOUBLE) continue;
            for (const tw_type memory : number_types()) {
                Values good{memory, {}, 0};
                Values bad{memory, {}, 0};
                for (const std::string& value : candidates(memory)) {
                    // netCDF-C compares with a limit that is rounded to floating point, and so
                    // accepts 2^31 as an int; the library does not.
                    (fits(memory, file, format, value.data()) ? good : bad).add(value.data());
                }
                if (is_floating(memory) && !is_floating(file)) {
                    char bytes[8];
                    put_floating(bytes, memory, std::numeric_limits<double>::quiet_NaN());
                    bad.add(bytes);
                    put_floating(bytes, memory, -std::numeric_limits<double>::infinity());
                    bad.add(bytes);
                }
                const std::string name = format + ": " + type_name(memory) + " in memory to " +
                                         type_name(file) + " in the file";
                for (const bool deferred : {false, true}) {
                    const std::string storage = file == TW_SHORT ? PNETCDF : "posix";
                    if (good.n > 0)
                        compare(name + ", fitting", format, storage, deferred, file, good, true);
                    if (bad.n > 0)
                        compare(name + ", not fitting", format, storage, deferred, file, bad,
                                false);
                }
            }
        }
    check::step("tw_finalize");
    CHECK(tw_finalize(&session) == TW_OK);
    if (check::state.rank == 0) {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    return check::verdict("conversions");
}
