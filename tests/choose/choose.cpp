// Tests every choice that a file's settings leave open, and the reason given for it.
// SPDX-License-Identifier: Apache-2.0
#include "choose/choose.hpp"

#include <gtest/gtest.h>

#include "support/given.hpp"

using namespace thalweg::detail;

namespace {

/// A float variable with records over (y, x), and facts about a run.
class Choose : public testing::Test {
protected:
    Choose() {
        definitions.dims = {{"t", TW_UNLIMITED}, {"y", 40}, {"x", 50}};
        Variable v;
        v.name = "T";
        v.type = TW_FLOAT;
        v.record = true;
        v.dims = {0, 1, 2};
        v.shape = {40, 50};
        definitions.variables.push_back(v);
        around.ranks = 8;
    }
    Choice made() {
        std::vector<Remark> remarks;
        EXPECT_TRUE(choose_format(options, definitions, format, remarks).ok());
        return choose(options, definitions, format, around);
    }
    /// Tests if a remark contains a text.
    static bool says(const std::vector<Remark>& remarks, const std::string& text) {
        return std::any_of(remarks.begin(), remarks.end(),
                           [&](const Remark& r) { return r.text.find(text) != std::string::npos; });
    }

    FileOptions options;
    Definitions definitions;
    Format format = Format::cdf1;
    Surroundings around;
};

}  // namespace

TEST_F(Choose, ServiceAutoTakesServersWhereThereAreSome) {
    options.service = "auto";
    around.servers = true;
    const Choice c = made();
    EXPECT_EQ(c.service, "servers");
    EXPECT_TRUE(says(c.remarks, "service servers: ranks are set aside as servers"));
}

TEST_F(Choose, ServiceAutoWritesInTheCalls) {
    options.service = "auto";
    around.room.processors = 1;
    const Choice c = made();
    EXPECT_EQ(c.service, "inline");
    EXPECT_EQ(c.why_service, "auto writes in the background only with close=later");
}

TEST_F(Choose, ServiceAutoWritesInTheBackgroundWhatIsClosedLater) {
    options.service = "auto";
    options.close_later = true;
    around.room.processors = 1;
    around.room.queues = 1 << 20;
    around.room.memory = 2 << 20;
    Choice c = made();
    EXPECT_EQ(c.service, "background");
    EXPECT_EQ(c.why_service, "free processors on each node: 1, needed by the writing threads: 1");
    EXPECT_TRUE(says(c.remarks, "service background: free processors on each node: 1"));

    around.room.processors = 0;
    c = made();
    EXPECT_EQ(c.service, "inline");
    EXPECT_EQ(c.why_service, "free processors on a node: 0, needed by the writing threads: 1");
    EXPECT_TRUE(says(c.remarks, "service inline: free processors on a node: 0"));

    around.room.processors = 8;
    around.room.bound = true;
    c = made();
    EXPECT_EQ(c.service, "inline");
    EXPECT_TRUE(says(c.remarks, "bound to the processors on which they compute"));

    around.room.bound = false;
    around.room.memory = (2 << 20) - 1;
    c = made();
    EXPECT_EQ(c.service, "inline");
    EXPECT_TRUE(
        says(c.remarks, "the queues need 1 MB of a node, more than half of its free memory"));
}

TEST_F(Choose, ServiceAutoCountsTheWritersOfANode) {
    options.service = "auto";
    options.close_later = true;
    around.room.processors = 3;
    around.nodes = 2;
    options.writers = "4/node";
    EXPECT_EQ(made().service, "inline");
    options.writers = "6";  // 6 writers: three on each node
    EXPECT_EQ(made().service, "background");
    options.writers = "7";
    EXPECT_EQ(made().service, "inline");
    options.method = "rows";
    EXPECT_EQ(made().service, "background");
    options.method = "direct";
    EXPECT_TRUE(says(made().remarks, "service inline: with method=direct every rank writes"));
}

TEST_F(Choose, InlineWithTheReason) {
    options.service = "servers";
    Choice c = made();
    EXPECT_EQ(c.service, "inline");
    EXPECT_TRUE(says(c.remarks, "no ranks are set aside as servers"));

    options.service = "background";
    options.method = "direct";
    c = made();
    EXPECT_EQ(c.service, "inline");
    EXPECT_EQ(c.method, "direct");
    EXPECT_TRUE(says(c.remarks, "every rank writes from its own arrays"));
}

TEST_F(Choose, CollectiveStorageWritesInCalls) {
    if (!THALWEG_TEST_PNETCDF) GTEST_SKIP() << "a build without PnetCDF";
    options.storage = "pnetcdf";
    options.service = "background";
    const Choice c = made();
    EXPECT_EQ(c.storage, "pnetcdf");
    EXPECT_EQ(c.service, "inline");
    EXPECT_TRUE(says(c.remarks, "storage pnetcdf writes collectively"));
}

TEST_F(Choose, ChunksOfAnUnknownDimensionAreToldOf) {
    options.format = "netcdf4";
    options.packing = {{"chunks", "x=10,lev=3, y = 5"}};
    std::vector<Remark> remarks;
    ASSERT_TRUE(choose_format(options, definitions, format, remarks).ok());
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_EQ(remarks.front().text,
              "setting chunks names dimension 'lev', which the file does not have");
}

TEST_F(Choose, StorageNetcdf4IsAFormatToo) {
    options.storage = "netcdf4";
    EXPECT_EQ(made().storage, "netcdf4");
    EXPECT_EQ(format, Format::netcdf4);
    options.format = "cdf5";
    std::vector<Remark> remarks;
    EXPECT_EQ(choose_format(options, definitions, format, remarks).code, TW_ESETTING);
}

TEST_F(Choose, WholeChunksNeedWritersThatHaveAllParts) {
    options.format = "netcdf4";
    options.method = "tiles";
    options.packing = {{"deflate", "1"}};
    Choice c = made();
    EXPECT_EQ(c.method, "record");
    EXPECT_EQ(c.writers, "8/node");  // all ranks compress, so all are writers
    EXPECT_TRUE(says(c.remarks, "each writer needs whole chunks"));
    options.packing = {{"packing", "cmip7"}};
    EXPECT_EQ(made().writers, "1/node");  // nothing is compressed

    options.packing = {{"deflate", "1"}};
    options.service = "background";
    c = made();
    EXPECT_EQ(c.method, "record");
    EXPECT_EQ(c.writers, "8/node");
    EXPECT_TRUE(says(c.remarks, "writers=8/node: a thread of every rank compresses"));

    around.nodes = 3;  // nodes with 3, 3 and 2 ranks
    EXPECT_EQ(made().writers, "3/node");
    around.ranks = 3000;  // a queue can be shared by fewer ranks than this
    EXPECT_EQ(made().writers, "256/node");

    options.tile_files = true;  // in separate files, each writer has whole chunks
    EXPECT_EQ(made().method, "tiles");
}

TEST_F(Choose, OneWriterCompressesWhereItIsAskedFor) {
    options.format = "netcdf4";
    options.packing = {{"deflate", "1"}};
    options.service = "background";
    options.writers = "1";
    Choice c = made();
    EXPECT_EQ(c.method, "record");
    EXPECT_EQ(c.writers, "1");
    options.writers = "auto";
    options.method = "serial";
    c = made();
    EXPECT_EQ(c.method, "serial");
    EXPECT_EQ(c.service, "background");
}

TEST_F(Choose, ServersCompress) {
    options.format = "netcdf4";
    options.packing = {{"deflate", "1"}};
    options.service = "servers";
    around.servers = true;
    Choice c = made();
    EXPECT_EQ(c.method, "record");
    options.method = "slabs";
    c = made();
    EXPECT_EQ(c.method, "record");
    EXPECT_TRUE(says(c.remarks, "method=slabs is not possible, using record: each writer needs"));

    around.nodes = 4;
    around.file_system = file_system_of(0x6969, 4096);  // NFS
    options.method = "auto";
    c = made();
    EXPECT_EQ(c.method, "serial");
    EXPECT_TRUE(says(c.remarks, "with writers=1 the first server writes everything"));
}

TEST_F(Choose, ServiceAutoCompressesOnFreeProcessors) {
    options.format = "netcdf4";
    options.packing = {{"deflate", "1"}};
    options.service = "auto";
    around.room.processors = 3;
    Choice c = made();
    EXPECT_EQ(c.service, "inline");
    EXPECT_EQ(c.writers, "8/node");
    options.close_later = true;
    c = made();
    EXPECT_EQ(c.service, "background");
    EXPECT_EQ(c.writers, "3/node");
    EXPECT_TRUE(says(c.remarks, "writers=3/node: the free processors of a node compress"));
    around.room.processors = 30;
    EXPECT_EQ(made().writers, "8/node");
    around.room.processors = 0;
    c = made();
    EXPECT_EQ(c.service, "inline");
    EXPECT_EQ(c.writers, "8/node");
    options.writers = "4";
    around.room.processors = 3;
    c = made();
    EXPECT_EQ(c.service, "inline");
    EXPECT_EQ(c.why_service, "free processors on a node: 3, needed by the writing threads: 4");
}

TEST_F(Choose, SettingsThatHaveNoEffectAreNamed) {
    options.format = "cdf2";
    options.packing = {{"deflate", "4"}, {"shuffle", "no"}};
    definitions.variables[0].settings = {{"chunks", "10 10"}};
    std::vector<Remark> remarks;
    ASSERT_TRUE(choose_format(options, definitions, format, remarks).ok());
    EXPECT_TRUE(says(remarks, "setting deflate=4 has no effect in format cdf2"));
    EXPECT_TRUE(says(remarks, "ignoring settings of variables: 'T' (chunks=10 10)"));
    EXPECT_FALSE(says(remarks, "shuffle"));
}
