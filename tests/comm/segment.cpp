// SPDX-License-Identifier: Apache-2.0
#include "comm/segment.hpp"

#include <gtest/gtest.h>

using namespace thalweg::detail;

namespace {

TEST(Segment, IsOneMemoryInItsOwnProcess) {
    Status status;
    const auto made = Segment::make(4096, false, status);
    ASSERT_TRUE(made) << status.text;
    const auto mapped = Segment::map(made->name(), status);
    ASSERT_TRUE(mapped) << status.text;
    EXPECT_EQ(mapped->data(), made->data());
}

// Memory elsewhere can have the same name and numbers: in another container, or on another machine
// that MPI takes for the same node.
TEST(Segment, IsNotTakenForAnotherOfTheSameNumbers) {
    Status status;
    const auto made = Segment::make(4096, false, status);
    ASSERT_TRUE(made) << status.text;
    SegmentName name = made->name();
    name.token ^= 1;
    EXPECT_FALSE(Segment::map(name, status));
    EXPECT_NE(status.text.find("cannot map memory of process"), std::string::npos) << status.text;
}

TEST(Segment, StaysUntilTheLastUserInItsProcess) {
    Status status;
    auto made = Segment::make(4096, false, status);
    ASSERT_TRUE(made) << status.text;
    auto first = Segment::map(made->name(), status);
    const auto last = Segment::map(made->name(), status);
    ASSERT_TRUE(first && last) << status.text;
    made->data()[7] = 'x';
    made.reset();
    first.reset();
    EXPECT_EQ(last->data()[7], 'x');
    last->data()[8] = 'y';
    EXPECT_EQ(last->data()[8], 'y');
}

}  // namespace
