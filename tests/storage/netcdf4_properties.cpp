// Tests data sets with each of HDF5's creation properties that changes the meaning or place of the
// raw bytes: either all values are those that HDF5 itself reads, or the error names the variable.
// docs/reading.md lists them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "source_values.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/source.hpp"

using namespace thalweg::detail;

namespace netcdf4_properties {
namespace {

using Shape = std::vector<hsize_t>;

/// A data set "v", with properties of its own and of the file.
struct Case {
    std::string name;
    Shape shape;
    Shape chunk{};                 ///< chunk lengths; empty: not chunked
    hid_t type = H5I_INVALID_HID;  ///< type in the file; default: int
    std::function<void(hid_t)> creation{};
    bool grows = false;   ///< unlimited along the first dimension
    bool latest = false;  ///< file format of HDF5 1.10
    hsize_t user_block = 0;
    std::function<void(hid_t)> write{};  ///< function that writes the elements; default: all, by
                                         ///< H5Dwrite

    std::size_t elements() const {
        std::size_t n = 1;
        for (const hsize_t length : shape) n *= length;
        return n;
    }
};

/// Values small enough for all types, and with more than one nonzero byte.
std::vector<int> values_of(std::size_t n) {
    std::vector<int> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<int>((i * 37 + 11) % 25000);
    return values;
}

class Netcdf4Properties : public testing::Test {
protected:
    Netcdf4Properties() { std::filesystem::create_directory(folder_); }
    ~Netcdf4Properties() override { std::filesystem::remove_all(folder_); }

    void make(const Case& c) {
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS), file_creation = H5Pcreate(H5P_FILE_CREATE);
        if (c.latest) H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
        if (c.user_block > 0) H5Pset_userblock(file_creation, c.user_block);
        const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, file_creation, access);
        ASSERT_GE(file, 0);
        Shape most = c.shape;
        if (c.grows) most.front() = H5S_UNLIMITED;
        const hid_t space =
            H5Screate_simple(static_cast<int>(c.shape.size()), c.shape.data(), most.data());
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        if (!c.chunk.empty())
            H5Pset_chunk(properties, static_cast<int>(c.chunk.size()), c.chunk.data());
        if (c.creation) c.creation(properties);
        const hid_t set = H5Dcreate2(file, "v", c.type < 0 ? H5T_STD_I32LE : c.type, space,
                                     H5P_DEFAULT, properties, H5P_DEFAULT);
        ASSERT_GE(set, 0) << c.name;
        if (c.write)
            c.write(set);
        else
            ASSERT_GE(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                               values_of(c.elements()).data()),
                      0)
                << c.name;
        H5Dclose(set);
        H5Pclose(properties);
        H5Sclose(space);
        H5Fclose(file);
        H5Pclose(file_creation);
        H5Pclose(access);
    }

    /// Returns the values as doubles, read by HDF5 itself.
    std::vector<double> read_by_hdf5(const Case& c) {
        std::vector<double> values(c.elements());
        const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
        const hid_t set = H5Dopen2(file, "v", H5P_DEFAULT);
        EXPECT_GE(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(set);
        H5Fclose(file);
        return values;
    }

    std::unique_ptr<Source> open() {
        Status status;
        auto source = open_source(*make_serial_comm(), path_, true, status);
        EXPECT_TRUE(status.ok()) << status.text;
        return source;
    }

    static double value_of(tw_type type, Order order, std::string bytes) {
        if (order == Order::big_endian) std::reverse(bytes.begin(), bytes.end());
        const auto as = [&](auto value) {
            std::memcpy(&value, bytes.data(), sizeof value);
            return static_cast<double>(value);
        };
        switch (type) {
            case TW_BYTE: return as(std::int8_t{});
            case TW_UBYTE: return as(std::uint8_t{});
            case TW_SHORT: return as(std::int16_t{});
            case TW_USHORT: return as(std::uint16_t{});
            case TW_INT: return as(std::int32_t{});
            case TW_UINT: return as(std::uint32_t{});
            case TW_INT64: return as(std::int64_t{});
            case TW_UINT64: return as(std::uint64_t{});
            case TW_FLOAT: return as(float{});
            case TW_DOUBLE: return as(double{});
            case TW_CHAR: break;
        }
        ADD_FAILURE() << "type " << type;
        return 0;
    }

    /// Compares all values in the file.
    void expect_same(const Case& c) {
        SCOPED_TRACE(c.name);
        const std::vector<double> expected = read_by_hdf5(c);
        const auto source = open();
        ASSERT_TRUE(source);
        const Variable& v = source->definitions().variables[0];
        const std::int64_t records = v.record ? source->records() : 1;
        std::vector<double> values;
        for (const std::int64_t piece : {1000000, 5}) {
            values.clear();
            for (std::int64_t r = 0; r < records; ++r) {
                std::vector<char> bytes;
                const Status status = read_values(*source, "v", r, piece, bytes);
                ASSERT_TRUE(status.ok()) << status.text;
                const auto element = static_cast<std::size_t>(v.element());
                for (std::size_t at = 0; at < bytes.size(); at += element)
                    values.push_back(
                        value_of(v.type, source->order(0), std::string(&bytes[at], element)));
            }
            EXPECT_EQ(values, expected);
        }
    }

    void check(const Case& c) {
        make(c);
        expect_same(c);
    }

    const std::string folder_ = "netcdf4_properties_" + std::to_string(getpid());
    const std::string path_ = folder_ + "/file.nc";
};

void leave_edges_unfiltered(hid_t p) {
    ASSERT_GE(H5Pset_chunk_opts(p, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS), 0);
}

const Shape seven{3, 2, 3, 2, 3, 2, 5}, seven_chunk{2, 2, 2, 1, 2, 2, 3};

TEST_F(Netcdf4Properties, ChunksAtEdgesMayLackFilters) {
    const std::vector<std::pair<std::string, std::function<void(hid_t)>>> filters{
        {"shuffle", [](hid_t p) { H5Pset_shuffle(p); }},
        {"deflate", [](hid_t p) { H5Pset_deflate(p, 4); }},
        {"fletcher32", [](hid_t p) { H5Pset_fletcher32(p); }},
        {"all",
         [](hid_t p) {
             H5Pset_shuffle(p);
             H5Pset_deflate(p, 1);
             H5Pset_fletcher32(p);
         }},
        {"scale-offset", [](hid_t p) { H5Pset_scaleoffset(p, H5Z_SO_INT, 0); }},
    };
    const std::vector<std::pair<Shape, Shape>> shapes{
        {{10}, {4}}, {{8}, {4}}, {{10, 7}, {4, 5}}, {{5, 9, 4}, {2, 9, 3}}, {seven, seven_chunk}};
    for (const auto& [filter, set] : filters)
        for (const auto& [shape, chunk] : shapes)
            for (const bool grows : {false, true})
                for (const bool latest : {false, true}) {
                    Case c{filter + " " + std::to_string(shape.size()), shape, chunk};
                    c.creation = [set = set](hid_t p) {
                        leave_edges_unfiltered(p);
                        set(p);
                    };
                    c.grows = grows;
                    c.latest = latest;
                    check(c);
                }
}

// HDF5 filters a chunk at the edge only after the data set has grown beyond it.
TEST_F(Netcdf4Properties, ChunksAtEdgesGetFiltersWhenTheyAreFull) {
    for (const hsize_t length : {11, 12, 13, 17, 3}) {
        Case c{"grown to " + std::to_string(length), {10, 7}, {4, 5}};
        c.grows = true;
        c.latest = true;
        c.creation = [](hid_t p) {
            leave_edges_unfiltered(p);
            H5Pset_shuffle(p);
            H5Pset_deflate(p, 2);
        };
        make(c);
        const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        const hid_t set = H5Dopen2(file, "v", H5P_DEFAULT);
        const hsize_t grown[] = {length, 7};
        ASSERT_GE(H5Dset_extent(set, grown), 0);
        H5Dclose(set);
        H5Fclose(file);
        c.shape.front() = length;
        expect_same(c);
    }
}

TEST_F(Netcdf4Properties, ChunksAtEdgesMayLackZstd) {
    Case c{"zstd", {10, 7}, {4, 5}};
    c.latest = true;
    c.creation = [](hid_t p) {
        leave_edges_unfiltered(p);
        const unsigned level = 3;
        H5Pset_filter(p, zstd_filter, H5Z_FLAG_OPTIONAL, 1, &level);
    };
    const std::vector<int> values = values_of(70);
    // HDF5 may lack the filter, so write the chunks as raw bytes.
    c.write = [&](hid_t set) {
        Compressor compressor;
        for (hsize_t y = 0; y < 10; y += 4)
            for (hsize_t x = 0; x < 7; x += 5) {
                std::vector<int> chunk(20, -1);
                for (hsize_t i = 0; i < 20; ++i)
                    if (y + i / 5 < 10 && x + i % 5 < 7)
                        chunk[i] = values[(y + i / 5) * 7 + x + i % 5];
                FilteredChunk bytes{reinterpret_cast<const char*>(chunk.data()), 80};
                if (y < 8 && x == 0)
                    bytes = compressor.apply({{zstd_filter, 1, 3}}, bytes.data, bytes.bytes);
                const hsize_t corner[] = {y, x};
                ASSERT_GE(H5Dwrite_chunk(set, H5P_DEFAULT, 0, corner,
                                         static_cast<std::size_t>(bytes.bytes), bytes.data),
                          0);
            }
    };
    make(c);
    const auto source = open();
    ASSERT_TRUE(source);
    std::vector<char> all;
    const Status status = read_values(*source, "v", 0, 9, all);
    ASSERT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(std::memcmp(all.data(), values.data(), all.size()), 0);
}

TEST_F(Netcdf4Properties, ChunksMayHaveMasksOfTheirFilters) {
    for (const bool latest : {false, true})
        for (const unsigned mask : {0U, 1U, 2U, 3U}) {
            Case c{"mask " + std::to_string(mask), {8, 4}, {4, 4}};
            c.latest = latest;
            c.creation = [](hid_t p) {
                H5Pset_shuffle(p);
                H5Pset_deflate(p, 5);
            };
            const std::vector<int> values = values_of(32);
            c.write = [&](hid_t set) {
                Compressor compressor;
                for (hsize_t y = 0; y < 8; y += 4) {
                    std::vector<StoredFilter> filters;
                    if ((mask & 1U) == 0) filters.push_back({H5Z_FILTER_SHUFFLE, 4, 0});
                    if ((mask & 2U) == 0) filters.push_back({H5Z_FILTER_DEFLATE, 1, 5});
                    const FilteredChunk bytes = compressor.apply(
                        filters, reinterpret_cast<const char*>(values.data() + y * 4), 64);
                    const hsize_t corner[] = {y, 0};
                    ASSERT_GE(H5Dwrite_chunk(set, H5P_DEFAULT, mask, corner,
                                             static_cast<std::size_t>(bytes.bytes), bytes.data),
                              0);
                }
            };
            check(c);
        }
}

TEST_F(Netcdf4Properties, FiltersMayBeOptionalOrUnknown) {
    Case c{"deflate that does not fit", {30, 20}, {7, 11}};
    c.creation = [](hid_t p) {
        const unsigned level = 1;
        H5Pset_filter(p, H5Z_FILTER_DEFLATE, H5Z_FLAG_OPTIONAL, 1, &level);
    };
    check(c);
    c.name = "scale-offset";
    c.creation = [](hid_t p) { H5Pset_scaleoffset(p, H5Z_SO_INT, 0); };
    check(c);
    c.name = "n-bit";
    c.type = H5Tcopy(H5T_STD_I32LE);
    H5Tset_precision(c.type, 17);
    c.creation = [](hid_t p) { H5Pset_nbit(p); };
    check(c);
    H5Tclose(c.type);
    c.type = H5I_INVALID_HID;
    c.name = "two that compress";
    c.creation = [](hid_t p) {
        H5Pset_deflate(p, 1);
        H5Pset_shuffle(p);
        H5Pset_deflate(p, 9);
    };
    check(c);
}

TEST_F(Netcdf4Properties, ChunksMayBeFoundByAnyIndex) {
    const auto deflate = [](hid_t p) { H5Pset_deflate(p, 1); };
    const auto early = [](hid_t p) { H5Pset_alloc_time(p, H5D_ALLOC_TIME_EARLY); };
    std::vector<Case> cases{
        {"version 1 B-tree", {9, 7}, {2, 3}},
        {"single chunk", {9, 7}, {9, 7}},
        {"implicit", {9, 7}, {2, 3}, H5I_INVALID_HID, early},
        {"fixed array", {9, 7}, {2, 3}},
        {"fixed array, paged", {90, 70}, {1, 2}, H5I_INVALID_HID, deflate},
        {"extensible array", {9, 7}, {2, 3}},
        {"extensible array, many", {900, 7}, {1, 3}, H5I_INVALID_HID, deflate},
        {"single chunk, filtered", {9, 7}, {9, 7}, H5I_INVALID_HID, deflate},
    };
    for (Case& c : cases) {
        c.latest = c.name != "version 1 B-tree";
        c.grows = c.name.starts_with("extensible");
        check(c);
    }
    // Two unlimited dimensions make HDF5 use a version 2 B-tree.
    for (const bool filtered : {false, true}) {
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
        const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
        const hsize_t shape[] = {9, 7}, most[] = {H5S_UNLIMITED, H5S_UNLIMITED}, chunk[] = {2, 3};
        const hid_t space = H5Screate_simple(2, shape, most);
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(properties, 2, chunk);
        if (filtered) deflate(properties);
        const hid_t set =
            H5Dcreate2(file, "v", H5T_STD_I32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
        ASSERT_GE(
            H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values_of(63).data()), 0);
        H5Dclose(set);
        H5Pclose(properties);
        H5Sclose(space);
        H5Fclose(file);
        H5Pclose(access);
        expect_same({"version 2 B-tree", {9, 7}});
    }
}

TEST_F(Netcdf4Properties, TypesMayDifferFromThoseOfNetcdf) {
    const auto with = [](hid_t base, const std::function<void(hid_t)>& change) {
        const hid_t type = H5Tcopy(base);
        change(type);
        return type;
    };
    const std::vector<std::pair<std::string, hid_t>> types{
        {"big-endian int16", H5Tcopy(H5T_STD_I16BE)},
        {"big-endian int32", H5Tcopy(H5T_STD_I32BE)},
        {"big-endian uint64", H5Tcopy(H5T_STD_U64BE)},
        {"big-endian float", H5Tcopy(H5T_IEEE_F32BE)},
        {"big-endian double", H5Tcopy(H5T_IEEE_F64BE)},
        {"int of 3 bytes", with(H5T_STD_I32LE, [](hid_t t) { H5Tset_size(t, 3); })},
        {"big-endian int of 3 bytes", with(H5T_STD_I32BE, [](hid_t t) { H5Tset_size(t, 3); })},
        {"precision of 20 bits", with(H5T_STD_I32LE, [](hid_t t) { H5Tset_precision(t, 20); })},
        {"offset of 5 bits", with(H5T_STD_I32LE,
                                  [](hid_t t) {
                                      H5Tset_precision(t, 20);
                                      H5Tset_offset(t, 5);
                                  })},
        {"padding of ones", with(H5T_STD_U32LE,
                                 [](hid_t t) {
                                     H5Tset_precision(t, 20);
                                     H5Tset_pad(t, H5T_PAD_ONE, H5T_PAD_ONE);
                                 })},
        {"VAX double", H5Tcopy(H5T_IEEE_F64LE)},
        {"exponent of another bias", with(H5T_IEEE_F32LE, [](hid_t t) { H5Tset_ebias(t, 130); })},
        {"sign first", with(H5T_IEEE_F32LE, [](hid_t t) { H5Tset_inpad(t, H5T_PAD_ZERO); })},
    };
    for (const auto& [name, type] : types) {
        if (name == "VAX double") H5Tset_order(type, H5T_ORDER_VAX);
        for (const Shape& chunk : {Shape{}, Shape{4, 5}}) {
            Case c{name, {10, 7}, chunk, type};
            check(c);
            if (chunk.empty()) continue;
            c.creation = [](hid_t p) {
                H5Pset_shuffle(p);
                H5Pset_deflate(p, 1);
            };
            check(c);
        }
        H5Tclose(type);
    }
}

TEST_F(Netcdf4Properties, ElementsMayBeMissing) {
    const int fill = 77;
    for (const H5D_fill_time_t time : {H5D_FILL_TIME_ALLOC, H5D_FILL_TIME_IFSET})
        for (const H5D_alloc_time_t alloc :
             {H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE, H5D_ALLOC_TIME_INCR})
            for (const Shape& chunk : {Shape{}, Shape{4, 5}}) {
                if (chunk.empty() && alloc == H5D_ALLOC_TIME_INCR) continue;
                for (const hid_t type : {H5T_STD_I32LE, H5T_STD_I32BE}) {
                    Case c{"fill", {10, 7}, chunk, type};
                    c.creation = [&](hid_t p) {
                        H5Pset_fill_value(p, H5T_NATIVE_INT, &fill);
                        H5Pset_fill_time(p, time);
                        H5Pset_alloc_time(p, alloc);
                    };
                    c.write = [](hid_t) {};
                    check(c);
                    const std::vector<double> all = read_by_hdf5(c);
                    EXPECT_EQ(all, std::vector<double>(70, 77));
                }
            }
}

TEST_F(Netcdf4Properties, DataMayBeCompactOrInOtherFiles) {
    Case c{"compact", {5, 3}};
    c.creation = [](hid_t p) { H5Pset_layout(p, H5D_COMPACT); };
    check(c);
    c.name = "external";
    const std::string raw = std::filesystem::absolute(folder_ + "/raw.bin").string();
    c.creation = [&](hid_t p) { H5Pset_external(p, raw.c_str(), 12, 60); };
    check(c);
    std::filesystem::copy_file(path_, folder_ + "/source.nc");
    c.name = "virtual";
    c.latest = true;
    c.creation = [&](hid_t p) {
        const hsize_t shape[] = {5, 3};
        const hid_t space = H5Screate_simple(2, shape, nullptr);
        H5Pset_virtual(p, space, (folder_ + "/source.nc").c_str(), "v", space);
        H5Sclose(space);
    };
    c.write = [](hid_t) {};
    make(c);
    const auto source = open();
    ASSERT_TRUE(source);
    const Status status = source->check(0, 0);
    EXPECT_EQ(status.code, TW_EUNSUPPORTED);
    EXPECT_NE(status.text.find("virtual"), std::string::npos) << status.text;
}

TEST_F(Netcdf4Properties, AUserBlockMayComeFirst) {
    for (const hsize_t block : {512, 1024, 2048, 1 << 20})
        for (const bool latest : {false, true}) {
            std::vector<Case> cases{{"contiguous", {9, 7}},
                                    {"big-endian", {9, 7}, {}, H5T_STD_I32BE},
                                    {"chunked", {9, 7}, {2, 3}},
                                    {"filtered",
                                     {9, 7},
                                     {2, 3},
                                     H5I_INVALID_HID,
                                     [](hid_t p) { H5Pset_deflate(p, 1); }},
                                    {"growing", {9, 7}, {2, 3}}};
            cases.back().grows = true;
            for (Case& c : cases) {
                c.user_block = block;
                c.latest = latest;
                check(c);
                Definitions d;
                const Status status = find_writable(open()->contents(), d);
                EXPECT_EQ(status.code, TW_EUNSUPPORTED);
                EXPECT_NE(status.text.find("user block"), std::string::npos) << status.text;
            }
        }
}

}  // namespace
}  // namespace netcdf4_properties
