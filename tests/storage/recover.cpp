// Recovery without MPI: what becomes of the files, and the words about it.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

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
    static std::string content(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    int recover(const std::string& path) {
        char text[1000] = "untouched";
        const int code = tw_recover(path.c_str(), text, sizeof text);
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
    const std::string whole = content(part_);
    std::ofstream(part_, std::ios::binary | std::ios::app) << "more";
    ASSERT_EQ(recover(own_), TW_OK) << text_;
    EXPECT_TRUE(says("netCDF-4, recovered; 4 bytes cut off")) << text_;
    EXPECT_FALSE(fs::exists(part_));
    EXPECT_EQ(content(own_), whole);
    ASSERT_EQ(recover(own_), TW_OK) << text_;
    EXPECT_TRUE(says("complete already")) << text_;
    fs::resize_file(own_, whole.size() - 1);
    EXPECT_EQ(recover(own_), TW_EFORMAT);
    EXPECT_TRUE(says("ends inside its definitions")) << text_;
}

TEST_F(Recover, CutsOffWhatIsBehindTheLastRecord) {
    make(part_);
    const std::string complete = content(part_);
    for (const std::string& name : {own_, part_}) {
        std::ofstream(part_, std::ios::binary) << complete << "half a record";
        EXPECT_EQ(recover(name), TW_OK) << text_;
        EXPECT_EQ(text_, own_ + ": 3 records recovered; 13 bytes cut off");
        EXPECT_EQ(content(own_), complete);
        EXPECT_FALSE(fs::exists(part_));
    }
}

TEST_F(Recover, ReplacesAnOlderFile) {
    make(part_);
    const std::string complete = content(part_);
    std::ofstream(own_) << "older";
    EXPECT_EQ(recover(own_), TW_OK) << text_;
    EXPECT_EQ(text_, own_ + ": 3 records recovered");
    EXPECT_EQ(content(own_), complete);
}

TEST_F(Recover, ExtendsAnEndThatWasNeverWritten) {
    make(part_);
    const std::string complete = content(part_);
    fs::resize_file(part_, complete.size() - 3);  // the padding of b
    EXPECT_EQ(recover(own_), TW_OK) << text_;
    EXPECT_EQ(text_, own_ + ": 3 records recovered");
    EXPECT_EQ(content(own_).size(), complete.size());
}

/// As after a power loss: the header knows of more than there is.
TEST_F(Recover, CountsOnlyRecordsThatAreThere) {
    make(part_);
    const std::string complete = content(part_);
    fs::resize_file(part_, complete.size() - 4);
    EXPECT_EQ(recover(own_), TW_OK) << text_;
    EXPECT_TRUE(says("2 records recovered; 1 more had been counted")) << text_;
    std::string two = complete.substr(0, complete.size() - 28);
    two[7] = 2;
    EXPECT_EQ(content(own_), two);
}

TEST_F(Recover, LeavesACompleteFileAsItIs) {
    make(own_);
    const std::string complete = content(own_);
    EXPECT_EQ(recover(own_), TW_OK) << text_;
    EXPECT_EQ(text_, own_ + ": 3 records, complete already");
    EXPECT_EQ(content(own_), complete);
}

TEST_F(Recover, CompletesALiveFileInPlace) {
    make(own_);
    const std::string complete = content(own_);
    std::ofstream(own_, std::ios::binary | std::ios::app) << "half a record";
    EXPECT_EQ(recover(own_), TW_OK) << text_;
    EXPECT_TRUE(says("3 records recovered; 13 bytes cut off")) << text_;
    EXPECT_EQ(content(own_), complete);
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
    EXPECT_EQ(tw_recover(nullptr, nullptr, 0), TW_EARG);
    EXPECT_EQ(recover(""), TW_EARG);

    for (const std::string& bytes :
         {std::string(), std::string("CDF"), std::string("not netCDF")}) {
        std::ofstream(part_, std::ios::binary) << bytes;
        EXPECT_EQ(recover(own_), TW_EFORMAT);
        EXPECT_TRUE(says(part_)) << text_;
        EXPECT_EQ(content(part_), bytes);
        EXPECT_FALSE(fs::exists(own_));
    }
    fs::remove(part_);
    fs::create_directory(part_);
    EXPECT_EQ(recover(own_), TW_EIO);
    EXPECT_TRUE(says(std::strerror(EISDIR))) << text_;
    fs::remove(part_);

    make(part_);
    fs::create_directory(own_);
    EXPECT_EQ(recover(own_), TW_EIO);
    EXPECT_TRUE(says(std::strerror(EISDIR))) << text_;
    EXPECT_TRUE(fs::exists(part_));
}

TEST_F(Recover, FitsItsTextIntoWhatThereIs) {
    char text[5] = "####";
    EXPECT_EQ(tw_recover(own_.c_str(), text, 4), TW_ENOTFOUND);
    EXPECT_STREQ(text, own_.substr(0, 3).c_str());
    EXPECT_EQ(tw_recover(own_.c_str(), text, 0), TW_ENOTFOUND);
    EXPECT_EQ(tw_recover(own_.c_str(), nullptr, 100), TW_ENOTFOUND);
}

}  // namespace
