// SPDX-License-Identifier: Apache-2.0
#include "base/status.hpp"

#include <gtest/gtest.h>

#include <cerrno>

using namespace thalweg::detail;

namespace {

void expect(const Status& status, const char* text, const char* file, const char* variable,
            std::int64_t record, int rank) {
    EXPECT_EQ(status.text, text);
    EXPECT_EQ(status.place.file, file);
    EXPECT_EQ(status.place.variable, variable);
    EXPECT_EQ(status.place.record, record);
    EXPECT_EQ(status.place.rank, rank);
}

}  // namespace

TEST(Status, TakesItsPlaceFromTheArguments) {
    const Status status =
        failure(TW_EMISSING, "{}: variable '{}' of record {} was not put by {} (rank {})",
                OfFile{"/a.nc"}, OfVariable{"T"}, OfRecord{3}, "anyone", OfRank{2});
    EXPECT_EQ(status.code, TW_EMISSING);
    expect(status, "/a.nc: variable 'T' of record 3 was not put by anyone (rank 2)", "/a.nc", "T",
           3, 2);
    expect(failure(TW_EARG, "'{}' is no {}", "record 9 (rank 8)", 7), "'record 9 (rank 8)' is no 7",
           "", "", -1, -1);
}

TEST(Status, KeepsThePlaceWhenItIsReworded) {
    Status status = failure(TW_EIO, "no room, record {}", OfRecord{4});
    reword(status, "{}: {} (rank {})", OfFile{"a.nc"}, status.text, OfRank{1});
    expect(status, "a.nc: no room, record 4 (rank 1)", "a.nc", "", 4, 1);
}

TEST(Status, IsTheSameAfterItWasPacked) {
    const Status status =
        failure(TW_EIO, "{}: '{}': {} (rank {})", OfFile{"/model's/run (rank 5).nc"},
                OfVariable{"model's 'T'"}, OfSystem{"no space", ENOSPC}, OfRank{12});
    const std::string bytes = packed(status);
    const Status again = unpacked(TW_EIO, bytes);
    EXPECT_EQ(again.code, TW_EIO);
    EXPECT_EQ(again.place.system, ENOSPC);
    expect(again, status.text.c_str(), "/model's/run (rank 5).nc", "model's 'T'", -1, 12);
    expect(unpacked(TW_EIO, {bytes.data(), bytes.size() - 4}),
           status.text.substr(0, status.text.size() - 4).c_str(), "/model's/run (rank 5).nc",
           "model's 'T'", -1, 12);
}
