// Writes the same data as one file and as a set of tiles, in many ways, and reads both; tiles.sh
// joins and compares. batches.cpp reads sets by random decompositions.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: tiles FOLDER

#include <mpi.h>
#include <netcdf.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t nz = 3, ny = 23, nx = 37;
constexpr int steps = 3;

/// A block of a process grid that has `columns` columns along x. Blocks have different widths.
struct Part {
    std::int64_t start[3], count[3];

    Part(int rank, int size, int columns, std::int64_t width) {
        const int rows = size / columns, row = rank / columns, column = rank % columns;
        auto cut = [](std::int64_t length, int k, int n) {
            return k >= n ? length : length * k * (k + 3) / (std::int64_t(n) * (n + 3));
        };
        start[0] = 0;
        count[0] = nz;
        start[1] = cut(ny, row, rows);
        count[1] = cut(ny, row + 1, rows) - start[1];
        start[2] = cut(width, column, columns);
        count[2] = cut(width, column + 1, columns) - start[2];
    }
};

std::vector<float> field(const Part& p, int step, bool flat) {
    std::vector<float> values;
    for (std::int64_t z = 0; z < (flat ? 1 : nz); ++z)
        for (std::int64_t y = 0; y < p.count[1]; ++y)
            for (std::int64_t x = 0; x < p.count[2]; ++x)
                values.push_back(static_cast<float>(step * 10000 + z * 1000) +
                                 static_cast<float>((p.start[1] + y) * 41 + p.start[2] + x));
    return values;
}

std::vector<double> axis(std::int64_t n) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(0.25 * static_cast<double>(i));
    return values;
}

struct Model {
    tw_session io = nullptr;
    tw_decomposition deep = nullptr, flat = nullptr, staggered = nullptr;
    // Bounds of cells, along a dimension that no rank divides.
    tw_decomposition bounds_x = nullptr, bounds_y = nullptr;
    Part centre{0, 1, 1, nx}, side{0, 1, 1, nx + 1};
    bool row_first = false, column_first = false;
    MPI_Comm comm = MPI_COMM_NULL;
    int size = 1;

    explicit Model(const std::string& settings) {
        CHECK(tw_init(MPI_COMM_WORLD, settings.c_str(), &io) == TW_OK);
        CHECK(tw_model_comm(io, &comm) == TW_OK);
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        const int columns = size % 3 == 0 ? 3 : size % 2 == 0 ? 2 : 1;
        centre = Part(rank, size, columns, nx);
        side = Part(rank, size, columns, nx + 1);
        const std::int64_t shape[] = {nz, ny, nx}, wide[] = {ny, nx + 1};
        CHECK(tw_decompose(io, "z y x", 1, shape, centre.start, centre.count, &deep) == TW_OK);
        CHECK(tw_decompose(io, "y x", 1, shape + 1, centre.start + 1, centre.count + 1, &flat) ==
              TW_OK);
        CHECK(tw_decompose(io, "y xu", 1, wide, side.start + 1, side.count + 1, &staggered) ==
              TW_OK);
        // These are held by the ranks of the first row, or of the first column.
        const std::int64_t of_x[] = {nx, 2}, of_y[] = {ny, 2};
        const std::int64_t start_x[] = {centre.start[2], 0}, count_x[] = {centre.count[2], 2};
        const std::int64_t start_y[] = {centre.start[1], 0}, count_y[] = {centre.count[1], 2};
        row_first = centre.start[1] == 0;
        column_first = centre.start[2] == 0;
        CHECK(tw_decompose(io, "x nv", row_first, of_x, start_x, count_x, &bounds_x) == TW_OK);
        CHECK(tw_decompose(io, "y nv", column_first, of_y, start_y, count_y, &bounds_y) == TW_OK);
    }
    ~Model() { CHECK(tw_finalize(&io) == TW_OK); }

    void expect(int status, const char* what) const {
        CHECK_TEXT(status == TW_OK, "{}: {}", what, tw_error_message(io));
    }

    /// @param axes  true: dimensions have coordinate variables
    void write(const std::string& path, const std::string& settings, bool axes, bool records) {
        check::step("{}: {}", path, settings);
        tw_file f = nullptr;
        expect(tw_create(io, path.c_str(), settings.c_str(), &f), "tw_create");
        expect(tw_def_dim(f, "time", TW_UNLIMITED), "tw_def_dim");
        expect(tw_def_dim(f, "x", nx), "tw_def_dim");
        if (axes) {
            expect(tw_def_dim(f, "y", ny), "tw_def_dim");
            expect(tw_def_dim(f, "xu", nx + 1), "tw_def_dim");
            for (const char* name : {"x", "y", "xu"})
                expect(tw_def_var(f, name, TW_DOUBLE, name, nullptr), "tw_def_var");
            expect(tw_put_att_text(f, "x", "cartesian_axis", "X"), "tw_put_att");
            expect(tw_def_var(f, "x_bnds", TW_DOUBLE, "x nv", bounds_x), "tw_def_var");
            expect(tw_def_var(f, "y_bnds", TW_DOUBLE, "y nv", bounds_y), "tw_def_var");
            if (records)
                expect(tw_def_var(f, "time_bnds", TW_DOUBLE, "time nv", nullptr), "tw_def_var");
        }
        const std::string time = records ? "time " : "";
        expect(tw_def_var(f, "T", TW_FLOAT, (time + "z y x").c_str(), deep), "tw_def_var");
        expect(tw_def_var(f, "B", TW_BYTE, (time + "y x").c_str(), flat), "tw_def_var");
        expect(tw_def_var(f, "never", TW_SHORT, "y x", flat), "tw_def_var");
        expect(tw_def_var(f, "U", TW_FLOAT, (time + "y xu").c_str(), staggered), "tw_def_var");
        expect(tw_def_var(f, "scalar", TW_INT, time.c_str(), nullptr), "tw_def_var");
        expect(tw_put_att_text(f, nullptr, "title", "tiles"), "tw_put_att");
        expect(tw_enddef(f), "tw_enddef");
        if (axes)
            for (const auto& [name, n] : {std::pair("x", nx), {"y", ny}, {"xu", nx + 1}})
                expect(tw_put(f, name, TW_DOUBLE, axis(n).data(), n), "tw_put");
        if (axes) {
            const std::int64_t n_x = row_first ? 2 * centre.count[2] : 0;
            const std::int64_t n_y = column_first ? 2 * centre.count[1] : 0;
            const auto from = [](std::int64_t start) {
                std::vector<double> values = axis(start + 2 * (nx + ny));
                values.erase(values.begin(), values.begin() + start);
                return values;
            };
            expect(tw_put(f, "x_bnds", TW_DOUBLE, from(2 * centre.start[2]).data(), n_x), "x_bnds");
            expect(tw_put(f, "y_bnds", TW_DOUBLE, from(2 * centre.start[1]).data(), n_y), "y_bnds");
        }
        for (int s = 0; s < (records ? steps : 1); ++s) {
            const auto t = field(centre, s, false), b = field(centre, s, true),
                       u = field(side, s, true);
            std::vector<signed char> bytes;
            for (const float v : b) bytes.push_back(static_cast<signed char>(int(v) % 100));
            expect(tw_put(f, "T", TW_FLOAT, t.data(), static_cast<std::int64_t>(t.size())), "T");
            expect(tw_put(f, "B", TW_BYTE, bytes.data(), static_cast<std::int64_t>(bytes.size())),
                   "B");
            expect(tw_put(f, "U", TW_FLOAT, u.data(), static_cast<std::int64_t>(u.size())), "U");
            expect(tw_put(f, "scalar", TW_INT, &s, 1), "scalar");
            if (axes && records)
                expect(tw_put(f, "time_bnds", TW_DOUBLE, axis(2).data(), 2), "time_bnds");
            expect(tw_end_step(f), "tw_end_step");
        }
        expect(tw_put_att_text(f, "T", "late", "set after the definitions"), "tw_put_att");
        expect(tw_close(&f), "tw_close");
    }

    /// Tests that all tiles are netCDF-4 with filters, and that their records become visible when
    /// they are synced.
    void watch_packed(const std::string& path, const std::string& settings) {
        check::step("watch {}: {}", path, settings);
        tw_file f = nullptr;
        const std::string all =
            "format=netcdf4; deflate=1; method=tiles; files=tiles; "
            "tiles=2x2; publish=live; " +
            settings;
        expect(tw_create(io, path.c_str(), all.c_str(), &f), "tw_create");
        expect(tw_def_var(f, "T", TW_FLOAT, "time z y x", deep), "tw_def_var");
        for (int s = 0; s < steps; ++s) {
            const auto t = field(centre, s, false);
            expect(tw_put(f, "T", TW_FLOAT, t.data(), static_cast<std::int64_t>(t.size())), "T");
            expect(tw_end_step(f), "tw_end_step");
            expect(tw_sync(f, 0), "tw_sync");
            for (int tile = 0; tile < 4 && check::state.rank == 0; ++tile) {
                int id = 0, time = 0, deflate = 0;
                std::size_t records = 0;
                const std::string own = path + ".000" + std::to_string(tile);
                CHECK(nc_open(own.c_str(), NC_NOWRITE, &id) == NC_NOERR);
                CHECK(nc_inq_unlimdim(id, &time) == NC_NOERR);
                CHECK(nc_inq_dimlen(id, time, &records) == NC_NOERR);
                CHECK_TEXT(records == static_cast<std::size_t>(s) + 1, "{}: {} records", own,
                           records);
                CHECK(nc_inq_var_deflate(id, 0, nullptr, &deflate, nullptr) == NC_NOERR);
                CHECK(deflate == 1);
                CHECK(nc_close(id) == NC_NOERR);
            }
            MPI_Barrier(comm);
        }
        expect(tw_close(&f), "tw_close");
    }

    /// Reads all records of a variable.
    std::vector<double> content(tw_file f, const char* name) {
        int nd = 0;
        expect(tw_inq_var(f, name, nullptr, &nd, nullptr), "tw_inq_var");
        std::vector<std::int64_t> start(static_cast<std::size_t>(nd) + 1, 0), count = start;
        std::int64_t n = 1;
        for (int d = 0; d < nd; n *= count[static_cast<std::size_t>(d++)])
            expect(tw_inq_var_dim(f, name, d, nullptr, &count[static_cast<std::size_t>(d)]),
                   "tw_inq_var_dim");
        std::vector<double> all(static_cast<std::size_t>(n), 4711.0);
        expect(tw_get_box(f, name, TW_DOUBLE, start.data(), count.data(), nullptr, all.data()),
               "tw_get_box");
        return all;
    }

    /// Checks that reading the set of tiles gives the same as reading the single file.
    void compare(const std::string& one, const std::string& set) {
        check::step("read {}", set);
        tw_file a = nullptr, b = nullptr;
        expect(tw_open(io, one.c_str(), nullptr, &a), "tw_open");
        expect(tw_open(io, set.c_str(), nullptr, &b), "tw_open");
        if (a == nullptr || b == nullptr) return;
        tw_file_info of_a{}, of_b{};
        expect(tw_inq(a, &of_a), "tw_inq");
        expect(tw_inq(b, &of_b), "tw_inq");
        CHECK(of_a.ndims == of_b.ndims && of_a.nvars == of_b.nvars && of_a.natts == of_b.natts &&
              of_a.records == of_b.records && std::string(of_a.format) == of_b.format);
        for (int v = 0; v < of_a.nvars; ++v) {
            const char* name = nullptr;
            expect(tw_inq_name(a, TW_VARIABLE, nullptr, v, &name), "tw_inq_name");
            int n[2];
            expect(tw_inq_var(a, name, nullptr, nullptr, &n[0]), "tw_inq_var");
            expect(tw_inq_var(b, name, nullptr, nullptr, &n[1]), "tw_inq_var");
            CHECK(n[0] == n[1]);
            CHECK_TEXT(content(a, name) == content(b, name), "{} of {}", name, set);
        }
        expect(tw_close(&a), "tw_close");
        expect(tw_close(&b), "tw_close");
    }

    /// Checks that all ranks refuse an impossible combination of settings with the same error.
    void refuse(const std::string& path, const std::string& settings, const char* words) {
        check::step(settings);
        tw_file f = nullptr;
        expect(tw_create(io, path.c_str(), ("method=tiles; files=tiles; " + settings).c_str(), &f),
               "tw_create");
        expect(tw_def_var(f, "T", TW_FLOAT, "time z y x", deep), "tw_def_var");
        CHECK(tw_enddef(f) == TW_ESETTING);
        CHECK_TEXT(std::string(tw_error_message(io)).find(words) != std::string::npos,
                   tw_error_message(io));
        CHECK(tw_close(&f) == TW_ESETTING);
        CHECK(::access((path + ".0000").c_str(), F_OK) != 0);
    }
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    const std::string folder = argc > 1 ? argv[1] : ".";
    {
        Model model("node_size=2");
        int number = 0;
        std::vector<std::string> tiles{"auto", "1x1"};
        for (const auto& [x, y] : {std::pair(2, 1), {1, 2}, {2, 2}, {3, 1}, {2, 3}})
            if (x * y <= model.size) tiles.push_back(std::to_string(x) + "x" + std::to_string(y));
        for (const std::string way :
             {"format=cdf2; piece=700", "storage=" PNETCDF "; format=cdf5",
              "service=background; format=cdf1; header_pad=0",
              "durable=yes; publish=live; writers=3", "writers=2:1:3; service=background",
              "writers=1/node:1; stripes=2:64KiB; storage=" PNETCDF})
            for (const std::string& t : tiles) {
                const std::string path = folder + "/" + std::to_string(number);
                const bool axes = number % 3 != 2, records = number % 4 != 3;
                ++number;
                model.write(path + ".one.nc", way, axes, records);
                model.write(path + ".tiles.nc", way + "; method=tiles; files=tiles; tiles=" + t,
                            axes, records);
                model.compare(path + ".one.nc", path + ".tiles.nc");
            }
        // Some chunks are longer than some tiles.
        for (const std::string way : {"", "deflate=1", "zstd=3; chunks=x=30,y=9,z=2; piece=900",
                                      "deflate=1; writers=1; service=background; queue=2KiB"}) {
            const std::string path = folder + "/" + std::to_string(number) + ".netcdf4.";
            const std::string all = "format=netcdf4; " + way;
            const bool records = ++number % 3 != 0;
            model.write(path + "one", all, true, records);
            model.write(path + "set", all + "; method=tiles; files=tiles; tiles=2x2", true,
                        records);
            CHECK(::access((path + "set").c_str(), F_OK) != 0);
            model.compare(path + "one", path + "set");
        }
        for (const char* way : {"", "service=background"})
            model.watch_packed(folder + "/watched", way);
        for (const char* impossible :
             {"tiles=100x100", "writers=4:3:1", "writers=2:6", "writers=1/node:2", "writers=2:0:6"})
            model.refuse(folder + "/wrong.nc", impossible,
                         *impossible == 't' ? "tiles is 100x100" : "are not possible with the");
    }
    return check::verdict("tiles");
}
