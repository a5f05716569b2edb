// Tests the work of a step: writers that have nothing, and blocks that several nodes write.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "plan/shares/busy_writers.hpp"
#include "plan/shares/shares.hpp"

using namespace thalweg;
using namespace thalweg::planning;

namespace {

constexpr double mib = 1 << 20;

/// 1024 ranks on 32 nodes write a field of 32 MiB (levels, rows, columns) in stripes of 1 MiB.
class WorkOfAStep : public testing::Test {
protected:
    WorkOfAStep() {
        run.ranks = 1024;
        run.nodes = run.cores = 32;
        run.outputs = 1000;
        run.dimensions = {"z", "y", "x"};
        run.lengths = {16, 1024, 512};
        run.grid = {{1, 1024}};
        run.variables.push_back({"T", 1, 4, {0, 1, 2}});
        run.stripe_size = 1 << 20;
        EXPECT_TRUE(detail::file_system_named("lustre", run.file_system));
        run.folder = assumed_folder(run.file_system);
    }
    Work work(const std::string& method, const std::string& writers) {
        run.writers = writers;
        return Shares(run).work_of({method, false, writers});
    }
    planning::Run run;
};

}  // namespace

TEST_F(WorkOfAStep, WritersWithoutABlockAreNotCounted) {
    const Work few = work("record", "1/node");
    EXPECT_EQ(few.active, 32);
    EXPECT_EQ(few.writer_bytes, mib);
    const Work many = work("record", "8/node");
    EXPECT_EQ(many.writers, 256);
    EXPECT_EQ(many.active, 32);
    EXPECT_EQ(many.writer_bytes, mib);
    EXPECT_EQ(many.blocks, 32);
    EXPECT_EQ(many.shared, 0);
    // A block is half a level. Ranks of 16 nodes hold it, so 15/16 of it come from other nodes.
    EXPECT_NEAR(many.received, 32 * mib / 32 * 15 / 16, 0.1 * mib);
}

TEST_F(WorkOfAStep, WritersBeyondTheLevelsAreNotCounted) {
    const Work slabs = work("slabs", "4/node");
    EXPECT_EQ(slabs.writers, 128);
    EXPECT_EQ(slabs.active, 16);
    EXPECT_EQ(slabs.writer_bytes, 2 * mib);
    EXPECT_EQ(slabs.shared, 0);  // a level consists of two blocks
}

TEST_F(WorkOfAStep, BlocksGoFromNodeToNode) {
    // Half a level is held by 512 ranks on 16 nodes. The first node nearly always locks a block
    // twice.
    const Work direct = work("direct", "auto");
    EXPECT_EQ(direct.blocks, 32);
    EXPECT_EQ(direct.shared, 32);
    EXPECT_NEAR(direct.handovers, 15 + 31.0 / 32, 1e-9);
    run.ranks = 32;  // one writer on each node, so no writer comes late
    run.grid = {{1, 32}};
    EXPECT_NEAR(work("direct", "auto").handovers, 15, 1e-9);
    run.nodes = 1;
    EXPECT_EQ(work("direct", "auto").shared, 0);
}

TEST_F(WorkOfAStep, AWriterIsFoundByWhatItWrites) {
    detail::FileSection space;
    space.bytes = 1000 * 8;
    detail::VariableSlot place;
    place.shape = {1000};
    place.element = 8;
    place.bytes = place.padded = space.bytes;
    space.places.push_back(place);
    const auto layout = detail::make_record_layout(100, 4000);
    const BusyWriters busy = busy_writers(*layout, space);
    EXPECT_EQ(busy.number, 2);
    ASSERT_EQ(busy.few.size(), 2U);
    for (const int w : busy.few) EXPECT_EQ(layout->share(w, space, 0).extents().size(), 1U);
    EXPECT_EQ(busy_writers(*layout, detail::FileSection{}).number, 0);
}
