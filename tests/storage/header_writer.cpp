// Compares the library's header with PnetCDF's for the same definitions, byte for byte, and with
// netCDF-C's reading of it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netcdf.h>
#if THALWEG_TEST_PNETCDF
#include <pnetcdf.h>
#endif
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "storage/classic/header_writer.hpp"
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

Definitions random_definitions(Random& random, Format format) {
    const bool new_types = format == Format::cdf5;
    Definitions d;
    const std::int64_t dims = random.between(0, 5), record = random.below(dims + 1);
    for (std::int64_t i = 0; i < dims; ++i)
        d.dims.push_back(
            {random.pick(std::vector<std::string>{"x", "lon_", "caf\xc3\xa9", "t-1+2"}) +
                 std::to_string(i),
             i == record ? 0 : random.between(1, 300)});
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

class HeaderWriter : public testing::TestWithParam<Format> {
protected:
    void TearDown() override { unlink(path_.c_str()); }
    const std::string path_ = "written_" + std::to_string(getpid()) + ".nc";
};

#if THALWEG_TEST_PNETCDF
void put(int id, int variable, const std::vector<Attribute>& attributes) {
    for (const Attribute& a : attributes) {
        const int code =
            a.type == TW_CHAR
                ? ncmpi_put_att_text(id, variable, a.name.c_str(), a.n, a.values.data())
                : ncmpi_put_att(id, variable, a.name.c_str(), a.type, a.n, a.values.data());
        ASSERT_EQ(code, NC_NOERR) << a.name;
    }
}

/// Makes the file by PnetCDF, and returns the offsets of its data.
void make_with_pnetcdf(const std::string& path, const Definitions& d, Format format,
                       const HeaderPadding& s, FileMap& map) {
    const int mode = format == Format::cdf1   ? 0
                     : format == Format::cdf2 ? NC_64BIT_OFFSET
                                              : NC_64BIT_DATA;
    int id = 0;
    ASSERT_EQ(ncmpi_create(MPI_COMM_SELF, path.c_str(), NC_CLOBBER | mode, MPI_INFO_NULL, &id),
              NC_NOERR);
    for (const Dimension& dim : d.dims) {
        int at = 0;
        ASSERT_EQ(ncmpi_def_dim(id, dim.name.c_str(), dim.length, &at), NC_NOERR);
    }
    put(id, NC_GLOBAL, d.attributes);
    for (const Variable& v : d.variables) {
        int at = 0;
        ASSERT_EQ(ncmpi_def_var(id, v.name.c_str(), v.type, static_cast<int>(v.dims.size()),
                                v.dims.data(), &at),
                  NC_NOERR);
        put(id, at, v.attributes);
    }
    ASSERT_EQ(ncmpi__enddef(id, s.header_pad, s.var_align, s.var_pad, s.record_align), NC_NOERR);
    MPI_Offset value = 0;
    ASSERT_EQ(ncmpi_inq_recsize(id, &value), NC_NOERR);
    map.record_bytes = value;
    for (int i = 0; i < static_cast<int>(d.variables.size()); ++i) {
        ASSERT_EQ(ncmpi_inq_varoffset(id, i, &value), NC_NOERR);
        map.offset.push_back(value);
    }
    ASSERT_EQ(ncmpi_close(id), NC_NOERR);
}

void expect_as_pnetcdf(const std::string& path, const Definitions& d, Format format,
                       const HeaderPadding& spacing) {
    FileMap theirs, ours;
    ASSERT_NO_FATAL_FAILURE(make_with_pnetcdf(path, d, format, spacing, theirs));
    std::vector<char> bytes;
    const Status status = compose_header(path, d, format, spacing, ours, bytes);
    ASSERT_TRUE(status.ok()) << status.text;
    const std::string file = content_of(path);
    ASSERT_LE(bytes.size(), file.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], file[i]) << "byte " << i;
    EXPECT_EQ(ours.offset, theirs.offset);
    EXPECT_EQ(ours.record_bytes, theirs.record_bytes);
}

TEST_P(HeaderWriter, WritesWhatPnetcdfWrites) {
    Random random(11);
    for (int i = 0; i < 200 && !HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const auto pick = [&](std::vector<std::int64_t> values) { return random.pick(values); };
        expect_as_pnetcdf(path_, random_definitions(random, GetParam()), GetParam(),
                          {pick({0, 1, 100, 4096}), pick({4, 4, 100, 512, 1023}),
                           pick({0, 0, 7, 5000}), pick({4, 4, 10, 1024})});
    }
}

/// Tests sizes beyond 32 bits.
TEST_P(HeaderWriter, WritesLargeVariablesAsPnetcdf) {
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
    expect_as_pnetcdf(path_, d, GetParam(), {4096});
    d.variables[1].record = false;  // now the last fixed-size variable
    d.variables[1].dims = {1, 2};
    expect_as_pnetcdf(path_, d, GetParam(), {4096});
}
#endif

/// netCDF-C, which does not share this code, must be able to read the header.
TEST_P(HeaderWriter, IsReadByNetcdf) {
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

INSTANTIATE_TEST_SUITE_P(Formats, HeaderWriter,
                         testing::Values(Format::cdf1, Format::cdf2, Format::cdf5),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

/// Offsets between 2 and 4 GiB would fit into 32 bits without a sign, but must be refused, too.
TEST(HeaderWriterOffsets, BeyondTwoGibAreRefusedInCdf1) {
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
