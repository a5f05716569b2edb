// SPDX-License-Identifier: Apache-2.0
#include "exchange/progress.hpp"

#include <gtest/gtest.h>

using namespace thalweg::detail;

TEST(Classify, PartsReplaceWhatIsNotThereOrWhatTheyCover) {
    EXPECT_EQ(classify({.put = true}), Action::data);
    EXPECT_EQ(classify({.put = true, .complete = true}), Action::data);
    EXPECT_EQ(classify({.put = true, .complete = true, .has_values = true}), Action::data);
    EXPECT_EQ(classify({.put = true, .has_values = true}), Action::merge);
    // Neither the end of a record nor a hole matters to what was put.
    EXPECT_EQ(classify({.put = true, .ends = true, .hole = true}), Action::data);
    EXPECT_EQ(classify({.put = true, .has_values = true, .ends = true}), Action::merge);
}

TEST(Classify, FillsAtTheEndWhatWasNeverWritten) {
    EXPECT_EQ(classify({}), Action::skip);
    EXPECT_EQ(classify({.ends = true}), Action::fill);
    EXPECT_EQ(classify({.has_values = true, .ends = true}), Action::skip);
    EXPECT_EQ(classify({.ends = true, .hole = true}), Action::skip);
    EXPECT_EQ(classify({.has_values = true}), Action::skip);
}
