// Tests reading netCDF-4 files that serial netCDF-C wrote: features of other libraries, and damaged
// chunks.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "base/clock.hpp"
#include "source_values.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/library_lock.hpp"
#include "storage/netcdf4/chunks/hdf5_view.hpp"
#include "storage/read_ahead.hpp"
#include "storage/source.hpp"

using namespace thalweg::detail;

namespace {

void ok(int code) { ASSERT_EQ(code, NC_NOERR) << nc_strerror(code); }

class Netcdf4Source : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "thalweg_XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        path_ = name + "/file.nc";
    }
    void TearDown() override {
        source_.reset();
        std::filesystem::remove_all(folder_);
    }

    Status open() {
        Status status;
        source_ = open_source(*comm_, path_, true, status);
        return status;
    }

    Status read(const std::string& name, std::int64_t record, std::int64_t piece,
                std::vector<char>& all) {
        return read_values(*source_, name, record, piece, all);
    }

    /// Writes a variable v(y, x) of shorts with the values 0, 1, 2, ...
    void write(int ny, int nx, const std::vector<std::size_t>& chunk,
               const std::function<void(int, int)>& more) {
        int id = 0, dims[2] = {}, v = 0;
        ok(nc_create(path_.c_str(), NC_CLOBBER | NC_NETCDF4, &id));
        ok(nc_def_dim(id, "y", static_cast<std::size_t>(ny), &dims[0]));
        ok(nc_def_dim(id, "x", static_cast<std::size_t>(nx), &dims[1]));
        ok(nc_def_var(id, "v", NC_SHORT, 2, dims, &v));
        if (!chunk.empty()) ok(nc_def_var_chunking(id, v, NC_CHUNKED, chunk.data()));
        more(id, v);
        values_.resize(static_cast<std::size_t>(ny * nx));
        std::iota(values_.begin(), values_.end(), short(0));
        ok(nc_enddef(id));
        ok(nc_put_var_short(id, v, values_.data()));
        ok(nc_close(id));
    }

    void expect_values(std::int64_t piece) {
        std::vector<char> all;
        const Status status = read("v", 0, piece, all);
        ASSERT_TRUE(status.ok()) << status.text;
        EXPECT_EQ(std::memcmp(all.data(), values_.data(), all.size()), 0);
    }

    std::string folder_, path_;
    std::unique_ptr<Comm> comm_ = make_serial_comm();
    std::unique_ptr<Source> source_;
    std::vector<short> values_;
};

// The model may be in a call of HDF5 at any time, so the other thread must not call it.
TEST_F(Netcdf4Source, TheThreadThatReadsAheadDoesNotCallHdf5) {
    for (const int level : {0, 1}) {
        write(200, 300, {50, 110}, [&](int id, int v) {
            if (level > 0) ok(nc_def_var_deflate(id, v, 1, 1, level));
        });
        ASSERT_TRUE(open().ok());
        std::vector<short> data(200 * 300);
        ReadAhead ahead(source_->ahead(), reinterpret_cast<char*>(data.data()), 200 * 300 * 2);
        ASSERT_TRUE(ahead.start().ok());
        ahead.pause();
        SourcePart whole;
        whole.box = whole_box(std::vector<std::int64_t>{200, 300});
        (void)ahead.expect({{0, 0, whole, 0}}, true, false);
        const auto all = [&](char* to) {
            return std::vector<ReadRange>{{0, 0, &ahead.expected().front().part, 0, 60000, to}};
        };
        ASSERT_TRUE(ahead.add(120000, all));
        const LibraryLock in_hdf5;  // makes any HDF5 call of the thread wait
        ahead.resume();
        std::vector<char> base(1);
        std::int64_t at = -1;
        for (int turn = 0; turn < 100000 && at < 0; ++turn) {
            at = ahead.take(all(base.data()), base.data(), false);
            sleep_seconds(1e-4);
        }
        ASSERT_EQ(at, 0);
        EXPECT_EQ(data, values_);
    }
}

TEST_F(Netcdf4Source, ReadsEachChunkOnce) {
    for (const std::vector<std::size_t>& chunk :
         {std::vector<std::size_t>{1, 300}, {7, 300}, {50, 11}, {200, 300}, {3, 5}}) {
        write(200, 300, chunk, [](int id, int v) { ok(nc_def_var_deflate(id, v, 1, 1, 1)); });
        ASSERT_TRUE(open().ok());
        expect_values(977);
        const auto rows = (200 + chunk[0] - 1) / chunk[0],
                   columns = (300 + chunk[1] - 1) / chunk[1];
        EXPECT_EQ(source_->counts().calls, static_cast<std::int64_t>(rows * columns));
        source_.reset();
    }
}

TEST_F(Netcdf4Source, CutsAVariableThatIsOneBandOfChunks) {
    write(2000, 3000, {2000, 100}, [](int id, int v) { ok(nc_def_var_deflate(id, v, 0, 1, 1)); });
    ASSERT_TRUE(open().ok());
    const auto parts = source_->parts(0, 8);
    EXPECT_GE(parts.size(), 8U);
    for (const SourcePart& part : parts) EXPECT_EQ(part.box.low[1] % 100, 0);
    expect_values(100000);
    EXPECT_EQ(source_->counts().calls, 30);
}

TEST_F(Netcdf4Source, ReadsUnfilteredPiecesOfAChunkWithoutTheRest) {
    write(200, 300, {100, 300}, [](int, int) {});
    ASSERT_TRUE(open().ok());
    expect_values(700);
    EXPECT_EQ(source_->counts().bytes, 200 * 300 * 2);
}

TEST_F(Netcdf4Source, IsHeldToARate) {
    write(200, 300, {}, [](int, int) {});
    ASSERT_TRUE(open().ok());
    source_->limit(1e6);
    const double begin = now();
    expect_values(6000);
    // The read takes 0.12 s at this rate, less the time saved by a burst.
    EXPECT_GE(now() - begin, 0.100);
}

TEST_F(Netcdf4Source, ReadsFiltersThatItDoesNotKnowByHdf5) {
    if (H5Zfilter_avail(H5Z_FILTER_SZIP) <= 0) GTEST_SKIP() << "no szip";
    write(64, 64, {32, 64}, [](int id, int v) { ok(nc_def_var_szip(id, v, 32, 8)); });
    ASSERT_TRUE(open().ok());
    expect_values(500);
}

TEST_F(Netcdf4Source, FillsWhatWasNeverWritten) {
    int id = 0, dims[3] = {}, v = 0, w = 0, n = 0;
    const short fill = -7;
    ok(nc_create(path_.c_str(), NC_CLOBBER | NC_NETCDF4, &id));
    ok(nc_def_dim(id, "t", NC_UNLIMITED, &dims[0]));
    ok(nc_def_dim(id, "y", 6, &dims[1]));
    ok(nc_def_dim(id, "u", NC_UNLIMITED, &dims[2]));
    const std::size_t chunk[] = {2, 4, 4};
    ok(nc_def_var(id, "v", NC_SHORT, 3, dims, &v));
    ok(nc_def_var_chunking(id, v, NC_CHUNKED, chunk));
    ok(nc_def_var_fill(id, v, 0, &fill));
    ok(nc_def_var(id, "w", NC_SHORT, 3, dims, &w));
    ok(nc_def_var_deflate(id, w, 1, 1, 1));
    ok(nc_def_var_chunking(id, w, NC_CHUNKED, chunk));
    // Without fill values, netCDF-C leaves the rest of this variable's last chunks undefined.
    ok(nc_def_var(id, "n", NC_SHORT, 3, dims, &n));
    ok(nc_def_var_chunking(id, n, NC_CHUNKED, chunk));
    ok(nc_def_var_fill(id, n, 1, nullptr));
    const std::size_t at[] = {1, 2, 3}, last[] = {4, 5, 8}, first[] = {0, 0, 0}, some[] = {3, 6, 3};
    const short five = 5;
    ok(nc_put_var1_short(id, v, at, &five));
    ok(nc_put_var1_short(id, w, last, &five));
    ok(nc_put_vara_short(id, n, first, some, std::vector<short>(54, five).data()));
    std::vector<short> expected[3];
    for (const int var : {v, w, n}) {
        expected[var].resize(5 * 6 * 9);
        // Values are read one by one: otherwise netCDF-C 4.9 confuses variables of which two
        // dimensions are longer in others.
        for (std::size_t i = 0; i < expected[var].size(); ++i) {
            const std::size_t index[] = {i / 54, i / 9 % 6, i % 9};
            ok(nc_get_var1_short(id, var, index, &expected[var][i]));
        }
    }
    ok(nc_close(id));
    ASSERT_TRUE(open().ok());
    EXPECT_EQ(source_->records(), 5);
    const char* const names[] = {"v", "w", "n"};
    for (const int var : {0, 1, 2})
        for (std::int64_t r = 0; r < 5; ++r) {
            std::vector<char> all;
            const Status status = read(names[var], r, 7, all);
            ASSERT_TRUE(status.ok()) << status.text;
            EXPECT_EQ(std::memcmp(all.data(), expected[var].data() + r * 54, all.size()), 0);
        }
}

TEST_F(Netcdf4Source, FindsDamagedChunks) {
    std::mt19937 random(1);
    for (int filter = 0; filter < 3; ++filter) {
        write(30, 40, {10, 13}, [&](int id, int v) {
            if (filter > 0) ok(nc_def_var_deflate(id, v, 1, 1, 1));
            if (filter != 1) ok(nc_def_var_fletcher32(id, v, NC_FLETCHER32));
        });
        std::vector<StoredChunk> chunks;
        {
            Status status;
            const auto view = Hdf5View::open(path_, status);
            ASSERT_TRUE(status.ok()) << status.text;
            const hid_t set = H5Dopen2(view->id(), "v", H5P_DEFAULT);
            for (hsize_t y = 0; y < 30; y += 10)
                for (hsize_t x = 0; x < 40; x += 13) {
                    const hsize_t corner[] = {y, x};
                    ASSERT_TRUE(view->locate(set, corner, chunks.emplace_back()).ok());
                }
            H5Dclose(set);
        }
        for (int tries = 0; tries < 150; ++tries) {
            const StoredChunk& chunk = chunks[random() % chunks.size()];
            const auto at = chunk.address + static_cast<std::int64_t>(
                                                random() % static_cast<unsigned>(chunk.bytes));
            const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
            char byte = 0;
            ASSERT_EQ(pread(fd, &byte, 1, at), 1);
            const char changed = static_cast<char>(byte ^ (1 << random() % 8));
            ASSERT_EQ(pwrite(fd, &changed, 1, at), 1);
            ASSERT_TRUE(open().ok());
            std::vector<char> all;
            const Status status = read("v", 0, 333, all);
            // A checksum covers all data: that of fletcher32, or that in zlib's format.
            if (status.ok()) {  // a single bit is not used
                EXPECT_NE(filter, 0);
                EXPECT_EQ(std::memcmp(all.data(), values_.data(), all.size()), 0);
            } else {
                EXPECT_EQ(status.code, TW_EFORMAT);
                EXPECT_NE(status.text.find("variable 'v'"), std::string::npos) << status.text;
            }
            ASSERT_EQ(pwrite(fd, &byte, 1, at), 1);
            ::close(fd);
            source_.reset();
        }
    }
}

TEST_F(Netcdf4Source, RefusesAFileThatIsCutOff) {
    write(30, 40, {10, 13}, [](int id, int v) { ok(nc_def_var_deflate(id, v, 1, 1, 1)); });
    const auto size = std::filesystem::file_size(path_);
    for (std::uintmax_t n = size; n-- > 8; n -= std::min<std::uintmax_t>(n, 100)) {
        std::filesystem::resize_file(path_, n);
        const Status status = open();
        EXPECT_EQ(status.code, TW_EFORMAT) << n;
        EXPECT_NE(status.text.find("HDF5: "), std::string::npos) << status.text;
        EXPECT_FALSE(status.text.ends_with("HDF5: ")) << "no words of HDF5's";
    }
}

TEST_F(Netcdf4Source, LooksAgainAtAFileThatChanges) {
    write(30, 40, {10, 13}, [](int, int) {});
    const int fd = ::open(path_.c_str(), O_RDWR);
    ASSERT_GE(fd, 0);
    constexpr off_t version = 8;  // offset of the version in the superblock
    char good = 0;
    const char bad = 99;
    ASSERT_EQ(pread(fd, &good, 1, version), 1);
    std::atomic<bool> ends = false;
    double longest = 0;       // longest time, in seconds, in which the file was invalid
    std::thread writer([&] {  // makes the file invalid for HDF5 for a third of the time
        while (!ends) {
            const double begin = now();
            EXPECT_EQ(pwrite(fd, &bad, 1, version), 1);
            sleep_seconds(0.002);
            EXPECT_EQ(pwrite(fd, &good, 1, version), 1);
            longest = std::max(longest, now() - begin);
            sleep_seconds(0.004);
        }
    });
    std::string failed;
    for (int i = 0; i < 20; ++i) {
        if (const Status status = open(); !status.ok()) failed = status.text;
        source_.reset();
    }
    ends = true;
    writer.join();
    // On a busy machine, the writer may be delayed for longer than a reader waits.
    if (longest < 0.01) {
        EXPECT_EQ(failed, "");
    }
    ::close(fd);
}

/// netCDF-C has one state of a file for the whole process, so new records must be found without it.
TEST_F(Netcdf4Source, FindsNewRecordsOfAFileThatTheModelHasOpen) {
    const auto write_records = [](const std::string& path, std::size_t n) {
        int id = 0, dims[2] = {}, v = 0;
        ok(nc_create(path.c_str(), NC_CLOBBER | NC_NETCDF4, &id));
        ok(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
        ok(nc_def_dim(id, "x", 2, &dims[1]));
        ok(nc_def_var(id, "v", NC_SHORT, 2, dims, &v));
        for (std::size_t r = 0; r < n; ++r) {
            const std::size_t start[] = {r, 0}, count[] = {1, 2};
            const short values[] = {static_cast<short>(r), static_cast<short>(10 * r)};
            ok(nc_put_vara_short(id, v, start, count, values));
        }
        ok(nc_close(id));
    };
    write_records(path_, 1);
    write_records(path_ + ".longer", 3);
    int model = 0;
    ok(nc_open(path_.c_str(), NC_NOWRITE, &model));
    ASSERT_TRUE(open().ok());
    EXPECT_EQ(source_->records(), 1);
    // Replace the contents in place, as another process would do.
    std::filesystem::copy_file(path_ + ".longer", path_,
                               std::filesystem::copy_options::overwrite_existing);
    ASSERT_TRUE(source_->refresh(*comm_).ok());
    EXPECT_EQ(source_->records(), 3);
    std::vector<char> all;
    ASSERT_TRUE(read("v", 2, 2, all).ok());
    const short expected[] = {2, 20};
    EXPECT_EQ(std::memcmp(all.data(), expected, sizeof expected), 0);
    ok(nc_close(model));
}

/// The test runs in a process that has not called netCDF-C before, so that netCDF-C turns HDF5's
/// error messages off within the scope. They must stay off.
TEST(QuietHdf5, DoesNotTakeBackThatNetcdfIsQuiet) {
    {
        const QuietHdf5 quiet;
        EXPECT_EQ(nc_open(nullptr, NC_NOWRITE, nullptr), NC_EINVAL);
    }
    H5E_auto2_t function = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    EXPECT_EQ(function, nullptr);
}

TEST(Filters, UndoWhatCompressorDid) {
    std::vector<char> smooth(40001);  // not a multiple of the element size
    for (std::size_t i = 0; i < smooth.size(); ++i) smooth[i] = static_cast<char>(i * i / 7000);
    std::vector<char> noise(smooth.size());  // does not get shorter
    std::mt19937 random(1);
    for (char& byte : noise) byte = static_cast<char>(random());
    const StoredFilter sum{H5Z_FILTER_FLETCHER32};
    Compressor compressor;
    Decompressor decompressor;
    for (const std::vector<char>& data : {smooth, noise})
        for (const std::int32_t codec : {0, H5Z_FILTER_DEFLATE, zstd_filter})
            for (const std::int32_t element : {0, 1, 2, 4, 8})
                for (const int sums : {0, 1, 2, 3}) {  // bit 0: a checksum is the first filter; bit
                                                       // 1: it is the last one, as in h5py
                    std::vector<StoredFilter> filters;
                    if (sums % 2 == 1) filters.push_back(sum);
                    if (element > 0) filters.push_back({H5Z_FILTER_SHUFFLE, element});
                    if (codec > 0) filters.push_back({codec, 1, 3});
                    if (sums >= 2) filters.push_back(sum);
                    const std::int64_t n = std::ssize(data);
                    const FilteredChunk c = compressor.apply(filters, data.data(), n);
                    ASSERT_TRUE(can_undo(filters));
                    ASSERT_TRUE(Decompressor::plausible(filters, 0, c.bytes, n));
                    std::vector<char> raw(c.data, c.data + c.bytes), back;
                    ASSERT_EQ(decompressor.undo(filters, 0, raw, n, back), nullptr);
                    EXPECT_EQ(back, data);
                    if (sums > 0) {
                        raw.assign(c.data, c.data + c.bytes);
                        raw[raw.size() / 2] ^= 1;
                        EXPECT_NE(decompressor.undo(filters, 0, raw, n, back), nullptr);
                    }
                    if (codec == 0) continue;
                    EXPECT_EQ(c.bytes > n, data == noise);
                    EXPECT_FALSE(Decompressor::plausible(filters, 0, 5, n * 1000));
                    raw.assign(c.data, c.data + c.bytes / 2);
                    EXPECT_NE(decompressor.undo(filters, 0, raw, n, back), nullptr);
                }
    EXPECT_FALSE(can_undo({{H5Z_FILTER_SZIP, 1}}));
    EXPECT_FALSE(can_undo({{H5Z_FILTER_DEFLATE, 1}, {zstd_filter, 1}}));
}

}  // namespace
