// Compares netCDF-4 files with filters, chunks and quantization of every kind with those that
// serial netCDF-C writes for the same settings.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: netcdf4 [--servers N] [--keep FOLDER]    FOLDER gets files for other readers

#include <mpi.h>
#include <netcdf.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "system/calls.hpp"
#include "system/compare_netcdf4.hpp"
#include "system/oracle.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t nz = 10;
constexpr std::int64_t ny = 19;
constexpr std::int64_t nx = 37;
constexpr int records = 3;

/// The storage of a variable: settings for the library, and calls of netCDF-C with the same effect.
struct Stored {
    std::string name;
    tw_type type;
    bool record;
    std::string settings;
    std::vector<std::size_t> chunks;  // chunk lengths; empty: the library chooses
    int shuffle = 0, deflate = 0;
    int quantize = NC_NOQUANTIZE, digits = 0;
};

/// Returns the variables for a format. In the classic model, netCDF-C 4.9.0 cannot quantize.
std::vector<Stored> variables(const std::string& format) {
    std::vector<Stored> table = {
        {"plain", TW_FLOAT, true, "", {}},
        {"fixed", TW_DOUBLE, false, "", {}},
        {"deflated", TW_FLOAT, true, "deflate=1", {}, 1, 1},
        {"unshuffled", TW_INT, true, "deflate=9; shuffle=no", {}, 0, 9},
        {"shuffled", TW_DOUBLE, true, "shuffle=yes", {}, 1, 0},
        {"chunked", TW_FLOAT, true, "chunks=z=4,x=10", {1, 4, ny, 10}},
        {"columns", TW_SHORT, false, "deflate=2; chunks=z=10,y=1,x=5", {nz, 1, 5}, 1, 2},
        {"groomed",
         TW_FLOAT,
         true,
         "quantize=bitgroom:3; deflate=1",
         {},
         1,
         1,
         NC_QUANTIZE_BITGROOM,
         3},
        {"granular", TW_DOUBLE, true, "quantize=granularbr:4", {}, 0, 0, NC_QUANTIZE_GRANULARBR, 4},
        {"granular4", TW_FLOAT, true, "quantize=granularbr:2", {}, 0, 0, NC_QUANTIZE_GRANULARBR, 2},
        {"rounded",
         TW_FLOAT,
         true,
         "quantize=bitround:9; chunks=y=7",
         {1, nz, 7, nx},
         0,
         0,
         NC_QUANTIZE_BITROUND,
         9},
        {"rounded8", TW_DOUBLE, false, "quantize=bitround:20", {}, 0, 0, NC_QUANTIZE_BITROUND, 20},
        {"groomed8",
         TW_DOUBLE,
         true,
         "quantize=bitgroom:5; chunks=z=3",
         {1, 3, ny, nx},
         0,
         0,
         NC_QUANTIZE_BITGROOM,
         5}};
    if (format != "netcdf4")
        std::erase_if(table, [](const Stored& s) { return s.quantize != NC_NOQUANTIZE; });
    return table;
}

double value(std::size_t variable, std::int64_t record, std::int64_t z, std::int64_t y,
             std::int64_t x) {
    const double smooth = std::sin(0.1 * static_cast<double>(x + 3 * y)) + 2 +
                          0.01 * static_cast<double>(z) + 0.3 * static_cast<double>(record);
    return smooth * 1000 * static_cast<double>(variable + 1);
}

double coordinate(std::int64_t i) { return static_cast<double>(i) * 0.5; }

void check_nc(int status) { CHECK_TEXT(status == NC_NOERR, nc_strerror(status)); }

void write_reference(const std::string& path, const std::string& format) {
    Oracle oracle(path, format);
    const std::vector<Stored> all = variables(format);
    oracle.dim("time", 0);
    oracle.dim("z", nz);
    oracle.dim("y", ny);
    oracle.dim("x", nx);
    for (const Stored& s : all) {
        const int id = s.record ? oracle.var(s.name, s.type, {"time", "z", "y", "x"})
                                : oracle.var(s.name, s.type, {"z", "y", "x"});
        if (!s.chunks.empty())
            check_nc(nc_def_var_chunking(oracle.id(), id, NC_CHUNKED, s.chunks.data()));
        if (s.quantize != NC_NOQUANTIZE)
            check_nc(nc_def_var_quantize(oracle.id(), id, s.quantize, s.digits));
        if (s.shuffle != 0 || s.deflate != 0)
            check_nc(nc_def_var_deflate(oracle.id(), id, s.shuffle, s.deflate > 0, s.deflate));
    }
    oracle.var("time", TW_DOUBLE, {"time"});
    oracle.var("y", TW_DOUBLE, {"y"});
    // This variable has the name of a dimension that is not its first.
    oracle.var("z", TW_INT, {"time", "z"});
    oracle.enddef();
    const int count = static_cast<int>(all.size());
    for (std::size_t r = 0; r < static_cast<std::size_t>(records); ++r) {
        for (int v = 0; v < count; ++v) {
            const Stored& s = all[static_cast<std::size_t>(v)];
            if (!s.record && r > 0) continue;
            std::vector<double> data;
            for (std::int64_t z = 0; z < nz; ++z)
                for (std::int64_t y = 0; y < ny; ++y)
                    for (std::int64_t x = 0; x < nx; ++x)
                        data.push_back(value(static_cast<std::size_t>(v),
                                             static_cast<std::int64_t>(r), z, y, x));
            if (s.record)
                oracle.put(v, TW_DOUBLE, {r, 0, 0, 0}, {1, nz, ny, nx}, data.data());
            else
                oracle.put(v, TW_DOUBLE, {0, 0, 0}, {nz, ny, nx}, data.data());
        }
        const double time = coordinate(static_cast<std::int64_t>(r));
        oracle.put(count, TW_DOUBLE, {r}, {1}, &time);
        const std::vector<int> level(nz, static_cast<int>(r));
        oracle.put(count + 2, TW_INT, {r, 0}, {1, nz}, level.data());
    }
    std::vector<double> rows;
    for (std::int64_t y = 0; y < ny; ++y) rows.push_back(coordinate(y));
    oracle.put(count + 1, TW_DOUBLE, {0}, {ny}, rows.data());
    oracle.close();
}

/// @param with_zstd  add a variable that serial netCDF-C can only read with a plugin
void write_file(tw_session session, const std::string& path, const std::string& settings,
                std::vector<Stored> all, bool with_zstd) {
    check::step(settings);
    const std::int64_t size = check::state.size;
    const std::int64_t first = ny * check::state.rank / size;
    const std::int64_t n = ny * (check::state.rank + 1) / size - first;
    const std::int64_t shape[] = {nx, nz, ny};
    const std::int64_t start[] = {0, 0, first};
    const std::int64_t count[] = {nx, nz, n};
    tw_decomposition d = nullptr;
    CHECK(tw_decompose(session, "x z y", 1, shape, start, count, &d) == TW_OK);
    tw_file file = nullptr;
    const auto expect = [&](int status) {
        CHECK_TEXT(status == TW_OK, "{}: {}", settings, tw_error_message(session));
    };
    expect(tw_create(session, path.c_str(), settings.c_str(), &file));
    expect(tw_def_dim(file, "time", TW_UNLIMITED));
    expect(tw_def_dim(file, "z", nz));
    expect(tw_def_dim(file, "y", ny));
    expect(tw_def_dim(file, "x", nx));
    if (with_zstd) all.push_back({"zstd", TW_FLOAT, true, "zstd=3", {}});
    for (const Stored& s : all) {
        expect(tw_def_var(file, s.name.c_str(), s.type, s.record ? "time z y x" : "z y x", d));
        if (!s.settings.empty()) expect(tw_set_var(file, s.name.c_str(), s.settings.c_str()));
    }
    expect(tw_def_var(file, "time", TW_DOUBLE, "time", nullptr));
    expect(tw_def_var(file, "y", TW_DOUBLE, "y", nullptr));
    expect(tw_def_var(file, "z", TW_INT, "time z", nullptr));
    expect(tw_enddef(file));
    std::vector<double> rows;
    for (std::int64_t y = 0; y < ny; ++y) rows.push_back(coordinate(y));
    expect(tw_put(file, "y", TW_DOUBLE, rows.data(), ny));
    for (int r = 0; r < records; ++r) {
        for (std::size_t v = 0; v < all.size(); ++v) {
            // A fixed-size variable that is put again is written to the same chunks.
            std::vector<double> data;
            for (std::int64_t x = 0; x < nx; ++x)
                for (std::int64_t z = 0; z < nz; ++z)
                    for (std::int64_t y = first; y < first + n; ++y)
                        data.push_back(value(v, all[v].record ? r : records - 1 - r, z, y, x));
            expect(tw_put(file, all[v].name.c_str(), TW_DOUBLE, data.data(),
                          static_cast<std::int64_t>(data.size())));
        }
        const double time = coordinate(r);
        expect(tw_put(file, "time", TW_DOUBLE, &time, 1));
        const std::vector<int> level(nz, r);
        expect(tw_put(file, "z", TW_INT, level.data(), nz));
        expect(tw_end_step(file));
    }
    expect(tw_close(&file));
}

/// Returns the number of writers of the last file.
int writers(tw_session session) {
    const char* json = nullptr;
    CHECK(tw_summary(session, TW_SUMMARY_JSON, &json) == TW_OK);
    const std::string summary = json;
    const std::string name = "\"writers\": ";
    const std::size_t at = summary.rfind(name);
    return at == std::string::npos ? -1 : std::atoi(summary.c_str() + at + name.size());
}

/// Compares filters and chunks that the library reports with those that netCDF-C reports.
std::string storage_difference(const std::string& path, const std::string& format) {
    const compare_detail::Netcdf4 file(path);
    for (const Stored& s : variables(format)) {
        int id = 0;
        nc_inq_varid(file.id, s.name.c_str(), &id);
        int shuffle = 0;
        int deflate = 0;
        int level = 0;
        int quantize = 0;
        int digits = 0;
        int storage = 0;
        std::vector<std::size_t> chunks(s.record ? 4 : 3);
        nc_inq_var_deflate(file.id, id, &shuffle, &deflate, &level);
        nc_inq_var_quantize(file.id, id, &quantize, &digits);
        nc_inq_var_chunking(file.id, id, &storage, chunks.data());
        if (shuffle != s.shuffle || deflate != (s.deflate > 0) || (deflate && level != s.deflate))
            return s.name + " has other filters";
        if (quantize != s.quantize || (quantize != NC_NOQUANTIZE && digits != s.digits))
            return s.name + " is quantized otherwise";
        if (!s.chunks.empty() && chunks != s.chunks) return s.name + " has other chunks";
        if (s.name == "fixed" && storage != NC_CONTIGUOUS) return "fixed is not contiguous";
    }
    return "";
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string servers = check::option(argc, argv, "--servers", "0");
    const std::string keep = check::option(argc, argv, "--keep", "");
    const std::string folder = check::make_folder("netcdf4");
    calls::in_session("log=error; node_size=2; servers=" + servers, [&] {
        const std::vector<std::string> services =
            servers == "0" ? std::vector<std::string>{"inline", "background"}
                           : std::vector<std::string>{"inline", "servers"};
        for (const std::string format : {"netcdf4", "netcdf4-classic"}) {
            const std::string expected = folder + "/expected.nc";
            if (check::state.rank == 0) write_reference(expected, format);
            for (const std::string method : {"record", "slabs", "serial", "direct"})
                for (const std::string& service : services) {
                    const std::string path = folder + "/written.nc";
                    const std::string settings =
                        "format=" + format + "; method=" + method + "; service=" + service;
                    write_file(calls::session, path, settings, variables(format), false);
                    // All ranks of the model are writers. With servers, the servers are, except for
                    // the method direct, which writes in the model's calls.
                    const bool served = service == "servers" && method != "direct";
                    const int all = served ? std::stoi(servers) : check::state.size;
                    const int wrote = writers(calls::session);
                    CHECK_TEXT(wrote == (method == "serial" && !served ? 1 : all), "{}: {} writers",
                               settings, wrote);
                    if (check::state.rank != 0) continue;
                    std::string what = netcdf4_difference(expected, path);
                    if (what.empty()) what = storage_difference(path, format);
                    CHECK_TEXT(what.empty(), "{}: {}", settings, what);
                }
        }
        if (!keep.empty()) {
            if (check::state.rank == 0) ::mkdir(keep.c_str(), 0777);
            MPI_Barrier(check::state.comm);
            write_file(calls::session, keep + "/netcdf4.nc", "format=netcdf4", variables("netcdf4"),
                       true);
            write_file(calls::session, keep + "/classic.nc",
                       "format=netcdf4-classic; deflate=1; service=background",
                       variables("netcdf4"), true);
        }
    });
    return check::verdict("netcdf4");
}
