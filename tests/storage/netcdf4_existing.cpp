// Tests which netCDF-4 files can be continued, including h5py's; and changes that are undone.
// Without MPI.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <netcdf.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "make_scale.hpp"
#include "publish/recover.hpp"
#include "storage/netcdf4/index/undo.hpp"
#include "storage/source.hpp"
#include "storage/storage.hpp"
#include "write_record.hpp"

using namespace thalweg::detail;

namespace netcdf4_existing {
namespace {

constexpr hsize_t records = 3, columns = 5;

class Netcdf4Existing : public testing::Test {
protected:
    ~Netcdf4Existing() override { std::filesystem::remove(path); }
    const std::string path = "netcdf4_existing_" + std::to_string(getpid()) + ".nc";
};

/// Writes the attribute by which a variable refers to HDF5's dimension scales.
void attach_scales(hid_t file, hid_t set) {
    hobj_ref_t scales[2];
    ASSERT_GE(H5Rcreate(&scales[0], file, "time", H5R_OBJECT, -1), 0);
    ASSERT_GE(H5Rcreate(&scales[1], file, "x", H5R_OBJECT, -1), 0);
    hvl_t lists[2] = {{1, &scales[0]}, {1, &scales[1]}};
    const hsize_t two = 2;
    const hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ), space = H5Screate_simple(1, &two, nullptr);
    const hid_t a = H5Acreate2(set, "DIMENSION_LIST", type, space, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(H5Awrite(a, type, lists), 0);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
}

/// Makes a file as h5py and h5netcdf do: T(time, x) and time, both with three records.
/// @param change_file, change_chunks  functions that set properties of the file and of T's chunks
void make_as_h5py(const std::string& path, bool latest,
                  const std::function<void(hid_t)>& change_file = {},
                  const std::function<void(hid_t)>& change_chunks = {}) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    if (latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    if (change_file) change_file(creation);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
    ASSERT_GE(file, 0);
    const auto make = [&](const char* name, std::vector<hsize_t> shape,
                          const std::vector<hsize_t>& chunk, const std::vector<int>& values) {
        std::vector<hsize_t> most = shape;
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        if (!chunk.empty()) {
            most[0] = H5S_UNLIMITED;
            H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
            if (chunk.size() == 2 && change_chunks) change_chunks(properties);
        }
        const hid_t space =
            H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data());
        const hid_t set =
            H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
        EXPECT_GE(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Sclose(space);
        H5Pclose(properties);
        return set;
    };
    std::vector<int> t(records * columns);
    std::iota(t.begin(), t.end(), 0);
    const hid_t time = make("time", {records}, {1024}, {0, 100, 200});
    const hid_t x = make("x", {columns}, {}, {1, 2, 3, 4, 5});
    make_scale(time, "time");
    make_scale(x, "x");
    const hid_t set = make("T", {records, columns}, {2, 3}, t);
    attach_scales(file, set);
    for (const hid_t id : {time, x, set}) H5Dclose(id);
    H5Fclose(file);
    H5Pclose(access);
    H5Pclose(creation);
}

std::unique_ptr<Source> open(const std::string& path) {
    Status status;
    auto source = open_source(*make_serial_comm(), path, false, status);
    EXPECT_TRUE(status.ok()) << status.text;
    return source;
}

/// Returns the reason why a file cannot be continued.
std::string refusal(const std::string& path) {
    Definitions d;
    const auto source = open(path);
    if (!source) return "it cannot be read";
    const Status status = find_writable(source->contents(), d);
    EXPECT_EQ(status.code, status.ok() ? TW_OK : TW_EUNSUPPORTED);
    return status.text;
}

/// Adds records. The values of T in record r are 1000 r.
void write_on(const std::string& path, std::int64_t kept, std::int64_t until) {
    Definitions d;
    const auto source = open(path);
    ASSERT_NE(source, nullptr);
    const Status writable = find_writable(source->contents(), d);
    ASSERT_TRUE(writable.ok()) << writable.text;
    StorageOptions options;
    options.format = Format::netcdf4;
    options.existing = {true, kept, kept};
    FileMap map;
    const auto comm = make_serial_comm();
    const auto storage = make_netcdf4_storage();
    Status status = storage->open(*comm, path, d, options, true, map);
    ASSERT_TRUE(status.ok()) << status.text;
    for (std::int64_t r = kept; r < until; ++r) {
        for (std::size_t v = 0; v < d.variables.size(); ++v) {
            if (!d.variables[v].record) continue;
            const bool grid = d.variables[v].name == "T";
            const std::vector<int> all(grid ? columns : 1,
                                       static_cast<int>(grid ? 1000 * r : 100 * r));
            ASSERT_TRUE(write_record(*storage, map, v, r, all).ok());
        }
        status = storage->end_unit(r + 1, true);
        if (status.ok()) status = storage->set_records(r + 1, false);
        ASSERT_TRUE(status.ok()) << status.text;
    }
    Attribute late{"history", TW_CHAR, 5, {'a', 'g', 'a', 'i', 'n'}};
    status = storage->close(until, {{-1, late}});
    ASSERT_TRUE(status.ok()) << status.text;
}

/// Checks that a range of records is as make_as_h5py() has made them.
void expect_records(const std::string& path, std::int64_t first, std::int64_t all) {
    int id = 0, t = 0, time = 0;
    ASSERT_EQ(nc_open(path.c_str(), NC_NOWRITE, &id), NC_NOERR);
    nc_inq_varid(id, "T", &t);
    nc_inq_varid(id, "time", &time);
    std::size_t n = 0;
    nc_inq_dimlen(id, 0, &n);
    int unlimited = 0;
    nc_inq_unlimdim(id, &unlimited);
    nc_inq_dimlen(id, unlimited, &n);
    ASSERT_EQ(static_cast<std::int64_t>(n), all);
    std::vector<int> found(n * columns), times(n);
    EXPECT_EQ(nc_get_var_int(id, t, found.data()), NC_NOERR);
    EXPECT_EQ(nc_get_var_int(id, time, times.data()), NC_NOERR);
    for (std::int64_t r = 0; r < all; ++r) {
        EXPECT_EQ(times[static_cast<std::size_t>(r)], 100 * r);
        for (std::int64_t i = 0; i < std::int64_t(columns); ++i)
            EXPECT_EQ(found[static_cast<std::size_t>(r * std::int64_t(columns) + i)],
                      r < first ? r * std::int64_t(columns) + i : 1000 * r);
    }
    nc_close(id);
}

TEST_F(Netcdf4Existing, FilesOfH5pyAreWrittenOn) {
    // A file in the oldest format, with filters in the order of h5py.
    make_as_h5py(path, false, {}, [](hid_t properties) {
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 2);
        H5Pset_fletcher32(properties);
    });
    expect_records(path, 3, 3);
    write_on(path, 3, 6);
    expect_records(path, 3, 6);
    write_on(path, 1, 4);
    expect_records(path, 1, 4);
    make_as_h5py(path, false);
    write_on(path, 3, 9);
    expect_records(path, 3, 9);
    std::string said;
    ASSERT_TRUE(recover(path, false, said).ok()) << said;
    EXPECT_NE(said.find("9 records, already complete"), std::string::npos) << said;
}

TEST_F(Netcdf4Existing, WhatCannotBeWrittenOnIsTold) {
    make_as_h5py(path, true);
    EXPECT_NE(refusal(path).find("superblock has version 3"), std::string::npos) << refusal(path);
    make_as_h5py(path, false, [](hid_t properties) {
        H5Pset_file_space_strategy(properties, H5F_FSPACE_STRATEGY_PAGE, 0, 1);
    });
    const std::string paged = refusal(path);
    EXPECT_TRUE(paged.find("in pages") != std::string::npos ||
                paged.find("superblock") != std::string::npos)
        << paged;
    make_as_h5py(path, false, [](hid_t properties) {
        H5Pset_file_space_strategy(properties, H5F_FSPACE_STRATEGY_FSM_AGGR, 1, 1);
    });
    EXPECT_NE(refusal(path), "");
    make_as_h5py(path, false, {}, [](hid_t properties) { H5Pset_nbit(properties); });
    EXPECT_NE(refusal(path).find("variable 'T': it has the HDF5 filter 5"), std::string::npos)
        << refusal(path);
    make_as_h5py(path, false);
    EXPECT_EQ(refusal(path), "");
}

TEST_F(Netcdf4Existing, AChangeIsTakenBackOnce) {
    const auto contents = [&] {
        std::ifstream in(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const auto write = [&](const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
    };
    std::string before(5000, 'x');
    for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<char>(i * 7);
    const std::vector<SavedBytes> saved{{100, {before.begin() + 100, before.begin() + 300}},
                                        {4000, {before.begin() + 4000, before.end()}}};
    write(before);
    {
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(5500);
        file << "new data";
    }
    const int fd = ::open(path.c_str(), O_RDWR);
    ASSERT_TRUE(write_undo(fd, path, 5600, 5000, saved).ok());
    ::close(fd);
    const std::string noted = contents();
    std::string changed = noted;
    std::fill_n(changed.begin() + 100, 200, 'A');
    std::fill_n(changed.begin() + 4000, 1000, 'B');
    bool undone = false;
    // Undoing must work after any number of bytes was written, and again after it was interrupted.
    for (const std::size_t done : {0, 150, 300, 4500, 5000}) {
        std::string half = noted;
        std::copy_n(changed.begin(), done, half.begin());
        write(half);
        EXPECT_TRUE(has_undo(path));
        ASSERT_TRUE(undo(path, undone).ok());
        EXPECT_TRUE(undone);
        EXPECT_TRUE(contents() == before);
    }
    // Without an undo log nothing happens; an incomplete log is ignored, as nothing was changed
    // yet.
    ASSERT_TRUE(undo(path, undone).ok());
    EXPECT_FALSE(undone);
    for (const std::size_t missing : {1, 20, 100}) {
        write(noted.substr(0, noted.size() - missing));
        EXPECT_FALSE(has_undo(path));
        ASSERT_TRUE(undo(path, undone).ok());
        EXPECT_FALSE(undone);
    }
    std::string damaged = noted;
    damaged[5610] ^= 1;
    write(damaged);
    ASSERT_TRUE(undo(path, undone).ok());
    EXPECT_FALSE(undone);
    EXPECT_TRUE(contents() == before);
}

}  // namespace
}  // namespace netcdf4_existing
