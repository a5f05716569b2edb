// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

#include "storage/storage.hpp"

using namespace thalweg::detail;

namespace {

Variable variable(const std::string& name, tw_type type, std::vector<int> dims,
                  std::vector<std::int64_t> shape, bool record) {
    Variable v;
    v.name = name;
    v.type = type;
    v.dims = std::move(dims);
    v.shape = std::move(shape);
    v.record = record;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < v.shape.size(); ++i) names.push_back("m" + std::to_string(i));
    return v;
}

/// Returns time, y = 3, x = 5: fixed short f(y, x), which is padded, and records of int a(y, x) and
/// byte b(x).
Definitions definitions() {
    Definitions d;
    d.dims = {{"time", 0}, {"y", 3}, {"x", 5}};
    d.variables.push_back(variable("f", TW_SHORT, {1, 2}, {3, 5}, false));
    d.variables.push_back(variable("a", TW_INT, {0, 1, 2}, {3, 5}, true));
    d.variables.push_back(variable("b", TW_BYTE, {0, 2}, {5}, true));
    d.attributes.push_back({"title", TW_CHAR, 4, {'t', 'e', 's', 't'}});
    return d;
}

template <class T>
std::vector<char> big_endian(tw_type type, const std::vector<T>& values, std::size_t padded = 0) {
    std::vector<char> bytes(std::max(padded, values.size() * sizeof(T)));
    for (std::size_t i = 0; i < values.size(); ++i) {
        T v = values[i];
        to_big_endian(type, &v);
        std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof v);
    }
    return bytes;
}

template <class T>
std::vector<T> counted(std::size_t n, T from) {
    std::vector<T> values(n);
    std::iota(values.begin(), values.end(), from);
    return values;
}

class Posix : public testing::TestWithParam<Format> {
protected:
    void SetUp() override {
        unlink(path_.c_str());
        options_.format = GetParam();
        options_.spacing.header_pad = 100;
        const Status status = storage_->create(*comm_, path_, definitions_, options_, true, map_);
        ASSERT_TRUE(status.ok()) << status.text;
    }
    void TearDown() override { unlink(path_.c_str()); }

    Chunk chunk(int v, std::int64_t record, const std::vector<char>& bytes) const {
        const auto at = static_cast<std::size_t>(v);
        Chunk c;
        c.variable = v;
        c.record = record;
        c.elements = definitions_.variables[at].elements();
        c.offset = map_.offset[at] + record * map_.record_bytes;
        c.data = bytes.data();
        c.bytes = static_cast<std::int64_t>(bytes.size());
        return c;
    }
    Status write(const Chunk& c) { return storage_->write({&c, 1}); }

    std::string path_ = "storage.nc";
    std::unique_ptr<Comm> comm_ = make_mpi_comm(MPI_COMM_SELF);
    Definitions definitions_ = definitions();
    StorageOptions options_;
    FileMap map_;
    std::unique_ptr<Storage> storage_ = make_posix_storage();
};
INSTANTIATE_TEST_SUITE_P(Formats, Posix, testing::Values(Format::cdf1, Format::cdf2, Format::cdf5),
                         [](const auto& format) { return std::string(name_of(format.param)); });

TEST_P(Posix, MapIsTheHeaders) {
    EXPECT_EQ(map_.padded, (std::vector<std::int64_t>{32, 60, 8}));
    EXPECT_EQ(map_.record_bytes, 68);
    EXPECT_EQ(map_.record_begin, map_.offset[1]);
    EXPECT_EQ(map_.offset[2], map_.offset[1] + 60);
    EXPECT_EQ(map_.fixed_end, map_.offset[0] + 32);
    EXPECT_EQ(map_.size(3), map_.record_begin + 3 * 68);
    std::ifstream file(path_, std::ios::binary);
    char magic[4] = {};
    file.read(magic, 4);
    EXPECT_EQ(std::string(magic, 3), "CDF");
    EXPECT_EQ(magic[3], static_cast<int>(GetParam()));
}

TEST_P(Posix, NetcdfReadsWhatWasWritten) {
    const auto f = big_endian(TW_SHORT, counted<short>(15, 100), 32);
    ASSERT_TRUE(write(chunk(0, 0, f)).ok());
    for (int r = 0; r < 300; ++r) {
        const auto a = big_endian(TW_INT, counted<int>(15, 1000 * r));
        const auto b =
            big_endian(TW_BYTE, counted<signed char>(5, static_cast<signed char>(r % 100)), 8);
        ASSERT_TRUE(write(chunk(1, r, a)).ok());
        ASSERT_TRUE(write(chunk(2, r, b)).ok());
    }
    ASSERT_TRUE(storage_->set_records(300, true).ok());
    ASSERT_TRUE(storage_->sync().ok());
    ASSERT_TRUE(storage_
                    ->close(300, {{-1, {"late", TW_CHAR, 2, {'o', 'k'}}},
                                  {1, {"late", TW_SHORT, 1, {'\x07', '\x00'}}}})
                    .ok());
    EXPECT_EQ(storage_->counts().calls, 601);
    EXPECT_EQ(storage_->counts().bytes, 32 + 300 * 68);

    struct stat info {};
    ASSERT_EQ(stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_size, map_.size(300));
    int nc = 0, format = 0;
    ASSERT_EQ(nc_open(path_.c_str(), NC_NOWRITE, &nc), NC_NOERR);
    nc_inq_format(nc, &format);
    EXPECT_EQ(format, GetParam() == Format::cdf1   ? NC_FORMAT_CLASSIC
                      : GetParam() == Format::cdf2 ? NC_FORMAT_64BIT_OFFSET
                                                   : NC_FORMAT_64BIT_DATA);
    std::size_t records = 0;
    nc_inq_dimlen(nc, 0, &records);
    EXPECT_EQ(records, 300U);
    std::vector<short> got_f(15);
    ASSERT_EQ(nc_get_var_short(nc, 0, got_f.data()), NC_NOERR);
    EXPECT_EQ(got_f, counted<short>(15, 100));
    for (std::size_t r : {0U, 1U, 255U, 299U}) {
        const std::size_t start[] = {r, 0, 0}, count[] = {1, 3, 5}, count_b[] = {1, 5};
        std::vector<int> got_a(15);
        std::vector<signed char> got_b(5);
        ASSERT_EQ(nc_get_vara_int(nc, 1, start, count, got_a.data()), NC_NOERR);
        EXPECT_EQ(got_a, counted<int>(15, 1000 * static_cast<int>(r)));
        ASSERT_EQ(nc_get_vara_schar(nc, 2, start, count_b, got_b.data()), NC_NOERR);
        EXPECT_EQ(got_b, counted<signed char>(5, static_cast<signed char>(r % 100)));
    }
    char text[3] = {};
    EXPECT_EQ(nc_get_att_text(nc, NC_GLOBAL, "late", text), NC_NOERR);
    EXPECT_STREQ(text, "ok");
    short number = 0;
    EXPECT_EQ(nc_get_att_short(nc, 1, "late", &number), NC_NOERR);
    EXPECT_EQ(number, 7);
    nc_close(nc);
}

TEST_P(Posix, RecordsAreNotThereBeforeTheyArePublished) {
    auto records = [&] {
        int nc = 0;
        std::size_t n = 99;
        EXPECT_EQ(nc_open(path_.c_str(), NC_NOWRITE, &nc), NC_NOERR);
        nc_inq_dimlen(nc, 0, &n);
        nc_close(nc);
        return n;
    };
    ASSERT_TRUE(write(chunk(1, 0, big_endian(TW_INT, counted<int>(15, 0)))).ok());
    ASSERT_TRUE(write(chunk(1, 1, big_endian(TW_INT, counted<int>(15, 0), 68))).ok());
    EXPECT_EQ(records(), 0U);
    ASSERT_TRUE(storage_->set_records(2, false).ok());
    EXPECT_EQ(records(), 2U);
    ASSERT_TRUE(storage_->close(2, {}).ok());
}

TEST_P(Posix, NoRecordsStillMakeAWholeFile) {
    ASSERT_TRUE(storage_->close(0, {}).ok());
    struct stat info {};
    ASSERT_EQ(stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_size, map_.size(0));
}

TEST_P(Posix, WhatContinuesInMemoryAndFileIsOneWrite) {
    std::vector<char> bytes(68 * 2, 'x');
    Chunk first = chunk(1, 0, bytes), second = chunk(2, 0, bytes), apart = chunk(1, 1, bytes);
    first.bytes = 60;
    second.data = bytes.data() + 60;
    second.bytes = 8;
    apart.data = bytes.data() + 69;  // the data of this chunk are not adjacent in memory
    apart.bytes = 60;
    ASSERT_TRUE(storage_->write(std::vector<Chunk>{first, second, apart}).ok());
    EXPECT_EQ(storage_->counts().calls, 2);
    EXPECT_EQ(storage_->counts().bytes, 128);
}

TEST_P(Posix, Boxes) {
    // Write zeros first; the box is y = 1..2, x = 2..4.
    ASSERT_TRUE(write(chunk(0, 0, std::vector<char>(32))).ok());
    Box box;
    box.nd = 2;
    box.low = {1, 2};
    box.count = {2, 3};
    const auto bytes = big_endian(TW_SHORT, counted<short>(6, 1));
    Chunk c = chunk(0, 0, bytes);
    c.box = &box;
    c.elements = 6;
    ASSERT_TRUE(write(c).ok());
    EXPECT_EQ(storage_->counts().calls, 1 + 2);
    // Whole rows are written by one call.
    Box rows;
    rows.nd = 2;
    rows.low = {1, 0};
    rows.count = {2, 5};
    const auto row_bytes = big_endian(TW_INT, counted<int>(10, 50));
    Chunk r = chunk(1, 0, row_bytes);
    r.box = &rows;
    r.elements = 10;
    ASSERT_TRUE(write(r).ok());
    EXPECT_EQ(storage_->counts().calls, 1 + 2 + 1);
    ASSERT_TRUE(storage_->set_records(1, false).ok());
    ASSERT_TRUE(storage_->close(1, {}).ok());
    int nc = 0;
    ASSERT_EQ(nc_open(path_.c_str(), NC_NOWRITE, &nc), NC_NOERR);
    std::vector<short> f(15);
    nc_get_var_short(nc, 0, f.data());
    EXPECT_EQ(f, (std::vector<short>{0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6}));
    std::vector<int> a(15);
    nc_get_var_int(nc, 1, a.data());
    for (int i = 0; i < 10; ++i) EXPECT_EQ(a[static_cast<std::size_t>(5 + i)], 50 + i);
    nc_close(nc);
}

TEST_P(Posix, AFullDiskIsAnErrorWithTheSystemsWords) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &small);
    const auto a = big_endian(TW_INT, counted<int>(15, 0));
    const Status good = write(chunk(1, 0, a));
    const Status bad = write(chunk(1, 500, a));
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_TRUE(good.ok()) << good.text;
    EXPECT_EQ(bad.code, TW_EIO);
    for (const char* word : {"storage.nc", "'a'", "record 500", "File too large"})
        EXPECT_NE(bad.text.find(word), std::string::npos) << bad.text;
    EXPECT_EQ(storage_->counts().calls, 1);
    // After this, no signal may be pending.
    sigset_t pending;
    sigpending(&pending);
    EXPECT_FALSE(sigismember(&pending, SIGXFSZ));
}

TEST(PosixStorage, ASingleRecordVariableIsNotPadded) {
    Definitions d = definitions();
    const std::string other = d.variables[1].name;
    d.variables.remove_if(
        [&](const Variable& v) { return v.name == other; });  // leaves b, of 5 bytes per record
    FileMap map;
    const auto comm = make_mpi_comm(MPI_COMM_SELF);
    const auto storage = make_posix_storage();
    ASSERT_TRUE(storage->create(*comm, "single.nc", d, {}, true, map).ok());
    EXPECT_EQ(map.record_bytes, 5);
    EXPECT_EQ(map.padded[1], 5);
    EXPECT_TRUE(storage->close(0, {}).ok());
    unlink("single.nc");
}

TEST(PosixStorage, AShorterHeaderLeavesNothingOfALongerOne) {
    Definitions d = definitions();
    // This attribute is the last part of the header, except for 16 bytes, which describe its
    // variable.
    d.variables.back().attributes = {{"title", TW_CHAR, 100, std::vector<char>(100, '#')}};
    FileMap map;
    const auto comm = make_mpi_comm(MPI_COMM_SELF);
    const auto storage = make_posix_storage();
    ASSERT_TRUE(storage->create(*comm, "shorter.nc", d, {}, true, map).ok());
    ASSERT_TRUE(storage->close(0, {{2, {"title", TW_CHAR, 1, {'#'}}}}).ok());
    std::ifstream file("shorter.nc", std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), '#'), 1);
    unlink("shorter.nc");
}

TEST(PosixStorage, AMissingFolder) {
    FileMap map;
    const Definitions d = definitions();
    const auto comm = make_mpi_comm(MPI_COMM_SELF);
    const Status status = make_posix_storage()->create(*comm, "missing/x.nc", d, {}, true, map);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.text.find("missing/x.nc"), std::string::npos);
}

TEST(MemoryStorage, CountsAndKeepsNothing) {
    FileMap map;
    const Definitions d = definitions();
    const auto comm = make_mpi_comm(MPI_COMM_SELF);
    const auto storage = make_memory_storage();
    ASSERT_TRUE(storage->create(*comm, "memory.nc", d, {}, true, map).ok());
    std::vector<char> bytes(32);
    Chunk c;
    c.data = bytes.data();
    c.bytes = 32;
    c.offset = std::int64_t(1) << 50;
    EXPECT_TRUE(storage->write({&c, 1}).ok());
    EXPECT_EQ(storage->counts().bytes, 32);
    EXPECT_TRUE(storage->close(1, {}).ok());
    unlink("memory.nc");
}

}  // namespace
