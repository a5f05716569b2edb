// SPDX-License-Identifier: Apache-2.0
#include "definitions/named_list.hpp"

#include <gtest/gtest.h>

#include <string>

namespace thalweg::detail {
namespace {

struct Element {
    std::string name;
    int value = 0;
};

std::string name_of(int number) { return "v" + std::to_string(number); }

/// Tests lengths near the one from which on a list has an index.
class Lengths : public testing::TestWithParam<int> {
protected:
    Lengths() {
        for (int i = 0; i < GetParam(); ++i) list_.push_back({name_of(i), i});
    }
    void expect_found(int first, int last) const {
        for (int i = first; i < last; ++i) {
            const int at = list_.find(name_of(i));
            ASSERT_GE(at, 0) << name_of(i);
            EXPECT_EQ(list_[static_cast<std::size_t>(at)].value, i);
        }
        EXPECT_EQ(list_.find("v"), -1);
        EXPECT_EQ(list_.find(name_of(GetParam())), -1);
    }
    NamedList<Element> list_;
};

INSTANTIATE_TEST_SUITE_P(NamedList, Lengths, testing::Values(0, 1, 15, 16, 17, 18, 40, 5000));

TEST_P(Lengths, EveryNameIsFound) { expect_found(0, GetParam()); }

TEST_P(Lengths, CopiesAndMovedListsFindTheSame) {
    NamedList<Element> copy = list_;
    copy.push_back({"more", -1});
    EXPECT_EQ(list_.find("more"), -1);
    list_ = std::move(copy);
    EXPECT_EQ(list_.find("more"), GetParam());
    expect_found(0, GetParam());
    EXPECT_EQ(copy.find("more"), -1);  // NOLINT(bugprone-use-after-move): it is empty
}

TEST_P(Lengths, ElementsAreRemoved) {
    list_.remove_if([](const Element& e) { return e.value % 2 == 0; });
    for (int i = 0; i < GetParam(); ++i)
        EXPECT_EQ(list_.find(name_of(i)), i % 2 == 0 ? -1 : i / 2) << i;
    list_.clear();
    EXPECT_EQ(list_.find(name_of(1)), -1);
}

TEST_P(Lengths, EveryElementIsRenamedAgainAndAgain) {
    const auto n = list_.size();
    for (const char* begin : {"a", "b", "c", "v"})
        for (std::size_t i = 0; i < n; ++i) list_.rename(i, begin + std::to_string(i));
    expect_found(0, GetParam());
    EXPECT_EQ(list_.find("c0"), -1);
}

TEST_P(Lengths, TheFirstOfEqualNamesCounts) {
    const int n = GetParam();
    for (int i = 0; i < n; ++i) list_.push_back({name_of(i), -1});
    expect_found(0, n);
    list_.set({name_of(0), 7});
    EXPECT_EQ(list_.get(name_of(0))->value, 7);
}

}  // namespace
}  // namespace thalweg::detail
