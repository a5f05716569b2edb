// Tests recovery without MPI: the resulting files, and the messages.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "support/content.hpp"
#include "thalweg/thalweg.h"

namespace {

namespace fs = std::filesystem;

class Recover : public testing::Test {
protected:
    void SetUp() override {
        fs::remove_all(folder_);
        fs::create_directory(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    /// time = 3, x = 5: fixed short f(x), records of int a(x) and byte b(x).
    void make(const std::string& path, int mode = 0) {
        int id = 0, dims[2], f = 0, a = 0, b = 0;
        ASSERT_EQ(nc_create(path.c_str(), NC_CLOBBER | mode, &id), NC_NOERR);
        ASSERT_EQ(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]), NC_NOERR);
        ASSERT_EQ(nc_def_dim(id, "x", 5, &dims[1]), NC_NOERR);
        ASSERT_EQ(nc_def_var(id, "f", NC_SHORT, 1, dims + 1, &f), NC_NOERR);
        ASSERT_EQ(nc_def_var(id, "a", NC_INT, 2, dims, &a), NC_NOERR);
        ASSERT_EQ(nc_def_var(id, "b", NC_BYTE, 2, dims, &b), NC_NOERR);
        ASSERT_EQ(nc_enddef(id), NC_NOERR);
        for (std::size_t record = 0; record < 3; ++record) {
            const std::size_t start[2] = {record, 0}, count[2] = {1, 5};
            const int values[5] = {1, 2, 3, 4, static_cast<int>(record)};
            ASSERT_EQ(nc_put_vara_int(id, a, start, count, values), NC_NOERR);
            ASSERT_EQ(nc_put_vara_int(id, b, start, count, values), NC_NOERR);
        }
        ASSERT_EQ(nc_close(id), NC_NOERR);
    }
    int recover(const std::string& path, tw_recovery longer = TW_KEEP_LONGER) {
        char text[1000] = "untouched";
        const int code = tw_recover(path.c_str(), longer, text, sizeof text);
        text_ = text;
        return code;
    }
    bool says(const std::string& words) const { return text_.find(words) != std::string::npos; }

    const std::string folder_ = "recover_" + std::to_string(getpid());
    const std::string own_ = folder_ + "/history.nc", part_ = own_ + ".part";
    std::string text_;
};

TEST_F(Recover, ANetcdf4FileEndsWhereItsSuperblockSays) {
    make(part_, NC_NETCDF4);
    const std::string whole = content_of(part_);
    std::ofstream(part_, std::ios::binary | std::ios::app) << "more";
    ASSERT_EQ(recover(own_), TW_OK) << text_;
    EXPECT_TRUE(says(": 3 records recovered; 4 bytes cut off")) << text_;
    EXPECT_FALSE(fs::exists(part_));
    EXPECT_EQ(content_of(own_), whole);
    ASSERT_EQ(recover(own_), TW_OK) << text_;
    EXPECT_TRUE(says("already complete")) << text_;
    fs::resize_file(own_, whole.size() - 1);
    EXPECT_EQ(recover(own_), TW_EFORMAT);
    EXPECT_TRUE(says("truncated inside its definitions")) << text_;
}

/// A run was killed while netCDF-C wrote the definitions, and the end that HDF5's superblock gives
/// is the end of the file.
TEST_F(Recover, ANetcdf4FileWithoutDefinitionsIsNone) {
    make(own_);
    const std::string older = content_of(own_);
    make(part_, NC_NETCDF4);
    std::string bytes = content_of(part_);
    // The file must be refused from the first complete superblock on, whatever else is missing.
    for (const std::size_t size :
         {std::size_t(48), std::size_t(96), std::size_t(400), bytes.size() / 2, bytes.size() - 1}) {
        std::string cut = bytes.substr(0, size);
        const auto end = static_cast<std::int64_t>(size);
        std::memcpy(cut.data() + 28, &end, sizeof end);  // as in the first superblock
        std::ofstream(part_, std::ios::binary) << cut;
        EXPECT_EQ(recover(own_, TW_REPLACE_LONGER), TW_EFORMAT) << size << " " << text_;
        EXPECT_TRUE(says(part_)) << text_;
        EXPECT_EQ(content_of(part_), cut);
        EXPECT_EQ(content_of(own_), older);
    }
}

/// A file is not complete if it has a hole where metadata or data were not written.
TEST_F(Recover, ANetcdf4FileMustBeWhole) {
    make(part_, NC_NETCDF4);
    const std::string bytes = content_of(part_);
    int refused = 0;
    // Skip global heaps, which a killed run always leaves complete: HDF5 hangs on one that has a
    // hole.
    const std::size_t heap = bytes.find("GCOL"), heap_bytes = 4096;
    for (std::size_t at = 48; at + 64 <= bytes.size(); at += 64) {
        if (at + 64 > heap && at < heap + heap_bytes) continue;
        std::string holed = bytes;
        std::fill_n(holed.begin() + static_cast<std::ptrdiff_t>(at), 64, '\0');
        std::ofstream(part_, std::ios::binary) << holed;
        fs::remove(own_);
        const int code = recover(own_);
        if (code == TW_EFORMAT) {
            ++refused;
            EXPECT_EQ(content_of(part_), holed);
            EXPECT_FALSE(fs::exists(own_));
            continue;
        }
        // A published file can be read completely.
        ASSERT_EQ(code, TW_OK) << text_;
        int id = 0, values[15], nvars = 0;
        ASSERT_EQ(nc_open(own_.c_str(), NC_NOWRITE, &id), NC_NOERR) << at;
        ASSERT_EQ(nc_inq_nvars(id, &nvars), NC_NOERR);
        for (int v = 0; v < nvars; ++v) EXPECT_EQ(nc_get_var_int(id, v, values), NC_NOERR) << at;
        nc_close(id);
    }
    EXPECT_GT(refused, 5);
}

TEST_F(Recover, AChunkBehindTheEndIsNone) {
    make(part_, NC_NETCDF4);
    // A file that has lost data, but no metadata, can still be opened.
    int id = 0, dim = 0, v = 0;
    ASSERT_EQ(nc_create(part_.c_str(), NC_NETCDF4 | NC_CLOBBER, &id), NC_NOERR);
    ASSERT_EQ(nc_def_dim(id, "x", 100000, &dim), NC_NOERR);
    ASSERT_EQ(nc_def_var(id, "v", NC_INT, 1, &dim, &v), NC_NOERR);
    const std::vector<int> values(100000, 7);
    ASSERT_EQ(nc_put_var_int(id, v, values.data()), NC_NOERR);
    ASSERT_EQ(nc_close(id), NC_NOERR);
    std::string bytes = content_of(part_);
    bytes.resize(bytes.size() - 100000);
    const auto end = static_cast<std::int64_t>(bytes.size());
    std::memcpy(bytes.data() + 28, &end, sizeof end);
    std::ofstream(part_, std::ios::binary) << bytes;
    EXPECT_EQ(recover(own_), TW_EFORMAT) << text_;
    EXPECT_EQ(content_of(part_), bytes);
}

TEST_F(Recover, KeepsAFileThatHasMoreRecords) {
    make(part_);
    const std::string three = content_of(part_);
    for (const int mode : {0, NC_NETCDF4}) {
        std::string two = three;
        two[7] = 2;
        std::ofstream(part_, std::ios::binary) << two;
        make(own_, mode);
        const std::string before = content_of(own_);
        EXPECT_EQ(recover(own_), TW_EEXISTS) << text_;
        EXPECT_TRUE(says(part_ + ": it has 2 records, but " + own_ + " has 3")) << text_;
        EXPECT_EQ(content_of(own_), before);
        EXPECT_EQ(content_of(part_), two);
        EXPECT_EQ(recover(own_, TW_REPLACE_LONGER), TW_OK) << text_;
        EXPECT_TRUE(says("2 records recovered")) << text_;
        EXPECT_FALSE(fs::exists(part_));
    }
}

/// Recovers a temporary file by either name, beside an older file.
TEST_F(Recover, MakesAFileOfTheRecordsThatAreThere) {
    make(part_);
    const std::string whole = content_of(part_);
    std::string two = whole.substr(0, whole.size() - 28);
    two[7] = 2;
    const struct {
        std::string found, made, said;
    } cases[] = {{whole, whole, ""},
                 {whole + "half a record", whole, "; 13 bytes cut off"},
                 // The padding of b, which is behind the last record, was never written.
                 {whole.substr(0, whole.size() - 3),
                  whole.substr(0, whole.size() - 3) + std::string(3, '\0'), ""},
                 // After a power failure, the header may count more records than the file contains.
                 {whole.substr(0, whole.size() - 4), two,
                  "; 1 more counted in the header but missing; 24 bytes cut off"}};
    for (const auto& c : cases)
        for (const std::string& name : {own_, part_}) {
            std::ofstream(part_, std::ios::binary) << c.found;
            std::ofstream(own_) << "older";
            EXPECT_EQ(recover(name), TW_OK) << text_;
            const char* const records = c.made == two ? "2" : "3";
            EXPECT_EQ(text_, own_ + ": " + records + " records recovered" + c.said);
            EXPECT_EQ(content_of(own_), c.made);
            EXPECT_FALSE(fs::exists(part_));
        }
}

TEST_F(Recover, TakesANameThatEndsAsTemporaryOnesDo) {
    make(part_ + ".part");
    EXPECT_EQ(recover(part_), TW_OK) << text_;
    EXPECT_TRUE(fs::exists(part_));
}

TEST_F(Recover, ChangesNothingOnFailure) {
    EXPECT_EQ(recover(own_), TW_ENOTFOUND);
    EXPECT_TRUE(says(part_)) << text_;
    EXPECT_EQ(recover(folder_ + "/no/such.nc"), TW_ENOTFOUND);
    EXPECT_EQ(tw_recover(nullptr, TW_KEEP_LONGER, nullptr, 0), TW_EARG);
    EXPECT_EQ(recover(""), TW_EARG);

    for (const std::string& bytes :
         {std::string(), std::string("CDF"), std::string("not netCDF")}) {
        std::ofstream(part_, std::ios::binary) << bytes;
        EXPECT_EQ(recover(own_), TW_EFORMAT);
        EXPECT_TRUE(says(part_)) << text_;
        EXPECT_EQ(content_of(part_), bytes);
        EXPECT_FALSE(fs::exists(own_));
    }
    fs::remove(part_);
    fs::create_directory(part_);
    EXPECT_EQ(recover(own_), TW_EUNSUPPORTED);
    EXPECT_TRUE(says(part_ + ": a folder")) << text_;
    fs::remove(part_);

    make(part_);
    fs::create_directory(own_);
    EXPECT_EQ(recover(own_), TW_EIO);
    EXPECT_TRUE(says(std::strerror(EISDIR))) << text_;
    EXPECT_TRUE(fs::exists(part_));
}

TEST_F(Recover, FitsItsTextIntoWhatThereIs) {
    char text[5] = "####";
    EXPECT_EQ(tw_recover(own_.c_str(), TW_KEEP_LONGER, text, 4), TW_ENOTFOUND);
    EXPECT_STREQ(text, own_.substr(0, 3).c_str());
    EXPECT_EQ(tw_recover(own_.c_str(), TW_KEEP_LONGER, text, 0), TW_ENOTFOUND);
    EXPECT_EQ(tw_recover(own_.c_str(), TW_KEEP_LONGER, nullptr, 100), TW_ENOTFOUND);
}

}  // namespace
