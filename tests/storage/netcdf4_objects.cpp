// Tests files with objects on which netCDF-C crashes or hangs, and with links to other files.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "make_scale.hpp"
#include "publish/recover.hpp"
#include "source_values.hpp"
#include "storage/source.hpp"

using namespace thalweg::detail;

namespace netcdf4_objects {
namespace {

class Netcdf4Objects : public testing::Test {
protected:
    Netcdf4Objects() { std::filesystem::create_directory(folder_); }
    ~Netcdf4Objects() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    /// Makes a file with the dimension x of length 6 and additional objects.
    void make(const std::string& name, const std::function<void(hid_t)>& more) const {
        const hid_t file = H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        ASSERT_GE(file, 0);
        more(file);
        ASSERT_GE(H5Fclose(file), 0);
    }

    /// Adds a data set of consecutive numbers, beginning with `first`.
    /// @param chunk  chunk length; 0: not chunked
    static void add(hid_t group, const char* name, int first, bool scale, hsize_t chunk = 0) {
        const hsize_t six = 6;
        const hid_t space = H5Screate_simple(1, &six, nullptr);
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        if (chunk > 0) {
            H5Pset_chunk(properties, 1, &chunk);
            H5Pset_deflate(properties, 1);
        }
        const hid_t set =
            H5Dcreate2(group, name, H5T_STD_I32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
        std::vector<int> values(six);
        std::iota(values.begin(), values.end(), first);
        EXPECT_GE(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        if (scale) make_scale(set, name);
        H5Dclose(set);
        H5Pclose(properties);
        H5Sclose(space);
    }

    /// Adds a data set without dimensions.
    static void add_point(hid_t group, const char* name, H5S_class_t space_class, bool scale) {
        const hid_t space = H5Screate(space_class);
        const hid_t set =
            H5Dcreate2(group, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (scale) make_scale(set, name);
        H5Dclose(set);
        H5Sclose(space);
    }

    static void link(hid_t group, const char* name, const char* file, const char* object) {
        EXPECT_GE(H5Lcreate_external(file, object, group, name, H5P_DEFAULT, H5P_DEFAULT), 0);
    }

    std::unique_ptr<Source> open(const std::string& name, Status& status) const {
        return open_source(*make_serial_comm(), path(name), true, status);
    }

    void expect_values(Source& source, const std::string& name, int first) const {
        std::vector<char> bytes;
        const Status status = read_values(source, name, 0, 4, bytes);
        ASSERT_TRUE(status.ok()) << status.text;
        std::vector<int> values(6), expected(6);
        ASSERT_EQ(bytes.size(), 6 * sizeof(int));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        std::iota(expected.begin(), expected.end(), first);
        EXPECT_EQ(values, expected) << name;
    }

    /// Checks that opening and recovery fail with a reason.
    void expect_refused(const std::string& name, const std::vector<std::string>& words) const {
        std::string done;
        Status opened;
        EXPECT_FALSE(open(name, opened)) << name;
        const Status recovered = recover(path(name), false, done);
        for (const Status& status : {opened, recovered}) {
            EXPECT_EQ(status.code, TW_EFORMAT) << name;
            for (const std::string& word : words)
                EXPECT_NE(status.text.find(word), std::string::npos) << status.text;
        }
    }

    const std::string folder_ = "netcdf4_objects_" + std::to_string(getpid());
};

TEST_F(Netcdf4Objects, RefusesDimensionScalesWithoutDimensions) {
    for (const H5S_class_t kind : {H5S_NULL, H5S_SCALAR}) {
        const std::string why = kind == H5S_NULL ? "no elements" : "no dimension";
        make("root.nc", [&](hid_t file) {
            add(file, "x", 0, true);
            add_point(file, "point", kind, true);
        });
        expect_refused("root.nc", {"root.nc", "'point'", why});
        make("group.nc", [&](hid_t file) {
            add(file, "x", 0, true);
            const hid_t outer = H5Gcreate2(file, "outer", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            const hid_t inner = H5Gcreate2(outer, "inner", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            add_point(inner, "point", kind, true);
            H5Gclose(inner);
            H5Gclose(outer);
        });
        expect_refused("group.nc", {"'outer/inner/point'", why});
        make("linked.nc", [&](hid_t file) {
            add(file, "x", 0, true);
            link(file, "away", "root.nc", "/point");
        });
        expect_refused("linked.nc", {"'away'", why});
        make("point.nc", [&](hid_t file) {
            add(file, "x", 0, true);
            add_point(file, "point", kind, false);
        });
        Status status;
        const auto source = open("point.nc", status);
        ASSERT_TRUE(source) << status.text;
        expect_values(*source, "x", 0);
        const int at = source->definitions().find_variable("point");
        EXPECT_EQ(source->check(at, 0).ok(), kind == H5S_SCALAR);
    }
}

TEST_F(Netcdf4Objects, RefusesGroupsThatContainThemselves) {
    make("hard.nc", [](hid_t file) {
        const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_hard(file, "g", group, "loop", H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(group);
    });
    expect_refused("hard.nc", {"'g/loop'", "contains itself"});
    make("soft.nc", [](hid_t file) {
        const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_soft("/", group, "loop", H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(group);
    });
    expect_refused("soft.nc", {"'g/loop'", "contains itself"});
    make("away.nc", [](hid_t file) {
        const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        link(group, "loop", "away.nc", "/");
        H5Gclose(group);
    });
    expect_refused("away.nc", {"'g/loop", "contains itself"});
}

TEST_F(Netcdf4Objects, ReadsDataSetsOfOtherFiles) {
    make("other.nc", [](hid_t file) {
        add(file, "x", 500, true);
        add(file, "plain", 100, false);
        add(file, "chunked", 200, false, 4);
    });
    make("file.nc", [](hid_t file) {
        add(file, "x", 0, true);
        link(file, "plain", "other.nc", "/plain");
        link(file, "chunked", "other.nc", "/chunked");
        link(file, "itself", "file.nc", "/x");
        H5Lcreate_soft("/plain", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_hard(file, "x", file, "hard", H5P_DEFAULT, H5P_DEFAULT);
    });
    Status status;
    auto source = open("file.nc", status);
    ASSERT_TRUE(source) << status.text;
    expect_values(*source, "x", 0);
    expect_values(*source, "plain", 100);
    expect_values(*source, "chunked", 200);
    expect_values(*source, "itself", 0);
    expect_values(*source, "soft", 100);
    expect_values(*source, "hard", 0);
    Definitions writable;
    status = find_writable(source->contents(), writable);
    EXPECT_EQ(status.code, TW_EUNSUPPORTED);
    EXPECT_NE(status.text.find("variable '"), std::string::npos) << status.text;
    std::string done;
    status = recover(path("file.nc"), false, done);
    EXPECT_TRUE(status.ok()) << status.text;

    make("scale.nc", [](hid_t file) {
        link(file, "x", "other.nc", "/x");
        add(file, "v", 7, false);
    });
    source = open("scale.nc", status);
    ASSERT_TRUE(source) << status.text;
    expect_values(*source, "x", 500);
    expect_values(*source, "v", 7);
}

TEST_F(Netcdf4Objects, NamesLinksThatLeadNowhere) {
    make("file.nc", [](hid_t file) {
        add(file, "x", 0, true);
        link(file, "away", "no_such_file.nc", "/x");
    });
    expect_refused("file.nc", {"'away'", "no_such_file.nc"});
    make("file.nc", [](hid_t file) {
        add(file, "x", 0, true);
        H5Lcreate_soft("/nothing", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    });
    expect_refused("file.nc", {"'soft'"});
    make("file.nc", [](hid_t file) { link(file, "round", "file.nc", "/round"); });
    expect_refused("file.nc", {"'round'"});
}

TEST_F(Netcdf4Objects, ReadsTheRestWhereAnAttributeCannotBeRead) {
    make("file.nc", [](hid_t file) {
        add(file, "x", 0, true);
        add(file, "v", 7, false);
        add(file, "w", 9, false);
        const hid_t set = H5Dopen2(file, "v", H5P_DEFAULT);
        const hsize_t shape[] = {7, 4};
        const hid_t space = H5Screate_simple(2, shape, nullptr);
        const hid_t attribute =
            H5Acreate2(set, "table", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
        const std::vector<int> values(28);
        H5Awrite(attribute, H5T_NATIVE_INT, values.data());
        H5Aclose(attribute);
        H5Sclose(space);
        H5Dclose(set);
    });
    Status status;
    const auto source = open("file.nc", status);
    ASSERT_TRUE(source) << status.text;
    expect_values(*source, "x", 0);
    expect_values(*source, "w", 9);
    const int at = source->definitions().find_variable("v");
    ASSERT_GE(at, 0);
    EXPECT_EQ(source->check(at, 0).code, TW_EUNSUPPORTED);
}

TEST_F(Netcdf4Objects, RecoversAFileBehindAUserBlock) {
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, 1024);
    const hid_t file = H5Fcreate(path("file.nc").c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
    add(file, "x", 3, true);
    H5Fclose(file);
    H5Pclose(creation);
    const auto size = std::filesystem::file_size(path("file.nc"));
    std::ofstream(path("file.nc"), std::ios::app) << "more";
    std::string done;
    Status status = recover(path("file.nc"), false, done);
    EXPECT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(std::filesystem::file_size(path("file.nc")), size) << done;
    // Bytes before the superblock shift all addresses of an HDF5 file.
    std::ifstream in(path("file.nc"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    std::ofstream(path("moved.nc"), std::ios::binary)
        << std::string(1024, '#') << whole.substr(1024);
    std::ofstream(path("longer.nc"), std::ios::binary)
        << std::string(4096, '#') << whole.substr(1024);
    for (const char* name : {"moved.nc", "longer.nc"}) {
        const auto bytes = std::filesystem::file_size(path(name));
        status = recover(path(name), false, done);
        EXPECT_TRUE(status.ok()) << status.text;
        EXPECT_EQ(std::filesystem::file_size(path(name)), bytes) << done;
        const auto source = open(name, status);
        ASSERT_TRUE(source) << status.text;
        expect_values(*source, "x", 3);
    }
    std::ofstream(path("cut.nc"), std::ios::binary) << whole.substr(0, whole.size() - 1);
    status = recover(path("cut.nc"), false, done);
    EXPECT_EQ(status.code, TW_EFORMAT);
}

}  // namespace
}  // namespace netcdf4_objects
