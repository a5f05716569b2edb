// Tests fill values set by tw_set_var: for data that were not put, for elements that no rank holds,
// and in place of values that do not fit; for every type, in every format.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: fill [--servers N]
#include <netcdf.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "system/calls.hpp"
#include "system/oracle.hpp"
#include "system/pnetcdf.hpp"
#include "system/values.hpp"

namespace {

using calls::session;

constexpr std::int64_t gap = 3;  // elements at the end that no rank holds

struct Fill {
    const char* text;
    tw_type type;
    bool classic;  // all formats have this type, the classic ones included
    std::vector<char> bits;
};

template <class T>
Fill fill(const char* text, tw_type type, bool classic, T value) {
    std::vector<char> bits(sizeof value);
    std::memcpy(bits.data(), &value, sizeof value);
    return {text, type, classic, bits};
}

const std::vector<Fill>& fills() {
    static const std::vector<Fill> all{
        fill("-7", TW_BYTE, true, std::int8_t(-7)),
        fill("x", TW_CHAR, true, 'x'),
        fill("' '", TW_CHAR, true, ' '),
        fill("-300", TW_SHORT, true, std::int16_t(-300)),
        fill("-2147483648", TW_INT, true, std::numeric_limits<std::int32_t>::min()),
        fill("1e30", TW_FLOAT, true, 1e30F),
        fill("0", TW_DOUBLE, true, 0.0),
        fill("nan", TW_DOUBLE, true, std::numeric_limits<double>::quiet_NaN()),
        fill("-1.7976931348623157e308", TW_DOUBLE, true, -std::numeric_limits<double>::max()),
        fill("200", TW_UBYTE, false, std::uint8_t(200)),
        fill("60000", TW_USHORT, false, std::uint16_t(60000)),
        fill("4000000000", TW_UINT, false, std::uint32_t(4000000000U)),
        fill("-9223372036854775807", TW_INT64, false, std::int64_t(-9223372036854775807LL)),
        fill("18446744073709551615", TW_UINT64, false, std::uint64_t(18446744073709551615ULL))};
    return all;
}

std::string name(std::size_t i, const char* what) { return what + std::to_string(i); }

struct Line {
    std::int64_t length = 0, held = 0, start = 0, count = 0;
    tw_decomposition handle = nullptr;
    Line() {
        const std::int64_t n = check::state.size, r = check::state.rank;
        held = 4 * n + 1;
        length = held + gap;
        start = held * r / n;
        count = held * (r + 1) / n - start;
        OK(tw_decompose(session, "x", 1, &length, &start, &count, &handle));
    }
};

void define(tw_file f, const Line& line, bool all) {
    for (std::size_t i = 0; i < fills().size(); ++i) {
        const Fill& v = fills()[i];
        if (!v.classic && !all) continue;
        const std::string settings = std::string(" fill = ") + v.text + " ;";
        OK(tw_def_var(f, name(i, "v").c_str(), v.type, "time x", line.handle));
        OK(tw_set_var(f, name(i, "v").c_str(), settings.c_str()));
        OK(tw_def_var(f, name(i, "never").c_str(), v.type, "x", line.handle));
        OK(tw_set_var(f, name(i, "never").c_str(), settings.c_str()));
    }
    OK(tw_def_var(f, "both", TW_SHORT, "time x", line.handle));
    OK(tw_set_var(f, "both", "fill=9"));
    const std::int16_t nine = 9;
    OK(tw_put_att(f, "both", "_FillValue", TW_SHORT, 1, &nine));
    OK(tw_def_var(f, "misfit", TW_BYTE, "time x", line.handle));
    OK(tw_set_var(f, "misfit", "fill=5"));
}

/// Puts ones into the elements that a rank holds.
void put(tw_file f, const Line& line, bool all) {
    for (std::size_t i = 0; i < fills().size(); ++i) {
        const Fill& v = fills()[i];
        if (!v.classic && !all) continue;
        std::vector<char> ones(static_cast<std::size_t>(line.count) * v.bits.size(), '\1');
        OK(tw_put(f, name(i, "v").c_str(), v.type, ones.data(), line.count));
    }
}

/// Compares each element of a variable: ones (all bytes 1) if it was put, otherwise the fill value.
void compare(int id, const std::string& variable, const Fill& v, const std::vector<char>& was_put,
             std::size_t elements, bool attribute) {
    int var = 0, nd = 0;
    CHECK(nc_inq_varid(id, variable.c_str(), &var) == NC_NOERR);
    CHECK(nc_inq_varndims(id, var, &nd) == NC_NOERR);
    int has = nc_inq_attid(id, var, "_FillValue", nullptr);
    CHECK_TEXT((has == NC_NOERR) == attribute, variable);
    std::vector<std::size_t> start(static_cast<std::size_t>(nd), 0), count{elements};
    if (nd == 2) count.insert(count.begin(), was_put.size());
    std::vector<char> got(was_put.size() * elements * v.bits.size());
    CHECK(get_values(id, var, v.type, start, count, got.data()) == NC_NOERR);
    for (std::size_t k = 0; k < was_put.size() * elements; ++k) {
        const bool put =
            was_put[k / elements] != 0 && k % elements < elements - static_cast<std::size_t>(gap);
        const std::vector<char> wanted = put ? std::vector<char>(v.bits.size(), '\1') : v.bits;
        const bool same =
            std::memcmp(got.data() + k * v.bits.size(), wanted.data(), v.bits.size()) == 0;
        CHECK_TEXT(same, "{} (fill={}), element {}", variable, v.text, k);
        if (!same) return;
    }
    int no_fill = 0;
    std::vector<char> told(8);
    int format = 0;
    nc_inq_format(id, &format);
    if (format != NC_FORMAT_NETCDF4 && format != NC_FORMAT_NETCDF4_CLASSIC) return;
    CHECK(nc_inq_var_fill(id, var, &no_fill, told.data()) == NC_NOERR);
    CHECK_TEXT(no_fill == 0 && std::memcmp(told.data(), v.bits.data(), v.bits.size()) == 0,
               variable);
}

void look(const std::string& path, const Line& line, bool all, const std::vector<char>& was_put) {
    MPI_Barrier(check::state.comm);
    if (check::state.rank != 0) return;
    int id = 0;
    CHECK_TEXT(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR, path);
    const auto n = static_cast<std::size_t>(line.length);
    for (std::size_t i = 0; i < fills().size(); ++i) {
        if (!fills()[i].classic && !all) continue;
        compare(id, name(i, "v"), fills()[i], was_put, n, false);
        compare(id, name(i, "never"), fills()[i], {0}, n, false);
    }
    compare(id, "both", fill("9", TW_SHORT, true, std::int16_t(9)),
            std::vector<char>(was_put.size(), 0), n, true);
    nc_close(id);
}

/// Writes two records, the second one without puts. A third record is added to a classic file
/// later.
void steps(const std::string& folder, const std::string& settings, bool all) {
    const std::string path = folder + "/f.nc";
    const Line line;
    check::step(settings);
    tw_file f = nullptr;
    OK(tw_create(session, path.c_str(), settings.c_str(), &f));
    define(f, line, all);
    put(f, line, all);
    std::vector<int> large(static_cast<std::size_t>(line.count), 300);
    OK(tw_put(f, "misfit", TW_INT, large.data(), line.count));
    const int misfit = tw_end_step(f);
    CHECK_TEXT(misfit == TW_OK || misfit == TW_ERANGE, calls::text());
    const int second = tw_end_step(f);
    CHECK_TEXT(second == TW_OK || second == TW_ERANGE, calls::text());
    const int closed = tw_close(&f);
    CHECK_TEXT(closed == TW_OK || closed == TW_ERANGE, calls::text());
    look(path, line, all, {1, 0});
    if (check::state.rank == 0) {
        int id = 0, var = 0;
        std::vector<signed char> got(static_cast<std::size_t>(2 * line.length));
        CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
        CHECK(nc_inq_varid(id, "misfit", &var) == NC_NOERR);
        CHECK(nc_get_var_schar(id, var, got.data()) == NC_NOERR);
        for (const signed char value : got) CHECK_TEXT(value == 5, "{}", value);
        nc_close(id);
    }
    MPI_Barrier(check::state.comm);
    if (settings.find("netcdf4") != std::string::npos) return;
    OK(tw_open(session, path.c_str(), ("mode=append; " + settings).c_str(), &f));
    define(f, line, all);
    OK(tw_end_step(f));
    OK(tw_close(&f));
    look(path, line, all, {1, 0, 0});
    // The model's fill value differs from the file's _FillValue.
    OK(tw_open(session, path.c_str(), ("mode=append; " + settings).c_str(), &f));
    for (std::size_t i = 0; i < fills().size(); ++i) {
        if (!fills()[i].classic && !all) continue;
        OK(tw_def_var(f, name(i, "v").c_str(), fills()[i].type, "time x", line.handle));
        OK(tw_def_var(f, name(i, "never").c_str(), fills()[i].type, "x", line.handle));
    }
    OK(tw_def_var(f, "both", TW_SHORT, "time x", line.handle));
    OK(tw_def_var(f, "misfit", TW_BYTE, "time x", line.handle));
    OK(tw_set_var(f, "both", "fill=8"));
    REFUSED(tw_enddef(f), TW_EDIFFERENT, "setting fill=8 of 'both' in the model");
    (void)tw_close(&f);
}

void mistakes(const std::string& folder) {
    const Line line;
    tw_file f = nullptr;
    OK(tw_create(session, (folder + "/m.nc").c_str(), "format=cdf5", &f));
    for (std::size_t i = 0; i < fills().size(); ++i)
        OK(tw_def_var(f, name(i, "v").c_str(), fills()[i].type, "x", line.handle));
    const auto refused = [&](tw_type type, const char* text, const char* words) {
        for (std::size_t i = 0; i < fills().size(); ++i)
            if (fills()[i].type == type)
                REFUSED(tw_set_var(f, name(i, "v").c_str(), (std::string("fill=") + text).c_str()),
                        TW_ESETTING, words);
    };
    refused(TW_BYTE, "128", "it must be an integer from -128 to 127");
    refused(TW_BYTE, "1.5", "it must be an integer from -128 to 127");
    refused(TW_UBYTE, "-1", "it must be an integer from 0 to 255");
    refused(TW_INT, "1e30", "it must be an integer from -2147483648 to 2147483647");
    refused(TW_INT, "", "it must be an integer");
    refused(TW_INT, "+-5", "it must be an integer");
    refused(TW_INT64, "9223372036854775808", "to 9223372036854775807");
    refused(TW_UINT64, "18446744073709551616", "from 0 to 18446744073709551615");
    refused(TW_FLOAT, "1e39", "it must be a float");
    refused(TW_FLOAT, "zero", "it must be a float");
    refused(TW_DOUBLE, "1e309", "it must be a double");
    refused(TW_DOUBLE, "1 2", "it must be a double");
    refused(TW_CHAR, "ab", "it must be one character");
    refused(TW_CHAR, "", "it must be one character");
    REFUSED(tw_set_var(f, "v0", "fil=1"), TW_ESETTING, "did you mean 'fill'?");
    REFUSED(tw_set_var(f, "v0", "fill"), TW_ESETTING, "'fill' is not of the form name=value");

    // The attribute and the setting have different values, which is an error in either order.
    const float one = 1, none = std::numeric_limits<float>::quiet_NaN();
    OK(tw_def_var(f, "a", TW_FLOAT, "x", line.handle));
    OK(tw_put_att(f, "a", "_FillValue", TW_FLOAT, 1, &one));
    REFUSED(tw_set_var(f, "a", "fill=2"), TW_ESETTING, "'_FillValue' = float 1");
    OK(tw_set_var(f, "a", "fill=1.0"));
    OK(tw_def_var(f, "b", TW_FLOAT, "x", line.handle));
    OK(tw_set_var(f, "b", "fill=2"));
    REFUSED(tw_put_att(f, "b", "_FillValue", TW_FLOAT, 1, &one), TW_ESETTING, "fill=2");
    OK(tw_set_var(f, "b", "fill=nan"));
    OK(tw_put_att(f, "b", "_FillValue", TW_FLOAT, 1, &none));
    if (check::state.size > 1) {
        OK(tw_set_var(f, "v0", check::state.rank == 1 ? "fill=1" : "fill=2"));
        REFUSED(tw_enddef(f), TW_EMISMATCH, "fill=2");
    }
    (void)tw_close(&f);
}

/// Tests that settings of compression have no effect in a classic format, and are not an error: the
/// user of a program may choose another format than its author.
void ignored(const std::string& folder) {
    const Line line;
    tw_file f = nullptr;
    const std::string path = folder + "/i.nc";
    OK(tw_create(session, path.c_str(), "format=cdf2", &f));
    OK(tw_def_var(f, "T", TW_FLOAT, "time x", line.handle));
    OK(tw_set_var(f, "T", "deflate=1; shuffle=yes; chunks=x=2; fill=0"));
    OK(tw_end_step(f));
    OK(tw_close(&f));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 20);
    const std::string folder = check::make_folder("fill");
    const std::string servers = check::option(argc, argv, "--servers", "0");
    calls::in_session("log=off; node_size=2; servers=" + servers, [&] {
        if (servers != "0") {
            steps(folder, "format=cdf5; service=servers", true);
            steps(folder, "format=netcdf4; service=servers; deflate=1", true);
        } else {
            for (const char* method : {"record", "slabs", "direct", "serial", "tiles"})
                steps(folder, std::string("format=cdf5; method=") + method, true);
            steps(folder, "format=cdf1", false);
            steps(folder, "format=cdf5; storage=" PNETCDF, true);
            steps(folder, "format=cdf2; method=direct; storage=" PNETCDF_BLOCKING, false);
            steps(folder, "format=cdf5; service=background", true);
            for (const char* more :
                 {"", "; method=direct", "; deflate=1", "; deflate=1; chunks=x=2",
                  "; service=background", "; service=background; deflate=1"})
                steps(folder, std::string("format=netcdf4") + more, true);
            steps(folder, "format=netcdf4-classic", false);
            mistakes(folder);
            ignored(folder);
        }
    });
    return check::verdict("fill");
}
