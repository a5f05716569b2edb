// SPDX-License-Identifier: Apache-2.0
#include "base/text/nearest.hpp"

#include <gtest/gtest.h>

namespace thalweg::detail {

TEST(Nearest, FindsWhatWasMeant) {
    EXPECT_EQ(nearest("ncat", {"x", "y", "nc"}), "nc");
    EXPECT_EQ(nearest("tmie", {"lat", "time"}), "time");
    EXPECT_EQ(nearest("METOD", {"storage", "method"}), "method");
    EXPECT_EQ(nearest("Lon", {"lat", "lon"}), "lon");
    EXPECT_EQ(nearest("time", {"time_counter"}), "time_counter");
    // If two names are equally near, the first one is returned.
    EXPECT_EQ(nearest("tile", {"tiles", "title"}), "tiles");
}

TEST(Nearest, NamesNothingThatIsUnlike) {
    EXPECT_EQ(nearest("lat", {"lon", "lev"}), "");
    EXPECT_EQ(nearest("x", {"y", "xi"}), "");
    EXPECT_EQ(nearest("", {"a", "method"}), "");
    EXPECT_EQ(nearest("method", {}), "");
}

TEST(Nearest, MakesTheEndOfASentence) {
    EXPECT_EQ(did_you_mean("ncat", {"nc"}), "; did you mean 'nc'?");
    EXPECT_EQ(did_you_mean("ncat", {"lat"}), "");
}

}  // namespace thalweg::detail
