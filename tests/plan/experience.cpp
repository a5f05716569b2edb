// Which way follows from what files of a run have taken: a way is left for one that was faster, the
// usual one is tried where the model promised too much, and nothing swings.
// SPDX-License-Identifier: Apache-2.0
#include "plan/experience.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using thalweg::planning::Experience;

namespace {

constexpr std::size_t usual = 0;

}  // namespace

TEST(Experience, StaysWhereTheModelIsRight) {
    Experience e({2, 1, 1.2}, usual, 1);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(e.way(), 1u);
        EXPECT_EQ(e.instead_of(), 1u);
        e.add(1, 1.1);
    }
}

TEST(Experience, StaysOnASlowerMachine) {
    // All ways take longer alike, but less than the model says of the usual one.
    Experience e({5, 1, 1.05, 4}, usual, 1);
    for (int i = 0; i < 10; ++i) e.add(e.way(), 4);
    EXPECT_EQ(e.way(), 1u);
}

TEST(Experience, GoesBackToTheUsualWayWhichWasPromisedToBeSlower) {
    Experience e({2, 1}, usual, 1);
    e.add(1, 6);
    EXPECT_EQ(e.way(), usual);
    EXPECT_EQ(e.instead_of(), 1u);
    e.add(usual, 2);
    EXPECT_EQ(e.way(), usual);
    EXPECT_DOUBLE_EQ(e.measured(1), 6);
}

TEST(Experience, GoesForthAgainWhereTheUsualWayIsNoBetter) {
    Experience e({2, 1}, usual, 1);
    e.add(1, 6);
    e.add(usual, 12);  // other users have slowed down both
    EXPECT_EQ(e.way(), 1u);
    for (int i = 0; i < 10; ++i) e.add(1, 6.5);
    EXPECT_EQ(e.way(), 1u);
}

TEST(Experience, LessThanATenthIsNotWorthAnotherWay) {
    Experience e({2, 1}, usual, 1);
    e.add(1, 6);
    e.add(usual, 6.5);
    EXPECT_EQ(e.way(), usual);
    e.add(usual, 6.6);
    EXPECT_EQ(e.way(), usual);
}

TEST(Experience, TriesWhatTheModelPromisesAfterItsOwnProposalFailed) {
    // The usual way takes as long as predicted, so the third one may, too.
    Experience e({2, 1, 1.5}, usual, 1);
    e.add(1, 6);
    EXPECT_EQ(e.way(), usual);
    e.add(usual, 2);
    EXPECT_EQ(e.way(), 2u);
    e.add(2, 1.5);
    EXPECT_EQ(e.way(), 2u);
}

TEST(Experience, RemembersATryThatWasSlower) {
    Experience e({2, 1, 1.5}, usual, 1);
    e.add(1, 6);
    e.add(usual, 2);
    e.add(2, 3);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(e.way(), usual);
        e.add(usual, 2);
    }
}

TEST(Experience, FewTries) {
    // A model that promises much of everything, and keeps nothing of it.
    std::vector<double> predicted{2};
    for (int i = 1; i < 20; ++i) predicted.push_back(1 + 0.01 * i);
    Experience e(predicted, usual, 1);
    std::set<std::size_t> ways;
    for (int i = 0; i < 50; ++i) {
        ways.insert(e.way());
        e.add(e.way(), e.way() == usual ? 2 : 6);
    }
    EXPECT_EQ(e.way(), usual);
    EXPECT_EQ(ways.size(), 5u);  // the proposal, the usual way, three more
}

TEST(Experience, DoesNotSwingWithTimesThatDiffer) {
    // Both ways take the same on average, by turns a third more and less.
    Experience e({2, 1}, usual, 1);
    int changes = 0;
    std::size_t before = e.way();
    for (int i = 0; i < 100; ++i) {
        e.add(e.way(), i % 2 == 0 ? 4 : 2);
        if (e.way() != before) ++changes;
        before = e.way();
    }
    EXPECT_LE(changes, 3);
}

TEST(Experience, FollowsAMachineThatChanges) {
    Experience e({2, 1}, usual, 1);
    for (int i = 0; i < 100; ++i) e.add(1, 1);
    for (int i = 0; i < 20; ++i) e.add(e.way(), e.way() == usual ? 2 : 6);
    EXPECT_EQ(e.way(), usual);
}

TEST(Experience, FilesThatWereBegunBeforeAChange) {
    Experience e({2, 1}, usual, 1);
    e.add(1, 6);
    EXPECT_EQ(e.way(), usual);
    e.add(1, 6);  // another one that was open then
    EXPECT_EQ(e.way(), usual);
    e.add(usual, 2);
    EXPECT_EQ(e.way(), usual);
}
