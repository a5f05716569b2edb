// Tests continuing a file of parallel netCDF-C: HDF5 assigns addresses to its chunks as soon as
// records are counted, before the library has written them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netcdf.h>
#include <netcdf_meta.h>

#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "storage/source.hpp"
#include "storage/storage.hpp"
#include "write_record.hpp"

#if NC_HAS_PARALLEL && defined(THALWEG_HAVE_NETCDF4)
#include <netcdf_par.h>

using namespace thalweg::detail;

namespace {

constexpr std::int64_t columns = 7, before = 3, records = 9;

TEST(Netcdf4Early, ChunksHaveTheirPlacesBefore) {
    const std::string path = "netcdf4_early.nc";
    const std::vector<std::size_t> chunks[] = {{4}, {1, 7}, {2, 3}, {2, 7}};
    const auto values = [](std::size_t v, std::int64_t record) {
        std::vector<int> all(v == 0 ? 1 : columns);
        std::iota(all.begin(), all.end(), static_cast<int>(1000 * v + 10 * record));
        return all;
    };
    int id = 0, dims[2] = {};
    const auto check = [](int code) { ASSERT_EQ(code, NC_NOERR) << nc_strerror(code); };
    check(nc_create_par(path.c_str(), NC_NETCDF4 | NC_CLOBBER, MPI_COMM_SELF, MPI_INFO_NULL, &id));
    check(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    check(nc_def_dim(id, "x", columns, &dims[1]));
    for (std::size_t v = 0; v < 4; ++v) {
        int number = 0;
        const std::string name = v == 0 ? "time" : "v" + std::to_string(v);
        check(nc_def_var(id, name.c_str(), NC_INT, v == 0 ? 1 : 2, dims, &number));
        check(nc_def_var_chunking(id, number, NC_CHUNKED, chunks[v].data()));
        if (v == 3) check(nc_def_var_deflate(id, number, 0, 1, 1));
        check(nc_var_par_access(id, number, NC_COLLECTIVE));
    }
    check(nc_enddef(id));
    const std::size_t count[2] = {1, columns};
    for (std::size_t v = 0; v < 4; ++v)
        for (std::int64_t r = 0; r < before; ++r) {
            const std::size_t at[2] = {static_cast<std::size_t>(r), 0};
            check(nc_put_vara_int(id, static_cast<int>(v), at, count, values(v, r).data()));
        }
    check(nc_close(id));

    const auto comm = make_serial_comm();
    Status status;
    Definitions d;
    const auto source = open_source(*comm, path, false, status);
    ASSERT_TRUE(status.ok()) << status.text;
    ASSERT_TRUE(find_writable(source->contents(), d).ok());
    StorageOptions options;
    options.format = Format::netcdf4;
    options.existing = {true, before, before};
    FileMap map;
    const auto storage = make_netcdf4_storage();
    status = storage->open(*comm, path, d, options, true, map);
    ASSERT_TRUE(status.ok()) << status.text;
    for (std::int64_t r = before; r < records; ++r) {
        for (std::size_t v = 0; v < 4; ++v) {
            const std::vector<int> all = values(v, r);
            ASSERT_TRUE(write_record(*storage, map, v, r, all).ok());
        }
        ASSERT_TRUE(storage->end_unit(r + 1, true).ok());
        ASSERT_TRUE(storage->set_records(r + 1, false).ok());
    }
    status = storage->close(records, {});
    ASSERT_TRUE(status.ok()) << status.text;

    check(nc_open(path.c_str(), NC_NOWRITE, &id));
    for (std::size_t v = 0; v < 4; ++v)
        for (std::int64_t r = 0; r < records; ++r) {
            std::vector<int> found(values(v, r).size());
            const std::size_t at[2] = {static_cast<std::size_t>(r), 0};
            check(nc_get_vara_int(id, static_cast<int>(v), at, count, found.data()));
            EXPECT_EQ(found, values(v, r)) << "variable " << v << ", record " << r;
        }
    check(nc_close(id));
    std::filesystem::remove(path);
}

}  // namespace
#endif
