// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "storage/storage.hpp"
#include "support/content.hpp"

using namespace thalweg::detail;

namespace {

/// Returns records of int a(y, x) and byte b(x), with y = 3 and x = 5.
Definitions definitions() {
    Definitions d;
    d.dims = {{"time", 0}, {"y", 3}, {"x", 5}};
    Variable a, b;
    a.name = "a";
    a.type = TW_INT;
    a.dims = {0, 1, 2};
    a.shape = {3, 5};
    b.name = "b";
    b.type = TW_BYTE;
    b.dims = {0, 2};
    b.shape = {5};
    a.record = b.record = true;
    d.variables = {a, b};
    return d;
}

class Posix : public testing::Test {
protected:
    void SetUp() override {
        const Status status = storage_->create(*comm_, path_, definitions_, {}, true, map_);
        ASSERT_TRUE(status.ok()) << status.text;
    }
    void TearDown() override { unlink(path_.c_str()); }

    Chunk chunk(int v, std::int64_t record, const char* data, std::int64_t bytes) const {
        const auto at = static_cast<std::size_t>(v);
        Chunk c;
        c.variable = v;
        c.record = record;
        c.elements = definitions_.variables[at].elements();
        c.offset = map_.offset[at] + record * map_.record_bytes;
        c.data = data;
        c.bytes = bytes;
        return c;
    }

    std::string path_ = "storage.nc";
    std::unique_ptr<Comm> comm_ = make_serial_comm();
    Definitions definitions_ = definitions();
    FileMap map_;
    std::unique_ptr<Storage> storage_ = make_posix_storage();
};

TEST_F(Posix, WhatContinuesInTheFileIsOneWrite) {
    const std::vector<char> bytes(68 * 2, 'x');
    const std::vector<Chunk> chunks{chunk(0, 0, bytes.data(), 60), chunk(1, 0, &bytes[60], 8),
                                    chunk(0, 1, &bytes[69], 60)};
    ASSERT_TRUE(storage_->write(chunks).ok());
    EXPECT_EQ(storage_->counts().calls, 1);
    EXPECT_EQ(storage_->counts().bytes, 128);
}

TEST_F(Posix, AFullDiskIsAnErrorWithTheSystemsWords) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 8192;
    setrlimit(RLIMIT_FSIZE, &small);
    const std::vector<char> bytes(60);
    const Chunk first = chunk(0, 0, bytes.data(), 60), last = chunk(0, 500, bytes.data(), 60);
    const Status good = storage_->write({&first, 1}), bad = storage_->write({&last, 1});
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_TRUE(good.ok()) << good.text;
    EXPECT_EQ(bad.code, TW_EIO);
    for (const char* word : {"storage.nc", "'a'", "record 500", "File too large"})
        EXPECT_NE(bad.text.find(word), std::string::npos) << bad.text;
    EXPECT_EQ(storage_->counts().calls, 1);
    // After this, no signal may be pending.
    sigset_t pending;
    sigpending(&pending);
    EXPECT_FALSE(sigismember(&pending, SIGXFSZ));
}

TEST(PosixStorage, AShorterHeaderLeavesNothingOfALongerOne) {
    Definitions d = definitions();
    // This attribute is the last part of the header, except for 16 bytes, which describe its
    // variable.
    d.variables.back().attributes = {{"title", TW_CHAR, 100, std::vector<char>(100, '#')}};
    FileMap map;
    const auto comm = make_serial_comm();
    const auto storage = make_posix_storage();
    ASSERT_TRUE(storage->create(*comm, "shorter.nc", d, {}, true, map).ok());
    ASSERT_TRUE(storage->close(0, {{1, {"title", TW_CHAR, 1, {'#'}}}}).ok());
    EXPECT_EQ(std::ranges::count(content_of("shorter.nc"), '#'), 1);
    unlink("shorter.nc");
}

TEST(PosixStorage, AMissingFolder) {
    FileMap map;
    const auto comm = make_serial_comm();
    const Status status =
        make_posix_storage()->create(*comm, "missing/x.nc", definitions(), {}, true, map);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.text.find("missing/x.nc"), std::string::npos);
}

TEST(MemoryStorage, CountsAndKeepsNothing) {
    FileMap map;
    const auto comm = make_serial_comm();
    const auto storage = make_memory_storage();
    ASSERT_TRUE(storage->create(*comm, "memory.nc", definitions(), {}, true, map).ok());
    const std::vector<char> bytes(32);
    Chunk c;
    c.data = bytes.data();
    c.bytes = 32;
    c.offset = std::int64_t(1) << 50;
    EXPECT_TRUE(storage->write({&c, 1}).ok());
    EXPECT_EQ(storage->counts().bytes, 32);
    EXPECT_TRUE(storage->close(1, {}).ok());
    unlink("memory.nc");
}

}  // namespace
