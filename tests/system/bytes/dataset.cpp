// Writes a small history file like an atmosphere model's, for readers.py, which knows the same
// formulas.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: dataset FILE
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

// lengths that no number of ranks divides
constexpr std::int64_t nlon = 45;
constexpr std::int64_t nlat = 31;
constexpr std::int64_t nlev = 13;
constexpr std::int64_t ntext = 19;
constexpr int nrecords = 3;

/// Returns a value that is exact in float, and differs for neighbours.
double pattern(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return static_cast<double>((((a * 31 + b) * 37 + c) * 41 + d) % 10007) * 0.25;
}

float temperature(std::int64_t t, std::int64_t k, std::int64_t j, std::int64_t i) {
    return static_cast<float>(200.0 + pattern(t, k, j, i));
}
double moisture(std::int64_t t, std::int64_t k, std::int64_t j, std::int64_t i) {
    return pattern(t + 5, k, j, i) * 1e-6;
}
float pressure(std::int64_t t, std::int64_t j, std::int64_t i) {
    return static_cast<float>(90000.0 + pattern(t, 1, j, i));
}
std::int32_t surface(std::int64_t j, std::int64_t i) {
    return static_cast<std::int32_t>(pattern(0, 0, j, i) * 4);
}
/// Tests if a point is land. No rank holds the ocean, which gets fill values.
bool is_land(std::int64_t j) { return j >= 7 && j < 22; }
double latitude(std::int64_t j) { return -90.0 + 180.0 * static_cast<double>(j) / (nlat - 1); }
double longitude(std::int64_t i) { return 360.0 * static_cast<double>(i) / nlon; }
float level(std::int64_t k) { return static_cast<float>(10 * (k + 1)); }
double time_of(int record) { return 0.25 * record; }

std::string label(int record) {
    std::string text = "record " + std::to_string(record);
    text.resize(ntext, '\0');
    return text;
}

template <class Text, class Number>
void attributes(Text&& text, Number&& number) {
    text("", "Conventions", "CF-1.10");
    text("", "title", "thalweg test history");
    text("", "empty", "");
    const std::int32_t count = 3;
    number("", "expected_records", TW_INT, 1, &count);
    const double versions[3] = {1.5, -2.25, 1e300};
    number("", "doubles", TW_DOUBLE, 3, versions);
    text("lat", "units", "degrees_north");
    text("lat", "standard_name", "latitude");
    text("lon", "units", "degrees_east");
    text("lon", "standard_name", "longitude");
    text("lev", "units", "hPa");
    text("lev", "positive", "down");
    text("time", "units", "days since 2000-01-01 00:00:00");
    text("time", "calendar", "noleap");
    text("T", "units", "K");
    text("T", "long_name", "temp\xc3\xa9rature");  // UTF-8
    text("Q", "units", "kg kg-1");
    const double missing = -999.0;
    number("Q", "_FillValue", TW_DOUBLE, 1, &missing);
    const float range[2] = {0.0F, 1.0F};
    number("Q", "valid_range", TW_FLOAT, 2, range);
    text("PS", "units", "Pa");
    text("PHIS", "units", "m2 s-2");
    const std::int16_t code = 129;
    number("PHIS", "table", TW_SHORT, 1, &code);
    const std::int8_t flags[3] = {-1, 0, 1};
    number("PHIS", "flags", TW_BYTE, 3, flags);
}

/// Ranks divide (lat, lev, lon) along latitude, with a halo, and surface fields along both
/// dimensions. Each rank has its own order of puts.
void write(tw_session session, const std::string& path) {
    const int size = check::state.size, rank = check::state.rank;
    const auto expect = [&](int status, const char* call) {
        CHECK_TEXT(status == TW_OK, "%s gave %s: %s", call, tw_strerror(status),
                   tw_error_message(session));
    };
    const auto part = [&](std::int64_t n, int of, int which, std::int64_t& start,
                          std::int64_t& count) {
        start = n * which / of;
        count = n * (which + 1) / of - start;
    };

    // Parts of latitude, with a halo of one element on each side in latitude and longitude.
    const std::int64_t shape3[3] = {nlat, nlev, nlon};
    std::int64_t start3[3] = {0, 0, 0};
    std::int64_t count3[3] = {0, nlev, nlon};
    part(nlat, size, rank, start3[0], count3[0]);
    const std::int64_t halo[3] = {1, 0, 1};
    tw_decomposition cells = nullptr;
    expect(tw_decompose_halo(session, "lat lev lon", 1, shape3, start3, count3, halo, halo, &cells),
           "tw_decompose_halo");

    // Boxes of (lon, lat).
    int rows = 1;
    while ((rows + 1) * (rows + 1) <= size) ++rows;
    const int columns = size / rows;
    const std::int64_t shape2[2] = {nlon, nlat};
    std::int64_t start2[2] = {0, 0};
    std::int64_t count2[2] = {0, 0};
    const int boxes = rank < rows * columns ? 1 : 0;
    if (boxes == 1) {
        part(nlon, columns, rank % columns, start2[0], count2[0]);
        part(nlat, rows, rank / columns, start2[1], count2[1]);
    }
    tw_decomposition surface_boxes = nullptr;
    expect(tw_decompose(session, "lon lat", boxes, shape2, start2, count2, &surface_boxes),
           "tw_decompose");

    // ranks have rows of land in turn
    const std::int64_t shape_land[2] = {nlat, nlon};
    std::vector<std::int64_t> start_land;
    std::vector<std::int64_t> count_land;
    std::vector<std::int32_t> phis;
    for (std::int64_t j = 0; j < nlat; ++j) {
        if (!is_land(j) || j % size != rank) continue;
        start_land.insert(start_land.end(), {j, 0});
        count_land.insert(count_land.end(), {1, nlon});
        for (std::int64_t i = 0; i < nlon; ++i) phis.push_back(surface(j, i));
    }
    tw_decomposition land = nullptr;
    expect(tw_decompose(session, "lat lon", static_cast<int>(start_land.size() / 2), shape_land,
                        start_land.data(), count_land.data(), &land),
           "tw_decompose");

    tw_file f = nullptr;
    expect(tw_create(session, path.c_str(), "", &f), "tw_create");
    expect(tw_def_dim(f, "lat", nlat), "tw_def_dim");
    expect(tw_def_dim(f, "lon", nlon), "tw_def_dim");
    expect(tw_def_dim(f, "lev", nlev), "tw_def_dim");
    expect(tw_def_dim(f, "time", TW_UNLIMITED), "tw_def_dim");
    expect(tw_def_dim(f, "text", ntext), "tw_def_dim");
    const auto define = [&](const char* name, tw_type type, const char* dims, tw_decomposition d) {
        expect(tw_def_var(f, name, type, dims, d), "tw_def_var");
    };
    define("lat", TW_DOUBLE, "lat", nullptr);
    define("lon", TW_DOUBLE, "lon", nullptr);
    define("lev", TW_FLOAT, "lev", nullptr);
    define("time", TW_DOUBLE, "time", nullptr);
    define("label", TW_CHAR, "time text", nullptr);
    define("PHIS", TW_INT, "lat lon", land);
    define("T", TW_FLOAT, "time lev lat lon", cells);
    define("Q", TW_DOUBLE, "time lev lat lon", cells);
    define("PS", TW_FLOAT, "time lat lon", surface_boxes);
    define("mask", TW_BYTE, "time lat lon", surface_boxes);
    define("version", TW_SHORT, "", nullptr);
    attributes(
        [&](const char* var, const char* name, const std::string& value) {
            expect(tw_put_att_text(f, var, name, value.c_str()), "tw_put_att_text");
        },
        [&](const char* var, const char* name, tw_type type, std::int64_t n, const void* values) {
            expect(tw_put_att(f, var, name, type, n, values), "tw_put_att");
        });
    expect(tw_enddef(f), "tw_enddef");

    const auto put = [&](const char* name, tw_type type, const auto& values) {
        expect(tw_put(f, name, type, values.data(), static_cast<std::int64_t>(values.size())),
               name);
    };
    put("PHIS", TW_INT, phis);
    std::vector<double> lat_values;
    for (std::int64_t j = 0; j < nlat; ++j) lat_values.push_back(latitude(j));
    put("lat", TW_DOUBLE, lat_values);
    std::vector<double> lon_values;
    for (std::int64_t i = 0; i < nlon; ++i) lon_values.push_back(longitude(i));
    put("lon", TW_DOUBLE, lon_values);
    std::vector<float> lev_values;
    for (std::int64_t k = 0; k < nlev; ++k) lev_values.push_back(level(k));
    put("lev", TW_FLOAT, lev_values);
    put("version", TW_INT, std::vector<std::int32_t>{7});

    const std::int64_t wide = nlon + 2;
    const std::int64_t high = count3[0] == 0 ? 0 : count3[0] + 2;
    for (int r = 0; r < nrecords; ++r) {
        std::vector<float> t(static_cast<std::size_t>(high * nlev * wide), -1e30F);
        std::vector<double> q(t.size(), -1e300);
        for (std::int64_t j = 0; j < count3[0]; ++j)
            for (std::int64_t k = 0; k < nlev; ++k)
                for (std::int64_t i = 0; i < nlon; ++i) {
                    const auto at = static_cast<std::size_t>(((j + 1) * nlev + k) * wide + i + 1);
                    t[at] = temperature(r, k, start3[0] + j, i);
                    q[at] = moisture(r, k, start3[0] + j, i);
                }
        const auto put_t = [&] { put("T", TW_FLOAT, t); };
        const auto put_q = [&] {
            // Put without the halo, as a section of the array.
            const std::int64_t extent[3] = {count3[0], nlev, nlon};
            const std::int64_t stride[3] = {8 * nlev * wide, 8 * wide, 8};
            const double* first = q.empty() ? q.data() : q.data() + nlev * wide + 1;
            expect(
                tw_put_array(f, "Q", tw_strided(TW_DOUBLE, first, 3, extent, stride), TW_DEFERRED),
                "Q");
        };
        if (rank % 2 == 0) {
            put_t();
            put_q();
        }
        std::vector<float> ps;
        std::vector<std::int32_t> mask;
        for (std::int64_t i = 0; i < count2[0]; ++i)
            for (std::int64_t j = 0; j < count2[1]; ++j) {
                ps.push_back(pressure(r, start2[1] + j, start2[0] + i));
                mask.push_back(static_cast<std::int32_t>((start2[0] + i + start2[1] + j + r) % 2));
            }
        if (r != 1) put("PS", TW_FLOAT, ps);
        put("mask", TW_INT, mask);
        if (rank % 2 != 0) {
            put_q();
            put_t();
        }
        put("time", TW_DOUBLE, std::vector<double>{time_of(r)});
        put("label", TW_CHAR, label(r));
        expect(tw_end_step(f), "tw_end_step");
    }
    expect(tw_close(&f), "tw_close");
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    tw_session session = nullptr;
    CHECK(tw_init(MPI_COMM_WORLD, "node_size=2", &session) == TW_OK);
    write(session, argv[1]);
    CHECK(tw_finalize(&session) == TW_OK);
    return check::verdict("dataset");
}
