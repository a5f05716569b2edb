// Compares headers with those that netCDF-C and PnetCDF make of the same random definitions: the
// library's writer byte for byte, its reader by the places of the data; and netCDF-4 headers that
// are used again with new ones.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#if THALWEG_TEST_PNETCDF
#include <pnetcdf.h>
#endif
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>

#include "storage/classic/header_reader.hpp"
#include "storage/classic/header_writer.hpp"
#include "storage/netcdf4/header.hpp"
#include "support/content.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

Attribute random_attribute(Random& random, std::size_t i, bool new_types) {
    Attribute a;
    a.name = std::string(static_cast<std::size_t>(random.between(1, 9)), 'a') + std::to_string(i);
    a.type = static_cast<tw_type>(random.between(TW_BYTE, new_types ? TW_UINT64 : TW_DOUBLE));
    a.n = random.between(0, 7);
    a.values.resize(static_cast<std::size_t>(a.n) * size_of(a.type));
    for (char& byte : a.values) byte = static_cast<char>(random.between('0', 'z'));
    return a;
}

void add_attributes(Random& random, bool new_types, NamedList<Attribute>& attributes) {
    for (std::int64_t n = random.between(0, 3); n > 0; --n)
        attributes.push_back(random_attribute(random, attributes.size(), new_types));
}

/// @param longest  length of the longest dimensions
Definitions random_definitions(Random& random, Format format, std::int64_t longest = 7) {
    const bool new_types = format == Format::cdf5;
    Definitions d;
    const std::int64_t dims = random.between(0, 5), record = random.below(dims + 1);
    for (std::int64_t i = 0; i < dims; ++i)
        d.dims.push_back(
            {random.pick(std::vector<std::string>{"x", "lon_", "caf\xc3\xa9", "t-1+2"}) +
                 std::to_string(i),
             i == record ? 0 : random.between(1, longest)});
    add_attributes(random, new_types, d.attributes);
    for (std::int64_t n = random.between(0, 6); n > 0; --n) {
        Variable v;
        v.name = "v" + std::string(static_cast<std::size_t>(random.below(5)), '_') +
                 std::to_string(d.variables.size());
        v.type = static_cast<tw_type>(random.between(TW_BYTE, new_types ? TW_UINT64 : TW_DOUBLE));
        v.record = record < dims && random.percent(50);
        if (v.record) v.dims.push_back(static_cast<int>(record));
        for (std::int64_t k = random.between(0, 3); k > 0 && dims > 0; --k) {
            const std::int64_t dim = random.below(dims);
            if (dim == record) continue;
            v.dims.push_back(static_cast<int>(dim));
            v.shape.push_back(d.dims[static_cast<std::size_t>(dim)].length);
        }
        add_attributes(random, new_types, v.attributes);
        d.variables.push_back(std::move(v));
    }
    return d;
}

/// Returns the number of records in a file to which some were written. A record dimension that no
/// variable uses has none.
std::int64_t records_of(const Definitions& d, std::int64_t written) {
    const bool any = std::any_of(d.variables.begin(), d.variables.end(),
                                 [](const Variable& v) { return v.record; });
    return any ? written : 0;
}

/// Returns the index of the last element in a variable's last record.
template <class N>
std::vector<N> corner(const Variable& v, std::int64_t records) {
    std::vector<N> at;
    if (v.record) at.push_back(static_cast<N>(records - 1));
    for (const std::int64_t length : v.shape) at.push_back(static_cast<N>(length - 1));
    at.push_back(0);  // never empty
    return at;
}

int mode_of(Format format) {
    return NC_CLOBBER | (format == Format::cdf1   ? 0
                         : format == Format::cdf2 ? NC_64BIT_OFFSET
                                                  : NC_64BIT_DATA);
}

void make_with_netcdf(const std::string& path, const Definitions& d, Format format,
                      std::int64_t records) {
    int id = 0;
    ASSERT_EQ(nc_create(path.c_str(), mode_of(format), &id), NC_NOERR);
    const auto put = [&](int variable, const std::vector<Attribute>& attributes) {
        for (const Attribute& a : attributes)
            EXPECT_EQ(nc_put_att(id, variable, a.name.c_str(), a.type,
                                 static_cast<std::size_t>(a.n), a.values.data()),
                      NC_NOERR);
    };
    int made = 0;
    for (const Dimension& dim : d.dims)
        ASSERT_EQ(nc_def_dim(id, dim.name.c_str(), static_cast<std::size_t>(dim.length), &made),
                  NC_NOERR);
    put(NC_GLOBAL, d.attributes);
    for (const Variable& v : d.variables) {
        ASSERT_EQ(nc_def_var(id, v.name.c_str(), v.type, static_cast<int>(v.dims.size()),
                             v.dims.data(), &made),
                  NC_NOERR);
        put(made, v.attributes);
    }
    ASSERT_EQ(nc__enddef(id, d.attributes.size(), 4, 0, 4), NC_NOERR);
    // Write fill values to extend the file.
    for (int i = 0; i < static_cast<int>(d.variables.size()) && records > 0; ++i) {
        const Variable& v = d.variables[static_cast<std::size_t>(i)];
        if (!v.record) continue;
        const auto at = corner<std::size_t>(v, records);
        const char letter = 'x';
        const signed char number = 1;
        ASSERT_EQ(v.type == TW_CHAR ? nc_put_var1_text(id, i, at.data(), &letter)
                                    : nc_put_var1_schar(id, i, at.data(), &number),
                  NC_NOERR);
    }
    ASSERT_EQ(nc_close(id), NC_NOERR);
}

Status read(const std::string& path, ClassicHeader& header) {
    const int fd = open(path.c_str(), O_RDONLY);
    EXPECT_GE(fd, 0);
    std::vector<char> bytes;
    Status status = read_classic_header(fd, path, bytes, header);
    close(fd);
    return status;
}

std::int64_t size_of_file(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return info.st_size;
}

class Headers : public testing::TestWithParam<Format> {
protected:
    void TearDown() override { unlink(path_.c_str()); }
    const std::string path_ = "header_" + std::to_string(getpid()) + ".nc";
};

#if THALWEG_TEST_PNETCDF
/// @param records  number of records, of which the last elements are written; -1: no data at all
void make_with_pnetcdf(const std::string& path, const Definitions& d, Format format,
                       const HeaderPadding& s, std::int64_t records) {
    int id = 0;
    ASSERT_EQ(ncmpi_create(MPI_COMM_SELF, path.c_str(), mode_of(format), MPI_INFO_NULL, &id),
              NC_NOERR);
    const auto put = [&](int variable, const std::vector<Attribute>& attributes) {
        for (const Attribute& a : attributes)
            EXPECT_EQ(
                a.type == TW_CHAR
                    ? ncmpi_put_att_text(id, variable, a.name.c_str(), a.n, a.values.data())
                    : ncmpi_put_att(id, variable, a.name.c_str(), a.type, a.n, a.values.data()),
                NC_NOERR)
                << a.name;
    };
    int made = 0;
    for (const Dimension& dim : d.dims)
        ASSERT_EQ(ncmpi_def_dim(id, dim.name.c_str(), dim.length, &made), NC_NOERR);
    put(NC_GLOBAL, d.attributes);
    for (const Variable& v : d.variables) {
        ASSERT_EQ(ncmpi_def_var(id, v.name.c_str(), v.type, static_cast<int>(v.dims.size()),
                                v.dims.data(), &made),
                  NC_NOERR);
        put(made, v.attributes);
    }
    ASSERT_EQ(ncmpi__enddef(id, s.header_pad, s.var_align, s.var_pad, s.record_align), NC_NOERR);
    for (int i = 0; i < static_cast<int>(d.variables.size()) && records >= 0; ++i) {
        const Variable& v = d.variables[static_cast<std::size_t>(i)];
        if (v.record && records == 0) continue;
        const auto at = corner<MPI_Offset>(v, records);
        const char letter = 'x';
        const signed char number = 1;
        ASSERT_EQ(v.type == TW_CHAR ? ncmpi_put_var1_text_all(id, i, at.data(), &letter)
                                    : ncmpi_put_var1_schar_all(id, i, at.data(), &number),
                  NC_NOERR);
    }
    ASSERT_EQ(ncmpi_close(id), NC_NOERR);
}

/// Compares offsets and sizes with those that PnetCDF finds in a file.
void expect_places(const std::string& path, const FileMap& map, std::int64_t header_bytes) {
    int id = 0;
    ASSERT_EQ(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id), NC_NOERR);
    MPI_Offset value = 0;
    ASSERT_EQ(ncmpi_inq_header_size(id, &value), NC_NOERR);
    EXPECT_EQ(header_bytes, value);
    ASSERT_EQ(ncmpi_inq_recsize(id, &value), NC_NOERR);
    EXPECT_EQ(map.record_bytes, value);
    for (std::size_t i = 0; i < map.offset.size(); ++i) {
        ASSERT_EQ(ncmpi_inq_varoffset(id, static_cast<int>(i), &value), NC_NOERR);
        EXPECT_EQ(map.offset[i], value) << i;
    }
    ncmpi_close(id);
}

/// Writes the header that PnetCDF writes, and reads PnetCDF's own.
void expect_as_pnetcdf(const std::string& path, const Definitions& d, Format format,
                       const HeaderPadding& padding, std::int64_t records) {
    ASSERT_NO_FATAL_FAILURE(make_with_pnetcdf(path, d, format, padding, records));
    const std::int64_t n = records_of(d, std::max<std::int64_t>(records, 0));
    FileMap ours;
    std::vector<char> bytes;
    Status status = compose_header(path, d, format, padding, ours, bytes);
    ASSERT_TRUE(status.ok()) << status.text;
    const std::vector<char> count = record_count(format, n);
    std::copy(count.begin(), count.end(), bytes.begin() + 4);
    std::vector<char> theirs(bytes.size());
    std::ifstream(path, std::ios::binary).read(theirs.data(), std::ssize(theirs));
    for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], theirs[i]) << "byte " << i;
    ClassicHeader header;
    status = read(path, header);
    ASSERT_TRUE(status.ok()) << status.text;
    ASSERT_EQ(header.map.offset.size(), d.variables.size());
    EXPECT_EQ(ours.offset, header.map.offset);
    EXPECT_EQ(ours.record_bytes, header.map.record_bytes);
    expect_places(path, header.map, header.bytes);
    if (n == 0) return;
    // PnetCDF does not write the padding behind the last variable.
    const std::int64_t size = size_of_file(path);
    EXPECT_LE(size, header.map.size(header.records));
    EXPECT_GT(size + 4, header.map.size(header.records));
    EXPECT_EQ(header.records_within(size), n);
}

TEST_P(Headers, AreThoseOfPnetcdf) {
    Random random(11);
    for (int i = 0; i < 200 && !HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const auto pick = [&](std::vector<std::int64_t> values) { return random.pick(values); };
        const HeaderPadding padding{pick({0, 1, 100, 4096}), pick({4, 4, 100, 512, 1023}),
                                    pick({0, 0, 7, 5000}), pick({4, 4, 10, 1024})};
        expect_as_pnetcdf(path_, random_definitions(random, GetParam(), 300), GetParam(), padding,
                          random.below(4));
    }
}

/// Tests sizes beyond 32 bits.
TEST_P(Headers, OfLargeVariablesAreThoseOfPnetcdf) {
    const std::int64_t side = GetParam() == Format::cdf1 ? 40000 : 70000;
    Definitions d;
    d.dims = {{"t", 0}, {"x", side}, {"y", side}};
    Variable small, large;
    small.name = "small";
    small.type = large.type = TW_BYTE;
    small.dims = {1};
    small.shape = {side};
    large.name = "large";
    large.dims = {0, 1, 2};
    large.shape = {side, side};
    large.record = true;
    d.variables = {small, large};
    expect_as_pnetcdf(path_, d, GetParam(), {4096}, -1);
    d.variables[1].record = false;  // now the last fixed-size variable
    d.variables[1].dims = {1, 2};
    expect_as_pnetcdf(path_, d, GetParam(), {4096}, -1);
}
#else
void expect_places(const std::string&, const FileMap&, std::int64_t) {}
#endif

TEST_P(Headers, OfNetcdfGiveTheSizeOfTheFile) {
    Random random(1);
    for (int i = 0; i < 200 && !HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const Definitions d = random_definitions(random, GetParam());
        const std::int64_t records = records_of(d, random.below(4));
        make_with_netcdf(path_, d, GetParam(), records);
        ClassicHeader header;
        const Status status = read(path_, header);
        ASSERT_TRUE(status.ok()) << status.text;
        EXPECT_EQ(header.format, GetParam());
        EXPECT_EQ(header.has_records(), records_of(d, 1) > 0);
        EXPECT_EQ(header.records, records);
        EXPECT_EQ(header.map.offset.size(), d.variables.size());
        expect_places(path_, header.map, header.bytes);
        const std::int64_t size = size_of_file(path_);
        if (!d.variables.empty()) {
            EXPECT_EQ(header.map.size(header.records), size);
        }
        if (!header.has_records()) continue;
        EXPECT_EQ(header.records_within(size), header.records);
        for (std::int64_t n = header.records; n > 0; --n) {
            const std::int64_t end =
                header.map.record_begin + (n - 1) * header.map.record_bytes + header.record_data;
            EXPECT_EQ(header.records_within(end), n);
            EXPECT_EQ(header.records_within(end - 1), n - 1);
        }
    }
}

TEST_P(Headers, ThatEndEarlyAreRefused) {
    Random random(3);
    for (int i = 0; i < 10; ++i) {
        make_with_netcdf(path_, random_definitions(random, GetParam()), GetParam(), 2);
        ClassicHeader whole;
        ASSERT_TRUE(read(path_, whole).ok());
        for (std::int64_t size = whole.bytes; size >= 0; --size) {
            ASSERT_EQ(truncate(path_.c_str(), size), 0);
            ClassicHeader header;
            ASSERT_EQ(read(path_, header).code, size == whole.bytes ? TW_OK : TW_EFORMAT) << size;
        }
    }
}

/// If numrecs is STREAMING, the length of the file gives the number of records.
TEST_P(Headers, CountTheRecordsOfAStream) {
    Random random(5);
    for (int i = 0; i < 50; ++i) {
        const Definitions d = random_definitions(random, GetParam());
        const std::int64_t records = records_of(d, random.below(4));
        make_with_netcdf(path_, d, GetParam(), records);
        std::string content = content_of(path_);
        content.replace(4, GetParam() == Format::cdf5 ? 8 : 4, GetParam() == Format::cdf5 ? 8 : 4,
                        '\xff');
        std::ofstream(path_, std::ios::binary) << content;
        ClassicHeader header;
        const Status status = read(path_, header);
        ASSERT_TRUE(status.ok()) << status.text;
        EXPECT_EQ(header.records, records) << i;
    }
}

/// netCDF-C, which does not share this code, must be able to read the header.
TEST_P(Headers, AreReadByNetcdf) {
    Random random(12);
    for (int i = 0; i < 50 && !HasFailure(); ++i) {
        const Definitions d = random_definitions(random, GetParam());
        FileMap map;
        std::vector<char> bytes;
        ASSERT_TRUE(compose_header(path_, d, GetParam(), {10}, map, bytes).ok());
        std::ofstream(path_, std::ios::binary).write(bytes.data(), std::ssize(bytes));
        int id = 0, dims = 0, variables = 0, attributes = 0, unlimited = 0;
        ASSERT_EQ(nc_open(path_.c_str(), NC_NOWRITE, &id), NC_NOERR);
        EXPECT_EQ(nc_inq(id, &dims, &variables, &attributes, &unlimited), NC_NOERR);
        EXPECT_EQ(static_cast<std::size_t>(dims), d.dims.size());
        EXPECT_EQ(static_cast<std::size_t>(variables), d.variables.size());
        EXPECT_EQ(static_cast<std::size_t>(attributes), d.attributes.size());
        EXPECT_EQ(unlimited, d.record_dim());
        for (const Dimension& dim : d.dims) {
            int at = -1;
            EXPECT_EQ(nc_inq_dimid(id, dim.name.c_str(), &at), NC_NOERR) << dim.name;
        }
        EXPECT_EQ(nc_close(id), NC_NOERR);
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, Headers,
                         testing::Values(Format::cdf1, Format::cdf2, Format::cdf5),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(Netcdf4Headers, AreUsedAgain) {
    const std::string path = "again_" + std::to_string(getpid()) + ".nc";
    Random random(7);
    for (int i = 0; i < 100 && !testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const Format format = i % 2 == 0 ? Format::netcdf4 : Format::netcdf4_classic;
        Definitions d = random_definitions(random, i % 2 == 0 ? Format::cdf5 : Format::cdf2);
        KeptHeaders kept;
        const auto create = [&](KeptHeaders* headers) {
            std::vector<ChunkGrid> grids;
            for (const Variable& v : d.variables) grids.push_back(choose_grid(v, 64));
            std::int64_t bytes = 0;
            const Status status = create_netcdf4(path, d, grids, format, headers, bytes);
            EXPECT_TRUE(status.ok()) << status.text;
            const std::string content = content_of(path);
            EXPECT_EQ(bytes, std::ssize(content));
            return content;
        };
        const auto expect_kept = [&](std::size_t headers) {
            const std::string content = create(&kept);
            EXPECT_EQ(kept.size(), headers);
            EXPECT_TRUE(content == create(nullptr));
        };
        expect_kept(1);
        for (Attribute& a : d.attributes)
            for (char& byte : a.values) byte = static_cast<char>(random.between('0', 'z'));
        expect_kept(1);
        if (d.variables.empty()) continue;
        Variable& v = d.variables[0];
        const auto changes = std::to_array<std::function<void()>>(
            {[&] { v.name += "_"; }, [&] { v.type = v.type == TW_SHORT ? TW_INT : TW_SHORT; },
             [&] {
                 v.attributes.push_back({"more", TW_CHAR, 1, {'1'}});
             },
             [&] { v.attributes.back().values = {'2'}; }, [&] { v.fill = FillValue{1}; },
             [&] {
                 d.dims.push_back({"more", 2});
             },
             [&] {
                 d.attributes.push_back({"more", TW_CHAR, 0, {}});
             }});
        std::size_t n = 1;
        for (const auto& change : changes) change(), expect_kept(++n);
    }
    unlink(path.c_str());
}

/// Tests headers that are given byte by byte: CDF-2 with a record dimension and more.
TEST(HeaderBytes, NameWhatIsWrong) {
    const std::string path = "bytes_" + std::to_string(getpid()) + ".nc";
    const auto number = [](std::uint32_t n) {
        std::string bytes;
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(n >> shift);
        return bytes;
    };
    const auto dimension = [&](std::uint32_t length) {
        return number(1) + std::string("d\0\0\0", 4) + number(length);
    };
    const auto text = [&](const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
        ClassicHeader header;
        Status status = read(path, header);
        unlink(path.c_str());
        EXPECT_EQ(status.code, status.ok() ? TW_OK : TW_EFORMAT);
        return status.text;
    };
    const std::string magic = "CDF\2", absent(8, '\0');
    const auto variable = [&](std::uint32_t dim, std::uint32_t type, std::uint32_t begin = 100) {
        return number(11) + number(1) + number(1) + std::string("v\0\0\0", 4) + number(1) +
               number(dim) + absent + number(type) + number(0) + number(0) + number(begin);
    };
    const std::string two = number(10) + number(2) + dimension(0) + dimension(3);
    EXPECT_EQ(text(magic + number(0) + two + absent + variable(1, 4)), "");
    EXPECT_NE(text(magic + number(0) + two + absent + variable(1, 4, 8)).find("overlap the header"),
              std::string::npos);
    EXPECT_NE(text("HDF\2").find("does not begin with CDF"), std::string::npos);
    EXPECT_NE(text("CDF\3").find("unknown format version"), std::string::npos);
    EXPECT_NE(text("").find("truncated inside its header"), std::string::npos);
    EXPECT_NE(text(magic + number(0xfffffffe)).find("negative"), std::string::npos);
    EXPECT_NE(text(magic + number(0) + number(12) + number(0)).find("tag"), std::string::npos);
    EXPECT_NE(text(magic + number(0) + number(10) + number(0x7fffffff)).find("truncated inside"),
              std::string::npos);
    EXPECT_NE(text(magic + number(0) + number(10) + number(2) + dimension(0) + dimension(0))
                  .find("two record dimensions"),
              std::string::npos);
    EXPECT_NE(text(magic + number(0) + two + absent + variable(2, 4)).find("unknown dimension"),
              std::string::npos);
    EXPECT_NE(text(magic + number(0) + two + absent + variable(1, 0x80000004)).find("unknown type"),
              std::string::npos);
}

/// Offsets between 2 and 4 GiB would fit into 32 bits without a sign, but must be refused, too.
TEST(HeaderOffsets, BeyondTwoGibAreRefusedInCdf1) {
    Definitions d;
    d.dims = {{"x", 1'500'000'000}};
    for (const char* name : {"a", "b", "c"}) {
        Variable& v = d.variables.emplace_back();
        v.name = name;
        v.type = TW_BYTE;
        v.dims = {0};
        v.shape = {1'500'000'000};
    }
    FileMap map;
    std::vector<char> bytes;
    const Status status = compose_header("f.nc", d, Format::cdf1, {0}, map, bytes);
    EXPECT_EQ(status.code, TW_EFORMAT);
    EXPECT_NE(status.text.find("variable 'c' begins beyond the 2 GiB"), std::string::npos);
    EXPECT_TRUE(compose_header("f.nc", d, Format::cdf2, {0}, map, bytes).ok());
    d.variables.remove_if([](const Variable& v) { return v.name == "c"; });
    EXPECT_TRUE(compose_header("f.nc", d, Format::cdf1, {0}, map, bytes).ok());
}

}  // namespace
