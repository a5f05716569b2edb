// Writes more than 2^31 elements and bytes of one variable: no count or offset may be 32-bit.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: large [--rows N] [--columns N] [--settings "..."]
// On one rank a single put has more than 2^31 elements. The file is checked with serial netCDF-C.

#include <mpi.h>
#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

signed char value(std::int64_t y, std::int64_t x) {
    return static_cast<signed char>((y * 31 + x * 7) % 127);
}

// Returns the row that no rank holds. Its fill values are at offsets far beyond 2^31.
std::int64_t hole(std::int64_t rows) { return rows - 3; }

void write(const std::string& path, const std::string& settings, std::int64_t rows,
           std::int64_t columns) {
    const int size = check::state.size;
    const int rank = check::state.rank;
    check::step("write with {}", settings);
    tw_session s = nullptr;
    CHECK(tw_init(MPI_COMM_WORLD, settings.c_str(), &s) == TW_OK);
    // Ranks have parts of the rows except the hole, so the last rank has two blocks.
    const std::int64_t shape[2] = {rows, columns};
    std::vector<std::int64_t> start{rows * rank / size, 0};
    std::vector<std::int64_t> count{rows * (rank + 1) / size - start[0], columns};
    if (rank == size - 1) {
        const std::int64_t end = start[0] + count[0];
        count[0] = hole(rows) - start[0];
        start.insert(start.end(), {hole(rows) + 1, 0});
        count.insert(count.end(), {end - hole(rows) - 1, columns});
    }
    const int blocks = static_cast<int>(start.size() / 2);
    tw_decomposition d = nullptr;
    CHECK_TEXT(tw_decompose(s, "y x", blocks, shape, start.data(), count.data(), &d) == TW_OK,
               tw_error_message(s));
    tw_file f = nullptr;
    CHECK_TEXT(tw_create(s, path.c_str(), nullptr, &f) == TW_OK, tw_error_message(s));
    CHECK_TEXT(tw_def_var(f, "big", TW_BYTE, "time y x", d) == TW_OK, tw_error_message(s));
    CHECK_TEXT(tw_def_var(f, "behind", TW_INT, "time", nullptr) == TW_OK, tw_error_message(s));
    CHECK_TEXT(tw_enddef(f) == TW_OK, tw_error_message(s));
    std::vector<signed char> data;
    data.reserve(static_cast<std::size_t>((count[0] + (blocks > 1 ? count[2] : 0)) * columns));
    for (int b = 0; b < blocks; ++b)
        for (std::int64_t y = start[2 * static_cast<std::size_t>(b)];
             y < start[2 * static_cast<std::size_t>(b)] + count[2 * static_cast<std::size_t>(b)];
             ++y)
            for (std::int64_t x = 0; x < columns; ++x) data.push_back(value(y, x));
    const auto n = static_cast<std::int64_t>(data.size());
    if (rank == 0) check::print(check::text("large: rank 0 puts {} elements; {}", n, settings));
    CHECK_TEXT(tw_put_array(f, "big", tw_dense(TW_BYTE, data.data(), n), TW_DEFERRED) == TW_OK,
               tw_error_message(s));
    const std::int32_t answer = 42;
    CHECK_TEXT(tw_put(f, "behind", TW_INT, &answer, 1) == TW_OK, tw_error_message(s));
    const double begin = MPI_Wtime();
    CHECK_TEXT(tw_end_step(f) == TW_OK, tw_error_message(s));
    if (rank == 0) check::print(check::text("large: end_step took {} s", MPI_Wtime() - begin));
    CHECK_TEXT(tw_close(&f) == TW_OK, tw_error_message(s));
    CHECK(tw_finalize(&s) == TW_OK);
}

void check_file(const std::string& path, std::int64_t rows, std::int64_t columns) {
    check::step("read");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        int id = 0;
        int big = 0;
        int behind = 0;
        CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
        CHECK(nc_inq_varid(id, "big", &big) == NC_NOERR);
        CHECK(nc_inq_varid(id, "behind", &behind) == NC_NOERR);
        int format = 0;
        CHECK(nc_inq_format(id, &format) == NC_NOERR);
        // Check the first, middle and last rows, those around byte 2^31, and the hole.
        const std::int64_t crossing = (std::int64_t{1} << 31) / columns;
        std::vector<std::int64_t> wanted{0,
                                         1,
                                         rows / 2,
                                         crossing - 1,
                                         crossing,
                                         crossing + 1,
                                         hole(rows) - 1,
                                         hole(rows),
                                         hole(rows) + 1,
                                         rows - 1};
        for (int r = 1; r < check::state.size; ++r) {  // rows at the boundaries between ranks
            wanted.push_back(rows * r / check::state.size - 1);
            wanted.push_back(rows * r / check::state.size);
        }
        for (const std::int64_t y : wanted) {
            if (y < 0 || y >= rows) continue;
            std::vector<signed char> row(static_cast<std::size_t>(columns));
            const std::size_t start[3] = {0, static_cast<std::size_t>(y), 0};
            const std::size_t count[3] = {1, 1, static_cast<std::size_t>(columns)};
            CHECK(nc_get_vara_schar(id, big, start, count, row.data()) == NC_NOERR);
            std::int64_t wrong = 0;
            for (std::int64_t x = 0; x < columns; ++x)
                wrong += row[static_cast<std::size_t>(x)] !=
                         (y == hole(rows) ? NC_FILL_BYTE : value(y, x));
            CHECK_TEXT(wrong == 0, "row {} has {} wrong elements", y, wrong);
        }
        int answer = 0;
        CHECK(nc_get_var_int(id, behind, &answer) == NC_NOERR);
        CHECK(answer == 42);
        nc_close(id);
        ::unlink(path.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 400);
    const std::int64_t rows = std::stoll(check::option(argc, argv, "--rows", "46349"));
    const std::int64_t columns = std::stoll(check::option(argc, argv, "--columns", "46357"));
    const std::string folder = check::make_folder("large");
    std::vector<std::string> sets{"method=record", "method=slabs; node_size=2",
                                  "storage=" PNETCDF "; method=direct"};
    if (check::has_flag(argc, argv, "--settings"))
        sets = {check::option(argc, argv, "--settings", "")};
    for (const std::string& set : sets) {
        write(folder + "/large.nc", set, rows, columns);
        check_file(folder + "/large.nc", rows, columns);
    }
    return check::verdict("large");
}
