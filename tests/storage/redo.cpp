// Tests a change that is kept in a log beside the file until the change is complete.
//
// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/redo.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

using namespace thalweg::detail;

namespace redo_test {
namespace {

class Redo : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = ::testing::TempDir() + "redo_XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder = name;
        path = folder + "/history.nc.part";
        for (int i = 0; i < 5000; ++i) before.push_back(static_cast<char>(i * 7));
        after = before;
        std::fill_n(after.begin() + 100, 1500, 'A');
        std::fill_n(after.begin() + 4000, 900, 'B');
        for (const auto& [at, n] : {std::pair(100, 1500), std::pair(4000, 900)})
            changes.push_back({at,
                               {before.begin() + at, before.begin() + at + n},
                               {after.begin() + at, after.begin() + at + n}});
        put(path, before);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    static void put(const std::string& to, const std::vector<char>& bytes) {
        ASSERT_TRUE(write_file(to, bytes).ok());
    }
    static std::vector<char> get(const std::string& from) {
        std::vector<char> bytes;
        EXPECT_TRUE(read_file(from, bytes).ok());
        return bytes;
    }

    std::string folder, path;
    std::vector<char> before, after;
    std::vector<ChangedBytes> changes;
};

TEST_F(Redo, CompletesAnyPartOfAChange) {
    RedoLog log(path);
    ASSERT_TRUE(log.write(changes).ok());
    for (unsigned kept = 0; kept < 1024; kept += 37) {
        std::vector<char> torn = before;
        for (unsigned s = 0; s < 10; ++s)
            for (std::size_t i = 512 * s; i < std::min<std::size_t>(512 * (s + 1), 5000); ++i)
                if ((kept >> s & 1) != 0) torn[i] = after[i];
        put(path, torn);
        ASSERT_TRUE(redo(path).ok());
        EXPECT_TRUE(get(path) == after);
    }
}

TEST_F(Redo, LeavesAFileThatWasChangedSince) {
    RedoLog log(path);
    ASSERT_TRUE(log.write(changes).ok());
    std::vector<char> other = before;
    other[4321] ^= 1;
    put(path, other);
    ASSERT_TRUE(redo(path).ok());
    EXPECT_TRUE(get(path) == other);
    put(path, {before.begin(), before.begin() + 4500});  // the file is shorter than the logged
                                                         // change
    ASSERT_TRUE(redo(path).ok());
    EXPECT_EQ(get(path).size(), 4500U);
}

TEST_F(Redo, IgnoresAnIncompleteLog) {
    RedoLog log(path);
    ASSERT_TRUE(log.write(changes).ok());
    const std::vector<char> whole = get(redo_path(path));
    for (const std::size_t size : {std::size_t(0), std::size_t(20), whole.size() - 1}) {
        put(redo_path(path), {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
        ASSERT_TRUE(redo(path).ok());
        EXPECT_TRUE(get(path) == before);
    }
    for (const std::size_t at : {std::size_t(3), std::size_t(40), whole.size() / 2}) {
        std::vector<char> damaged = whole;
        damaged[at] ^= 1;
        put(redo_path(path), damaged);
        ASSERT_TRUE(redo(path).ok());
        EXPECT_TRUE(get(path) == before);
    }
}

TEST_F(Redo, AShorterChangeReplacesALongerOne) {
    RedoLog log(path);
    ASSERT_TRUE(log.write(changes).ok());
    ASSERT_TRUE(log.write({changes[1]}).ok());
    ASSERT_TRUE(redo(path).ok());
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + 4000, get(path).begin()));
    EXPECT_EQ(get(path)[4000], 'B');
}

TEST_F(Redo, NothingIsDoneAfterADrop) {
    RedoLog log(path);
    ASSERT_TRUE(log.write(changes).ok());
    ASSERT_TRUE(log.drop(true).ok());
    EXPECT_FALSE(std::filesystem::exists(redo_path(path)));
    ASSERT_TRUE(redo(path).ok());
    EXPECT_TRUE(get(path) == before);
}

}  // namespace
}  // namespace redo_test
