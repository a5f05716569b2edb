// Tests the explanations of settings in the summary.
// SPDX-License-Identifier: Apache-2.0
#include "choose/choose.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/given.hpp"

using namespace thalweg::detail;

namespace {

class Explain : public testing::Test {
protected:
    Explain() {
        definitions.dims = {{"t", TW_UNLIMITED}, {"x", 50}};
        Variable v;
        v.name = "T";
        v.type = TW_FLOAT;
        v.record = true;
        v.dims = {0, 1};
        v.shape = {50};
        definitions.variables.push_back(v);
        around.ranks = 8;
        around.file_system.name = "ext4";
    }
    std::map<std::string, ChosenSetting> made() {
        std::vector<Remark> remarks;
        EXPECT_TRUE(choose_format(options, definitions, format, remarks).ok());
        const Choice choice = choose(options, definitions, format, around);
        std::map<std::string, ChosenSetting> rows;
        for (const ChosenSetting& s : explain(options, false, format, around, choice)) {
            // There is a reason if and only if the value differs from the request.
            EXPECT_EQ(s.reason.empty(), s.asked == s.value) << s.name << ": " << s.reason;
            rows[s.name] = s;
        }
        return rows;
    }

    FileOptions options;
    Definitions definitions;
    Format format = Format::cdf1;
    Surroundings around;
};

TEST_F(Explain, ADiskOfOneNode) {
    auto rows = made();
    EXPECT_EQ(rows["format"].value, "cdf2");
    EXPECT_EQ(rows["storage"].value, "posix");
    EXPECT_EQ(rows["method"].value, "record");
    EXPECT_EQ(rows["writers"].value, "1/node");
    EXPECT_NE(rows["writers"].reason.find("ext4, 1 node"), std::string::npos);
    EXPECT_EQ(rows["alignment"].value, "4096");
    EXPECT_EQ(rows["service"].value, "inline");
}

TEST_F(Explain, WarningsAreReasons) {
    around.nodes = 4;
    around.file_system.sharing = Sharing::unknown;
    auto rows = made();
    EXPECT_EQ(rows["writers"].value, "1");
    EXPECT_NE(rows["writers"].reason.find("not known whether 4 nodes"), std::string::npos);
}

TEST_F(Explain, AParallelFileSystem) {
    around.file_system.sharing = Sharing::parallel;
    around.stripe_size = 1 << 22;
    auto rows = made();
    EXPECT_EQ(rows["writers"].value, "4/node");
    EXPECT_NE(rows["writers"].reason.find("parallel file system"), std::string::npos);
    EXPECT_NE(rows["alignment"].reason.find("stripe size"), std::string::npos);
}

TEST_F(Explain, WhatIsNotPossible) {
    options.service = "auto";
    options.close_later = true;
    options.method = "direct";
    auto rows = made();
    EXPECT_EQ(rows["service"].value, "inline");
    EXPECT_NE(rows["service"].reason.find("every rank writes from its own arrays"),
              std::string::npos);
    EXPECT_EQ(rows.count("writers"), 0U);
    options.method = "record";
    around.servers = true;
    rows = made();
    EXPECT_EQ(rows["service"].value, "servers");
    EXPECT_EQ(rows.count("writers"), 0U);
}

TEST_F(Explain, WritersThatCompress) {
    options.format = "netcdf4";
    options.packing = {{"deflate", "1"}};
    auto rows = made();
    EXPECT_EQ(rows["writers"].reason, "the writers compress, so all ranks do");
    options.service = "background";
    rows = made();
    EXPECT_NE(rows["writers"].reason.find("a thread of every rank compresses"), std::string::npos);
}

TEST_F(Explain, Formats) {
    options.format = "netcdf4";
    auto rows = made();
    EXPECT_EQ(rows["format"].reason, "");
    EXPECT_EQ(rows["storage"].value, "netcdf4");
    options.format = "auto";
    options.storage = "netcdf4";
    rows = made();
    EXPECT_EQ(rows["format"].reason, "setting storage is netcdf4");
    options.storage = "auto";
    definitions.variables[0].type = TW_INT64;
    rows = made();
    EXPECT_EQ(rows["format"].value, "cdf5");
    EXPECT_NE(rows["format"].reason.find("CDF-2 cannot hold the file"), std::string::npos);
}

}  // namespace
