// Tests a file in memory that replaces one on disk.
// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/memory_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "storage/posix/system.hpp"

using namespace thalweg::detail;

namespace {

class MemoryFileTest : public testing::Test {
protected:
    void SetUp() override { fd_ = open_file(); }
    void TearDown() override {
        ::close(fd_);
        ::unlink(path_.c_str());
    }
    int open_file() const { return ::open(path_.c_str(), O_RDWR | O_CREAT, 0666); }
    bool put(const std::string& text, off_t at) const {
        return ::pwrite(fd_, text.data(), text.size(), at) == std::ssize(text);
    }
    std::string on_disk() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string path_ = testing::TempDir() + "memory_file." + std::to_string(::getpid());
    int fd_ = -1;
};

TEST_F(MemoryFileTest, TakesWhatIsWrittenFromNowOn) {
    const MemoryFile memory;
    ASSERT_TRUE(put("before", 0));
    ASSERT_TRUE(memory.stand_in(path_));
    ASSERT_TRUE(put("after", 3 << 20));
    ASSERT_EQ(ftruncate(fd_, 4 << 20), 0);
    EXPECT_EQ(on_disk(), "before");
    std::vector<char> bytes;
    ASSERT_TRUE(read_file(memory.path(), bytes).ok());
    ASSERT_TRUE(write_file(path_, bytes).ok());
    std::string wanted(4 << 20, '\0');
    wanted.replace(0, 6, "before").replace(3 << 20, 5, "after");
    EXPECT_TRUE(on_disk() == wanted);
}

TEST_F(MemoryFileTest, LeavesAFileThatIsOpenTwice) {
    const int other = open_file();
    const MemoryFile memory;
    EXPECT_FALSE(memory.stand_in(path_));
    ASSERT_TRUE(put("text", 0));
    EXPECT_EQ(on_disk(), "text");
    ::close(other);
}

TEST_F(MemoryFileTest, LeavesAFileThatIsNotOpenForWriting) {
    const MemoryFile memory;
    ::close(fd_);
    fd_ = ::open(path_.c_str(), O_RDONLY);
    EXPECT_FALSE(memory.stand_in(path_));
    EXPECT_FALSE(memory.stand_in(path_ + ".none"));
}

}  // namespace
