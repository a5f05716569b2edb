// Tests sets of tiles whose attributes contradict their files.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "storage/source.hpp"

using namespace thalweg::detail;

namespace {

using Numbers = std::vector<int>;

class TileSetTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "thalweg_XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    static void ok(int code) { ASSERT_EQ(code, NC_NOERR) << nc_strerror(code); }

    /// Writes a tile with a variable x(x) of a given length, as FMS does.
    void write(int tile, std::size_t length, const Numbers& place, int files = 2) const {
        int id = 0, dim = 0, v = 0;
        ok(nc_create((path() + ".000" + std::to_string(tile)).c_str(), NC_CLOBBER, &id));
        ok(nc_def_dim(id, "x", length, &dim));
        ok(nc_def_var(id, "x", NC_INT, 1, &dim, &v));
        ok(nc_put_att_int(id, v, "domain_decomposition", NC_INT, place.size(), place.data()));
        ok(nc_put_att_int(id, NC_GLOBAL, "NumFilesInSet", NC_INT, 1, &files));
        ok(nc_enddef(id));
        Numbers values(length);
        std::iota(values.begin(), values.end(), 100 * tile);
        ok(nc_put_var_int(id, v, values.data()));
        ok(nc_close(id));
    }

    std::string path() const { return folder_ + "/set.nc"; }
    Status open() {
        Status status;
        source_ = open_source(*comm_, path(), true, status);
        return status;
    }
    void expect_refused(const std::string& words) {
        const Status status = open();
        EXPECT_EQ(status.code, TW_EFORMAT);
        EXPECT_NE(status.text.find(words), std::string::npos) << status.text;
    }

    std::string folder_;
    std::unique_ptr<Comm> comm_ = make_serial_comm();
    std::unique_ptr<Source> source_;
};

TEST_F(TileSetTest, OpensTilesOfAnyLengths) {
    write(0, 2, {1, 5, 1, 2});
    write(1, 3, {1, 5, 3, 5});
    const Status status = open();
    ASSERT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(source_->definitions().variables[0].shape, std::vector<std::int64_t>{5});
    const auto parts = source_->parts(0, 1);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[1].box.low[0], 2);
    EXPECT_EQ(parts[1].box.count[0], 3);
}

TEST_F(TileSetTest, RefusesAPlaceThatIsNotTheDimensions) {
    write(1, 3, {1, 5, 3, 5});
    for (const Numbers& place : {Numbers{1, 5, 1, 3},
                                 {1, 5, 1, 1},
                                 {1, 5, 0, 1},
                                 {1, 5, 5, 6},
                                 {1, 5, 2, 1},
                                 {1, 5, 1},
                                 {1, 5, 1, 2, 1}}) {
        write(0, 2, place);
        expect_refused("attribute 'domain_decomposition' does not match dimension 'x'");
    }
}

TEST_F(TileSetTest, RefusesGapsOverlapsAndOtherSets) {
    write(0, 2, {1, 6, 1, 2});
    write(1, 3, {1, 6, 4, 6});
    expect_refused("set.nc.0000: beside it, no file has indices 3 to 3 of dimension 'x'");
    write(0, 2, {1, 4, 1, 2});
    write(1, 3, {1, 4, 2, 4});
    expect_refused("set.nc.0001: overlaps");
    write(1, 2, {1, 5, 3, 4});
    expect_refused("definitions differ");
    write(1, 2, {1, 4, 3, 4}, 3);
    expect_refused("different set");
    write(0, 2, {1, 4, 1, 2}, 0);
    expect_refused("no attribute NumFilesInSet");
}

}  // namespace
