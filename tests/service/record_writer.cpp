// SPDX-License-Identifier: Apache-2.0
#include "service/queue/writer/record_writer.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "service/setup.hpp"

using namespace thalweg::detail;

namespace {

/// Ends a step of a file that is written by boxes.
/// @param records  number of records that the file then has
Status end_step(RecordWriter& writer, std::int64_t records) {
    UnitPart step;
    step.head.boxed = step.head.given = true;
    step.head.records = records;
    return writer.write({&step, 1});
}

/// Every second row of a variable. Each is a separate box.
struct Stripes {
    std::int64_t width;
    Plan plan;
    std::unique_ptr<Layout> layout = make_record_layout(1, 1);
    std::vector<Sent> sent;
    MemoryStorage file;

    explicit Stripes(std::int64_t rows, std::int64_t columns = 8) : width(columns) {
        plan.add("v", TW_SHORT, {2 * rows, width}, true);
        plan.lay_out();
        sent.push_back(empty_unit_part(plan, UnitKind::boxes, 0));
        for (std::int64_t row = 0; row < rows; ++row) {
            Box box;
            box.nd = 2;
            box.low[0] = 2 * row;
            box.count[0] = 1;
            box.count[1] = width;
            sent[0].add(plan, 0, box, 0);
        }
    }
    double write() {
        Progress progress(plan.definitions, {});
        RecordWriter writer(plan.definitions, plan.whole, plan.spaces, *layout, 0, file, progress,
                            1 << 20, nullptr);
        const auto unit_parts = unit_parts_of(sent);
        const double begin = now();
        EXPECT_TRUE(writer.write(unit_parts).ok());
        EXPECT_TRUE(end_step(writer, 1).ok());
        return now() - begin;
    }
};

}  // namespace

TEST(RecordWriter, ManySmallBoxesAreFewWrites) {
    Stripes stripes(1000);
    stripes.write();
    EXPECT_EQ(stripes.file.counts().bytes, 2 * 1000 * stripes.width * 2);
    EXPECT_LE(stripes.file.counts().calls, 2);  // the last row is filled
}

TEST(RecordWriter, LongRunsAreNotCopied) {
    for (const std::int64_t width : {512, 8}) {  // 1 KiB, and 16 bytes
        Stripes stripes(4, width);
        stripes.write();
        EXPECT_EQ(stripes.file.sources[0] == stripes.sent[0].data[0]->data(), width == 512);
    }
}

// Sixteen times as many boxes take about sixteen times as long, not 256 times. On a busy machine
// with small caches, permit three times more.
TEST(RecordWriter, ManySmallBoxesTakeLinearTime) {
    Stripes few(10000), many(160000);
    double short_time = few.write(), long_time = many.write();
    for (int i = 0; i < 4; ++i) {
        short_time = std::min(short_time, few.write());
        long_time = std::min(long_time, many.write());
    }
    EXPECT_LT(long_time, 80 * short_time);
}

TEST(RecordWriter, TellsOfFailures) {
    Plan plan;
    plan.add("v", TW_INT, {100}, true);
    plan.lay_out();
    const auto layout = make_record_layout(1, 1);
    MemoryStorage file;
    file.failure = failure(TW_EIO, "no space");
    Progress progress(plan.definitions, {});
    RecordWriter writer(plan.definitions, plan.whole, plan.spaces, *layout, 0, file, progress, 16,
                        nullptr);
    const std::vector<Sent> sent{empty_unit_part(plan, UnitKind::step, 0)};
    EXPECT_EQ(writer.write(unit_parts_of(sent)).code, TW_EIO);
    EXPECT_EQ(file.counts().calls, 1);
}
