// SPDX-License-Identifier: Apache-2.0
#include "storage/throttle.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "storage/storage.hpp"

using namespace thalweg::detail;

namespace {

/// Returns the seconds that it takes to write a number of pieces, each of which takes `each`
/// seconds by itself.
double seconds_of(Throttle throttle, int pieces, std::int64_t bytes, double each = 0) {
    const double begin = now();
    for (int i = 0; i < pieces; ++i) {
        throttle.begin();
        if (each > 0) sleep_seconds(each);
        throttle.moved(bytes);
    }
    return now() - begin;
}

// A busy machine may be late, but never early. The burst is worth 0.01 s.

TEST(Throttle, HoldsTheRate) {
    const double seconds = seconds_of(Throttle(10e6), 50, 50'000);  // 0.25 s at this rate
    EXPECT_GE(seconds, 0.239);
    EXPECT_LT(seconds, 0.45);
}

TEST(Throttle, HoldsTheRateOverManySmallWrites) {
    // A sleep takes about 50 microseconds longer than requested; a piece takes 5.
    const double seconds = seconds_of(Throttle(100e6), 50'000, 500);
    EXPECT_GE(seconds, 0.239);
    EXPECT_LT(seconds, 0.45);
}

TEST(Throttle, TimeSpentWritingCounts) {
    const double seconds = seconds_of(Throttle(10e6), 5, 1'000'000, 0.08);  // 0.5 s at this rate
    EXPECT_GE(seconds, 0.489);
    EXPECT_LT(seconds, 0.8);
}

TEST(Throttle, IdleTimeIsNotSavedUp) {
    Throttle throttle(10e6);
    throttle.begin();
    throttle.moved(100);
    sleep_seconds(0.2);
    EXPECT_GE(seconds_of(throttle, 1, 1'000'000), 0.089);
}

TEST(Throttle, NoLimitCostsNothing) {
    EXPECT_LT(seconds_of(Throttle(), 1'000'000, 1 << 30), 0.1);
    EXPECT_LT(seconds_of(Throttle(0), 1'000'000, 1 << 30), 0.1);
}

/// Writes a file of one variable of 200,000 bytes.
void write_throttled(std::unique_ptr<Storage> storage, double rate) {
    const std::int64_t bytes = 200'000;
    Definitions definitions;
    definitions.dims = {{"x", bytes}};
    Variable v;
    v.name = "v";
    v.type = TW_BYTE;
    v.dims = {0};
    v.shape = {bytes};
    definitions.variables.push_back(v);
    StorageOptions options;
    options.rate = rate;
    FileMap map;
    const auto comm = make_mpi_comm(MPI_COMM_SELF);
    const Status made = storage->create(*comm, "throttled.nc", definitions, options, true, map);
    ASSERT_TRUE(made.ok()) << made.text;
    const std::vector<char> data(static_cast<std::size_t>(bytes));
    Chunk c;
    c.elements = bytes;
    c.offset = map.offset[0];
    c.data = data.data();
    c.bytes = bytes;
    ASSERT_TRUE(storage->write({&c, 1}).ok());
    EXPECT_EQ(storage->counts().bytes, bytes);
    const double least = rate > 0 ? static_cast<double>(bytes) / rate - 0.011 : 0;
    EXPECT_GE(storage->counts().seconds, least);
    EXPECT_TRUE(storage->close(0, {}).ok());
    unlink("throttled.nc");
}

TEST(Throttle, EveryDriverIsHeldAndCountsItsSleepAsWriting) {
    for (const double rate : {0., 2e6}) {
        write_throttled(make_posix_storage(), rate);
        if (THALWEG_TEST_PNETCDF) write_throttled(make_pnetcdf_storage(), rate);
        write_throttled(make_memory_storage(), rate);
    }
}

}  // namespace
