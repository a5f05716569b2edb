// Compares the header reader with files that netCDF-C and PnetCDF made of random definitions.
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
#include <fstream>
#include <iterator>

#include "storage/classic/header_reader.hpp"
#include "support/content.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

struct Definition {
    struct Var {
        nc_type type;
        std::vector<int> dims;
        std::size_t attribute;
    };
    std::vector<std::size_t> dims;  // lengths of the dimensions; 0: the record dimension
    std::vector<Var> vars;
    std::size_t attribute;  // length of the global text attribute
    std::size_t records;
};

Definition random_definition(Random& random, Format format) {
    Definition d;
    const std::int64_t n = random.between(0, 5);
    const std::int64_t record = random.below(n + 1);  // n means that there is no record dimension
    for (std::int64_t i = 0; i < n; ++i)
        d.dims.push_back(i == record ? 0 : static_cast<std::size_t>(random.between(1, 7)));
    for (std::int64_t v = random.between(0, 6); v > 0; --v) {
        Definition::Var var;
        var.type = static_cast<nc_type>(random.between(1, format == Format::cdf5 ? 11 : 6));
        if (record < n && random.percent(50)) var.dims.push_back(static_cast<int>(record));
        for (std::int64_t k = random.between(0, 3); k > 0 && n > 0; --k) {
            const std::int64_t dim = random.below(n);
            if (dim != record) var.dims.push_back(static_cast<int>(dim));
        }
        var.attribute = static_cast<std::size_t>(random.below(10));
        d.vars.push_back(var);
    }
    d.attribute = static_cast<std::size_t>(random.below(20));
    d.records = record < n ? static_cast<std::size_t>(random.below(4)) : 0;
    return d;
}

std::string name(const char* what, std::size_t i) {
    return what + std::string(i % 5, '_') + std::to_string(i);
}

bool is_record(const Definition& d, const Definition::Var& v) {
    return !v.dims.empty() && d.dims[static_cast<std::size_t>(v.dims[0])] == 0;
}

/// Tests if the file has records. A record dimension that no variable uses does not count.
bool any_record(const Definition& d) {
    return std::any_of(d.vars.begin(), d.vars.end(),
                       [&](const Definition::Var& v) { return is_record(d, v); });
}

/// Returns the index of the last element in a variable's last record.
template <class N>
std::vector<N> corner(const Definition& d, const Definition::Var& v) {
    std::vector<N> at{};
    for (int i : v.dims) {
        const std::size_t length = d.dims[static_cast<std::size_t>(i)];
        at.push_back(static_cast<N>((length == 0 ? d.records : length) - 1));
    }
    at.push_back(0);  // never empty
    return at;
}

void make_with_netcdf(const std::string& path, const Definition& d, Format format) {
    const int mode = format == Format::cdf1   ? 0
                     : format == Format::cdf2 ? NC_64BIT_OFFSET
                                              : NC_64BIT_DATA;
    const std::string text(20, 'x');
    int id = 0;
    ASSERT_EQ(nc_create(path.c_str(), NC_CLOBBER | mode, &id), NC_NOERR);
    for (std::size_t i = 0; i < d.dims.size(); ++i) {
        int dim = 0;
        ASSERT_EQ(nc_def_dim(id, name("d", i).c_str(), d.dims[i], &dim), NC_NOERR);
    }
    ASSERT_EQ(nc_put_att_text(id, NC_GLOBAL, "title", d.attribute, text.data()), NC_NOERR);
    for (std::size_t i = 0; i < d.vars.size(); ++i) {
        const Definition::Var& v = d.vars[i];
        int var = 0;
        ASSERT_EQ(nc_def_var(id, name("v", i).c_str(), v.type, static_cast<int>(v.dims.size()),
                             v.dims.data(), &var),
                  NC_NOERR);
        if (v.attribute > 5) {
            ASSERT_EQ(nc_put_att_text(id, var, "units", v.attribute, text.data()), NC_NOERR);
        }
        const short numbers[3] = {1, 2, 3};
        ASSERT_EQ(nc_put_att_short(id, var, "n", NC_SHORT, v.attribute % 4, numbers), NC_NOERR);
    }
    ASSERT_EQ(nc__enddef(id, d.attribute, 4, 0, 4), NC_NOERR);
    // Write fill values to extend the file.
    for (std::size_t i = 0; i < d.vars.size() && d.records > 0; ++i) {
        if (!is_record(d, d.vars[i])) continue;
        const std::vector<std::size_t> at = corner<std::size_t>(d, d.vars[i]);
        const char letter = 'x';
        const signed char number = 1;
        const int code = d.vars[i].type == NC_CHAR
                             ? nc_put_var1_text(id, static_cast<int>(i), at.data(), &letter)
                             : nc_put_var1_schar(id, static_cast<int>(i), at.data(), &number);
        ASSERT_EQ(code, NC_NOERR);
    }
    ASSERT_EQ(nc_close(id), NC_NOERR);
}

#if THALWEG_TEST_PNETCDF
void make_with_pnetcdf(const std::string& path, const Definition& d, Format format) {
    const int mode = format == Format::cdf1   ? 0
                     : format == Format::cdf2 ? NC_64BIT_OFFSET
                                              : NC_64BIT_DATA;
    int id = 0;
    ASSERT_EQ(ncmpi_create(MPI_COMM_SELF, path.c_str(), NC_CLOBBER | mode, MPI_INFO_NULL, &id),
              NC_NOERR);
    for (std::size_t i = 0; i < d.dims.size(); ++i) {
        int dim = 0;
        ASSERT_EQ(ncmpi_def_dim(id, name("d", i).c_str(), static_cast<MPI_Offset>(d.dims[i]), &dim),
                  NC_NOERR);
    }
    for (std::size_t i = 0; i < d.vars.size(); ++i) {
        int var = 0;
        ASSERT_EQ(
            ncmpi_def_var(id, name("v", i).c_str(), d.vars[i].type,
                          static_cast<int>(d.vars[i].dims.size()), d.vars[i].dims.data(), &var),
            NC_NOERR);
    }
    ASSERT_EQ(ncmpi_enddef(id), NC_NOERR);  // leave the alignment to PnetCDF
    for (std::size_t i = 0; i < d.vars.size(); ++i) {
        if (is_record(d, d.vars[i]) && d.records == 0) continue;
        const std::vector<MPI_Offset> at = corner<MPI_Offset>(d, d.vars[i]);
        const char letter = 'x';
        const signed char number = 1;
        const int code =
            d.vars[i].type == NC_CHAR
                ? ncmpi_put_var1_text_all(id, static_cast<int>(i), at.data(), &letter)
                : ncmpi_put_var1_schar_all(id, static_cast<int>(i), at.data(), &number);
        ASSERT_EQ(code, NC_NOERR);
    }
    ASSERT_EQ(ncmpi_close(id), NC_NOERR);
}
#endif

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

/// Compares offsets and sizes with PnetCDF's.
#if THALWEG_TEST_PNETCDF
void expect_as_pnetcdf(const std::string& path, const Definition& d, const ClassicHeader& header) {
    int id = 0;
    ASSERT_EQ(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id), NC_NOERR);
    MPI_Offset value = 0;
    ASSERT_EQ(ncmpi_inq_header_size(id, &value), NC_NOERR);
    EXPECT_EQ(header.bytes, value);
    ASSERT_EQ(ncmpi_inq_recsize(id, &value), NC_NOERR);
    EXPECT_EQ(header.map.record_bytes, value);
    ASSERT_EQ(header.map.offset.size(), d.vars.size());
    for (std::size_t i = 0; i < d.vars.size(); ++i) {
        ASSERT_EQ(ncmpi_inq_varoffset(id, static_cast<int>(i), &value), NC_NOERR);
        EXPECT_EQ(header.map.offset[i], value) << i;
    }
    ncmpi_close(id);
}
#else
void expect_as_pnetcdf(const std::string&, const Definition&, const ClassicHeader&) {}
#endif

class HeaderReader : public testing::TestWithParam<Format> {
protected:
    void TearDown() override { unlink(path_.c_str()); }
    const std::string path_ = "header_" + std::to_string(getpid()) + ".nc";
};

TEST_P(HeaderReader, FindsTheSizeOfNetcdfsFiles) {
    Random random(1);
    for (int i = 0; i < 200; ++i) {
        SCOPED_TRACE(i);
        const Definition d = random_definition(random, GetParam());
        make_with_netcdf(path_, d, GetParam());
        ClassicHeader header;
        const Status status = read(path_, header);
        ASSERT_TRUE(status.ok()) << status.text;
        EXPECT_EQ(header.format, GetParam());
        EXPECT_EQ(header.has_records(), any_record(d));
        EXPECT_EQ(static_cast<std::size_t>(header.records), any_record(d) ? d.records : 0);
        expect_as_pnetcdf(path_, d, header);
        const std::int64_t size = size_of_file(path_);
        if (!d.vars.empty()) {
            EXPECT_EQ(header.map.size(header.records), size);
        }
        if (any_record(d)) {
            EXPECT_EQ(header.records_within(size), header.records);
            for (std::int64_t n = header.records; n > 0; --n) {
                const std::int64_t end = header.map.record_begin +
                                         (n - 1) * header.map.record_bytes + header.record_data;
                EXPECT_EQ(header.records_within(end), n);
                EXPECT_EQ(header.records_within(end - 1), n - 1);
            }
        }
        if (HasFailure()) return;
    }
}

#if THALWEG_TEST_PNETCDF
TEST_P(HeaderReader, FindsTheSizeOfPnetcdfsFiles) {
    Random random(2);
    for (int i = 0; i < 100; ++i) {
        SCOPED_TRACE(i);
        const Definition d = random_definition(random, GetParam());
        make_with_pnetcdf(path_, d, GetParam());
        ClassicHeader header;
        const Status status = read(path_, header);
        ASSERT_TRUE(status.ok()) << status.text;
        expect_as_pnetcdf(path_, d, header);
        const std::int64_t size = size_of_file(path_);
        if (any_record(d) && d.records > 0) {
            // PnetCDF does not write the padding behind the last variable.
            EXPECT_LE(size, header.map.size(header.records));
            EXPECT_GT(size + 4, header.map.size(header.records));
            EXPECT_EQ(header.records_within(size), header.records);
        }
        if (HasFailure()) return;
    }
}
#endif

TEST_P(HeaderReader, RefusesHeadersThatEndEarly) {
    Random random(3);
    for (int i = 0; i < 10; ++i) {
        make_with_netcdf(path_, random_definition(random, GetParam()), GetParam());
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
TEST_P(HeaderReader, CountsTheRecordsOfAStream) {
    Random random(5);
    for (int i = 0; i < 50; ++i) {
        const Definition d = random_definition(random, GetParam());
        make_with_netcdf(path_, d, GetParam());
        std::string content = content_of(path_);
        content.replace(4, GetParam() == Format::cdf5 ? 8 : 4, GetParam() == Format::cdf5 ? 8 : 4,
                        '\xff');
        std::ofstream(path_, std::ios::binary) << content;
        ClassicHeader header;
        const Status status = read(path_, header);
        ASSERT_TRUE(status.ok()) << status.text;
        EXPECT_EQ(static_cast<std::size_t>(header.records), any_record(d) ? d.records : 0) << i;
    }
}

/// After parsing random bytes, all resulting values lie within the file.
TEST_P(HeaderReader, SurvivesGarbage) {
    Random random(4);
    for (int i = 0; i < 30; ++i) {
        make_with_netcdf(path_, random_definition(random, GetParam()), GetParam());
        const std::string content = content_of(path_);
        for (int k = 0; k < 100; ++k) {
            std::string changed = content;
            for (std::int64_t n = random.between(1, 4); n > 0; --n) {
                const std::vector<int> telling{0, 1, 0x7f, 0x80, 0xff, 10, 11, 12};
                const auto at = static_cast<std::size_t>(
                    random.between(4, static_cast<std::int64_t>(content.size()) - 1));
                changed[at] = static_cast<char>(random.pick(telling));
            }
            std::ofstream(path_, std::ios::binary) << changed;
            ClassicHeader header;
            const Status status = read(path_, header);
            if (!status.ok()) {
                EXPECT_EQ(status.code, TW_EFORMAT);
                continue;
            }
            EXPECT_LE(header.bytes, static_cast<std::int64_t>(content.size()));
            EXPECT_GE(header.map.size(header.records), header.bytes);
            EXPECT_GE(header.map.size(0), header.map.fixed_end);
        }
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, HeaderReader,
                         testing::Values(Format::cdf1, Format::cdf2, Format::cdf5),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

/// Tests headers that are given byte by byte: CDF-2 with a record dimension and more.
TEST(HeaderReaderBytes, NamesWhatIsWrong) {
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

}  // namespace
