// SPDX-License-Identifier: Apache-2.0
#include "base/error_place.hpp"

#include <gtest/gtest.h>

using namespace thalweg::detail;

namespace {

void expect(const ErrorPlace& place, const char* file, const char* variable, std::int64_t record,
            int rank) {
    EXPECT_EQ(place.file, file);
    EXPECT_EQ(place.variable, variable);
    EXPECT_EQ(place.record, record);
    EXPECT_EQ(place.rank, rank);
}

}  // namespace

TEST(ErrorPlace, AsTextsTellIt) {
    expect(find_place("/a/h.nc: variable 'T' of record 3 was not put on rank 2, but was on others"),
           "/a/h.nc", "T", 3, 2);
    expect(find_place("/a/h.nc: cannot write: No space left on device: variable 'T', record 0 "
                      "(rank 12)"),
           "/a/h.nc", "T", 0, 12);
    expect(find_place("the settings differ: a=1 on rank 0, a=2 on rank 1"), "", "", -1, 0);
    expect(find_place("rank 1 has cancelled the session: ValueError: x"), "", "", -1, 1);
    expect(find_place("h.nc: not a setting", "h.nc"), "h.nc", "", -1, -1);
    expect(find_place(""), "", "", -1, -1);
}

TEST(ErrorPlace, NamesThatLookLikePlaces) {
    const char* const path = "/run record 7/(rank 5)/variable 'x'.nc";
    const char* const text =
        "/run record 7/(rank 5)/variable 'x'.nc: variable 'record 9 (rank 8)': no data";
    expect(find_place(text, path), path, "record 9 (rank 8)", -1, -1);
    expect(find_place("/a.nc: 12 records, record -3, frank 4, records 5"), "/a.nc", "", -1, -1);
    expect(find_place("/a.nc: variable 'T: it never ends"), "/a.nc", "", -1, -1);
    expect(find_place("/a.nc: rank 99999999999999999999 (rank"), "/a.nc", "", -1, -1);
    expect(find_place("/a.nc: variable 'model's T': no data"), "/a.nc", "model's T", -1, -1);
    expect(find_place("/a.nc: no variable 'model's T'"), "/a.nc", "model's T", -1, -1);
    expect(find_place("/a.nc: variable 'T', record 3"), "/a.nc", "T", 3, -1);
}
