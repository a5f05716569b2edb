// SPDX-License-Identifier: Apache-2.0
#include "definitions/definitions.hpp"

#include <gtest/gtest.h>
#include <netcdf.h>
#include <unistd.h>

#include <cstring>

#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

TEST(Names, AsNetcdfHasThem) {
    for (const char* good :
         {"T", "_x", "2m_temperature", "a b", "a-b.c+d@e", "na\xc3\xafve", "x(1)"})
        EXPECT_TRUE(check_name("variable", good).ok()) << good;
    for (const char* bad :
         {"", " x", "x ", "a/b", "a\nb", "a\x7f", "-x", ".x", "\xff", "a\xc3", "\xc3(", "\xc0\x80",
          "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80"})
        EXPECT_EQ(check_name("variable", bad).code, TW_EARG) << bad;
    EXPECT_TRUE(check_name("variable", std::string(256, 'x')).ok());
    EXPECT_EQ(check_name("variable", std::string(257, 'x')).code, TW_EARG);
}

TEST(Names, ThatUnicodeTakesForTheSameAreRefused) {
    Definitions d;
    EXPECT_TRUE(define_dimension(d, "f.nc", "caf\xc3\xa9", 3).ok());
#ifdef THALWEG_HAVE_UTF8PROC
    EXPECT_EQ(define_dimension(d, "f.nc", "cafe\xcc\x81", 4).code, TW_EEXISTS);
#else
    EXPECT_EQ(define_dimension(d, "f.nc", "cafe\xcc\x81", 4).code, TW_EUNSUPPORTED);
#endif
}

TEST(FillValue, AttributeOfTheSameTypeOrDefault) {
    Variable v;
    v.type = TW_SHORT;
    const auto value = [&] {
        short made = 0;
        std::memcpy(&made, v.fill_value().data(), sizeof made);
        return made;
    };
    EXPECT_EQ(value(), NC_FILL_SHORT);
    v.attributes.push_back({"_FillValue", TW_SHORT, 1, {'\x05', '\x00'}});
    EXPECT_EQ(value(), 5);
    v.attributes[0] = {"_FillValue", TW_BYTE, 1, {'\x05'}};
    EXPECT_EQ(value(), NC_FILL_SHORT);
}

struct Sizes {
    std::vector<std::int64_t> fixed, record;  ///< sizes in bytes of byte variables
};

/// Makes two dimensions per variable, so that none is too long: the first has length 1024 or 1.
Definitions definitions_of(const Sizes& sizes) {
    Definitions d;
    d.dims.push_back({"time", 0});
    auto add = [&](std::int64_t bytes, bool record) {
        Variable v;
        const std::string n = std::to_string(d.variables.size());
        v.name = "v" + n;
        v.type = TW_BYTE;
        v.record = record;
        const std::int64_t rows = bytes % 1024 == 0 ? 1024 : 4;
        v.shape = {rows, bytes / rows};
        if (record) v.dims.push_back(0);
        for (std::int64_t length : v.shape) {
            v.dims.push_back(static_cast<int>(d.dims.size()));
            d.dims.push_back({"d" + std::to_string(d.dims.size()), length});
        }
        d.variables.push_back(std::move(v));
    };
    for (std::int64_t bytes : sizes.fixed) add(bytes, false);
    for (std::int64_t bytes : sizes.record) add(bytes, true);
    return d;
}

/// Tests if netCDF-C accepts the same definitions.
bool netcdf_allows(const Definitions& d, int mode) {
    const std::string path = "limits_" + std::to_string(getpid()) + ".nc";
    int ncid = 0, before = 0;
    EXPECT_EQ(nc_create(path.c_str(), NC_CLOBBER | mode, &ncid), NC_NOERR);
    nc_set_fill(ncid, NC_NOFILL, &before);
    std::vector<int> dims(d.dims.size());
    int code = NC_NOERR;
    for (std::size_t i = 0; i < dims.size() && code == NC_NOERR; ++i)
        code = nc_def_dim(ncid, d.dims[i].name.c_str(), static_cast<std::size_t>(d.dims[i].length),
                          &dims[i]);
    for (const Variable& v : d.variables) {
        std::vector<int> ids;
        for (int i : v.dims) ids.push_back(dims[static_cast<std::size_t>(i)]);
        int id = 0;
        if (code == NC_NOERR)
            code = nc_def_var(ncid, v.name.c_str(), static_cast<nc_type>(v.type),
                              static_cast<int>(ids.size()), ids.data(), &id);
    }
    if (code == NC_NOERR) code = nc_enddef(ncid);
    nc_abort(ncid);
    unlink(path.c_str());
    return code == NC_NOERR;
}

constexpr std::int64_t gib = std::int64_t(1) << 30;

TEST(CheckFormat, AgreesWithNetcdf) {
    Random random(1);
    const std::vector<std::int64_t> sizes{1024,    gib,         2 * gib - 4, 2 * gib,
                                          3 * gib, 4 * gib - 4, 4 * gib,     5 * gib};
    int allowed = 0;
    for (int i = 0; i < 400; ++i) {
        Sizes s;
        for (std::int64_t n = random.below(4); n-- > 0;) s.fixed.push_back(random.pick(sizes));
        for (std::int64_t n = random.below(4); n-- > 0;) s.record.push_back(random.pick(sizes));
        const Definitions d = definitions_of(s);
        std::string text;
        for (std::int64_t b : s.fixed) text += " " + std::to_string(b);
        text += " |";
        for (std::int64_t b : s.record) text += " " + std::to_string(b);
        SCOPED_TRACE(text);
        EXPECT_EQ(check_format(d, Format::cdf1).ok(), netcdf_allows(d, 0)) << "cdf1";
        EXPECT_EQ(check_format(d, Format::cdf2).ok(), netcdf_allows(d, NC_64BIT_OFFSET)) << "cdf2";
        EXPECT_TRUE(check_format(d, Format::cdf5).ok());
        EXPECT_EQ(choose_format(d),
                  check_format(d, Format::cdf2).ok() ? Format::cdf2 : Format::cdf5);
        allowed += check_format(d, Format::cdf2).ok();
    }
    EXPECT_GT(allowed, 40);
    EXPECT_LT(allowed, 360);
}

TEST(CheckFormat, NewTypesNeedCdf5) {
    for (int t = TW_BYTE; t <= TW_UINT64; ++t) {
        Definitions d = definitions_of({{1024}, {}});
        d.variables[0].type = static_cast<tw_type>(t);
        const bool old = t <= TW_DOUBLE;
        EXPECT_EQ(check_format(d, Format::cdf2).code, old ? TW_OK : TW_EFORMAT);
        EXPECT_EQ(choose_format(d), old ? Format::cdf2 : Format::cdf5);
        d.variables[0].type = TW_BYTE;
        d.attributes.push_back({"a", static_cast<tw_type>(t), 1, std::vector<char>(8)});
        EXPECT_EQ(check_format(d, Format::cdf1).code, old ? TW_OK : TW_EFORMAT);
        EXPECT_TRUE(check_format(d, Format::cdf5).ok());
    }
}

TEST(CheckFormat, NamesTheFormatThatCan) {
    const Status status = check_format(definitions_of({{3 * gib, 1024}, {}}), Format::cdf1);
    EXPECT_EQ(status.code, TW_EFORMAT);
    for (const char* word : {"'v0'", "cdf1", "cdf2", "3221225472"})
        EXPECT_NE(status.text.find(word), std::string::npos) << status.text;
    const Status larger = check_format(definitions_of({{5 * gib, 1024}, {}}), Format::cdf2);
    EXPECT_EQ(larger.code, TW_EFORMAT);
    EXPECT_NE(larger.text.find("use cdf5"), std::string::npos) << larger.text;
    Definitions d = definitions_of({{1024}, {}});
    d.dims.push_back({"long", 2 * gib});
    EXPECT_EQ(check_format(d, Format::cdf1).code, TW_EFORMAT);
    EXPECT_TRUE(check_format(d, Format::cdf2).ok());
    EXPECT_EQ(choose_format(d), Format::cdf5);  // not every reader takes so many for CDF-2
    d.dims.push_back({"longer", 4 * gib});
    EXPECT_EQ(check_format(d, Format::cdf2).code, TW_EFORMAT);
    EXPECT_TRUE(check_format(d, Format::cdf5).ok());
}

TEST(CheckFormat, MoreThan64Bits) {
    Definitions d = definitions_of({{1024, 1024}, {}});
    for (Variable& v : d.variables) v.shape = {std::int64_t(1) << 31, std::int64_t(1) << 31};
    EXPECT_EQ(check_format(d, Format::cdf5).code, TW_EFORMAT);
}

}  // namespace
