// Tests the claim on a file: its lock, existing files of the name, and the remains of earlier runs.
// Without MPI.
// SPDX-License-Identifier: Apache-2.0
#include "publish/claim.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "storage/posix/paths.hpp"
#include "support/content.hpp"
#include "thalweg/thalweg.h"

using namespace thalweg::detail;

namespace {

namespace fs = std::filesystem;

class ClaimTest : public testing::Test {
protected:
    void SetUp() override {
        fs::remove_all(folder_);
        fs::create_directory(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    Status take(const std::string& path, bool live = false, bool existing = false) {
        ClaimRequest request;
        request.path = path;
        request.live = live;
        request.existing = existing;
        said_.clear();
        std::string of_stripes;
        return Claim::take(request, claim_, said_, of_stripes);
    }
    /// Writes a file and closes it, as a run would.
    Status write(const std::string& path, const std::string& content) {
        claim_.reset();
        Status status = take(path);
        if (!status.ok()) return status;
        std::ofstream(claim_->data_path()) << content;
        status = claim_->publish(true);
        claim_.reset();
        return status;
    }
    /// Returns the exit code of a child process, whether it exits or is killed.
    static int in_child(const std::function<int()>& act) {
        const pid_t child = fork();
        if (child == 0) std::_Exit(act());
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& entry : fs::directory_iterator(folder_))
            all.push_back(entry.path().filename());
        std::sort(all.begin(), all.end());
        return all;
    }
    static void make_records(const std::string& path, std::size_t records) {
        int id = 0, dim = 0, v = 0;
        ASSERT_EQ(nc_create(path.c_str(), NC_CLOBBER, &id), NC_NOERR);
        ASSERT_EQ(nc_def_dim(id, "time", NC_UNLIMITED, &dim), NC_NOERR);
        ASSERT_EQ(nc_def_var(id, "a", NC_INT, 1, &dim, &v), NC_NOERR);
        ASSERT_EQ(nc_enddef(id), NC_NOERR);
        for (std::size_t r = 0; r < records; ++r) {
            const int value = 1;
            ASSERT_EQ(nc_put_var1_int(id, v, &r, &value), NC_NOERR);
        }
        ASSERT_EQ(nc_close(id), NC_NOERR);
    }
    bool says(const std::string& words) const {
        for (const std::string& line : said_)
            if (line.find(words) != std::string::npos) return true;
        return false;
    }

    const std::string folder_ = fs::current_path().string() + "/claim_" + std::to_string(getpid());
    const std::string own_ = folder_ + "/history.nc", part_ = own_ + ".part";
    const std::string lock_ = folder_ + "/.history.nc.lock";
    std::unique_ptr<Claim> claim_;
    std::vector<std::string> said_;
};

// ---- one writer at a time -----------------------------------------------------------------------

TEST_F(ClaimTest, ASecondWriterLearnsWhoIsTheFirst) {
    char host[300] = "";
    gethostname(host, sizeof host - 1);
    for (const bool live : {false, true}) {
        ASSERT_TRUE(take(own_, live).ok());
        for (const bool other_live : {false, true}) {
            std::unique_ptr<Claim> other;
            std::vector<std::string> said;
            std::string of_stripes;
            ClaimRequest request;
            request.path = own_;
            request.live = other_live;
            const Status status = Claim::take(request, other, said, of_stripes);
            EXPECT_EQ(status.code, TW_EINUSE);
            EXPECT_NE(status.text.find(std::to_string(getpid())), std::string::npos) << status.text;
            EXPECT_NE(status.text.find(host), std::string::npos) << status.text;
            EXPECT_EQ(other, nullptr);
        }
        claim_->discard();
        claim_.reset();
    }
    EXPECT_TRUE(take(own_).ok());
}

// Simulates a file system that hides locks of other hosts: another run holds the lock, too.
TEST_F(ClaimTest, WhoeverLostTheLockDoesNotPublish) {
    const std::string lock = lock_path(own_);
    for (const bool live : {false, true}) {
        ASSERT_TRUE(take(own_, live).ok());
        std::ofstream(lock) << "thalweg elsewhere 4711\n";
        const Status status = claim_->publish(false);
        EXPECT_EQ(status.code, TW_EINUSE) << status.text;
        EXPECT_NE(status.text.find("process 4711 on host elsewhere"), std::string::npos)
            << status.text;
        EXPECT_EQ(fs::exists(own_), live);
        claim_.reset();
        EXPECT_EQ(content_of(lock), "thalweg elsewhere 4711\n");  // lock file that the other run
                                                                  // has written
        fs::remove(lock);
        fs::remove(own_);
        // A lock file that the user has removed does not prevent completion.
        ASSERT_TRUE(take(own_, live).ok());
        fs::remove(lock);
        EXPECT_TRUE(claim_->publish(false).ok());
        EXPECT_TRUE(fs::exists(own_));
        claim_.reset();
        fs::remove(own_);
    }
}

TEST_F(ClaimTest, WhatAnotherRunWritesIsLeftAlone) {
    ASSERT_TRUE(take(own_).ok());
    std::ofstream(part_) << "first";
    EXPECT_EQ(in_child([&] { return take(own_).code == TW_EINUSE ? 0 : 1; }), 0);
    EXPECT_EQ(content_of(part_), "first");
    EXPECT_EQ(tw_recover(own_.c_str(), TW_REPLACE_LONGER, nullptr, 0), TW_EINUSE);
    EXPECT_EQ(content_of(part_), "first");
}

TEST_F(ClaimTest, TheLockEndsWithItsProcess) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool good = take(own_).ok();
        std::ofstream(part_) << "of the dead";
        (void)!::write(ready[1], good ? "y" : "n", 1);
        for (;;) pause();
    }
    char good = 'n';
    ASSERT_EQ(::read(ready[0], &good, 1), 1);
    ASSERT_EQ(good, 'y');
    const Status held = take(own_);
    EXPECT_EQ(held.code, TW_EINUSE);
    EXPECT_NE(held.text.find("process " + std::to_string(child)), std::string::npos) << held.text;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
    const Status status = take(own_);
    EXPECT_TRUE(status.ok()) << status.text;
    EXPECT_TRUE(says("earlier run as " + part_ + ".1"));
    EXPECT_EQ(content_of(part_ + ".1"), "of the dead");
    EXPECT_EQ(content_of(part_), "");
}

TEST_F(ClaimTest, NothingIsLeftBesideACompleteFile) {
    ASSERT_TRUE(write(own_, "complete").ok());
    EXPECT_EQ(names(), std::vector<std::string>{"history.nc"});
    ASSERT_TRUE(take(own_).ok());
    EXPECT_EQ(names(),
              (std::vector<std::string>{".history.nc.lock", "history.nc", "history.nc.part"}));
    claim_->discard();
    EXPECT_EQ(names(), std::vector<std::string>{"history.nc"});
}

TEST_F(ClaimTest, AnotherLibrarysLockIsLeftAlone) {
    std::ofstream(lock_) << "mine";
    const Status status = take(own_);
    EXPECT_EQ(status.code, TW_EIO);
    EXPECT_NE(status.text.find(lock_), std::string::npos) << status.text;
    EXPECT_EQ(content_of(lock_), "mine");
    EXPECT_FALSE(fs::exists(part_));
}

/// Readers, which lock the data, and writers must not block each other.
TEST_F(ClaimTest, ReadersAndTheirLocksAreNotInTheWay) {
    make_records(own_, 3);
    int id = 0;
    ASSERT_TRUE(take(own_, false, true).ok());
    EXPECT_EQ(nc_open(own_.c_str(), NC_NOWRITE, &id), NC_NOERR);
    EXPECT_EQ(nc_close(id), NC_NOERR);
}

// ---- what earlier runs have left ----------------------------------------------------------------

TEST_F(ClaimTest, WhatDeadRunsLeftIsKept) {
    for (int run = 1; run <= most_kept; ++run) {
        make_records(part_, static_cast<std::size_t>(run == 4 ? 1 : run + 1));
        ASSERT_TRUE(take(own_).ok());
        EXPECT_TRUE(says("earlier run as " + kept_path(own_, run))) << run;
        EXPECT_TRUE(fs::exists(kept_path(own_, run)));
        claim_.reset();  // the run dies
    }
    // The kept file with fewest records is removed to make space.
    make_records(part_, 2);
    const std::string last = content_of(part_);
    ASSERT_TRUE(take(own_).ok());
    EXPECT_TRUE(says("removed " + kept_path(own_, 4) + ", which had the fewest records"));
    EXPECT_EQ(content_of(kept_path(own_, 4)), last);
    claim_.reset();
    std::ofstream(part_) << "nothing of netCDF";
    ASSERT_TRUE(take(own_).ok());
    EXPECT_TRUE(says("removed " + part_ + ", which had the fewest records"));
    // An empty file is not kept.
    fs::remove(kept_path(own_, 1));
    claim_.reset();
    ASSERT_TRUE(take(own_).ok());
    EXPECT_TRUE(said_.empty());
    EXPECT_FALSE(fs::exists(kept_path(own_, 1)));
    claim_.reset();
    fs::remove(part_);

    // Recovery finds the longest file.
    const std::string longest = content_of(kept_path(own_, 9));
    char text[1000] = "";
    EXPECT_EQ(tw_recover(own_.c_str(), TW_KEEP_LONGER, text, sizeof text), TW_OK) << text;
    EXPECT_EQ(content_of(own_), longest);
    EXPECT_EQ(std::string(text).find(own_ + ": 10 records recovered; an earlier run left " +
                                     kept_path(own_, 2)),
              0u)
        << text;
    // A shorter file must not replace it.
    EXPECT_EQ(tw_recover(kept_path(own_, 2).c_str(), TW_KEEP_LONGER, text, sizeof text), TW_EEXISTS)
        << text;
    EXPECT_NE(std::string(text).find("has 3 records, but " + own_ + " has 10"), std::string::npos)
        << text;
    EXPECT_EQ(content_of(own_), longest);
    EXPECT_TRUE(fs::exists(kept_path(own_, 2)));
    EXPECT_EQ(tw_recover(kept_path(own_, 2).c_str(), TW_REPLACE_LONGER, text, sizeof text), TW_OK)
        << text;
    EXPECT_NE(content_of(own_), longest);
    EXPECT_FALSE(fs::exists(kept_path(own_, 2)));
    EXPECT_EQ(tw_recover(own_.c_str(), static_cast<tw_recovery>(7), text, sizeof text), TW_EARG);
}

TEST_F(ClaimTest, AnUnfinishedFileWithoutRecordsIsRemoved) {
    make_records(part_, 0);
    ASSERT_TRUE(take(own_).ok());
    EXPECT_EQ(said_.size(), 1U);
    EXPECT_EQ(names(), (std::vector<std::string>{".history.nc.lock", "history.nc.part"}));
    EXPECT_EQ(content_of(part_), "");
}

TEST_F(ClaimTest, ALargeUnfinishedFileWithoutRecordsIsKept) {
    make_records(part_, 0);
    fs::resize_file(part_, 2 << 20);  // as if it had much data of fixed size
    ASSERT_TRUE(take(own_).ok());
    EXPECT_TRUE(fs::exists(part_ + ".1"));
}

TEST_F(ClaimTest, AFileWrittenInPlaceStaysUntilItIsCut) {
    const bool live = true;
    ASSERT_TRUE(take(own_, live).ok());
    EXPECT_TRUE(fs::exists(own_));
    claim_->discard();
    EXPECT_TRUE(names().empty());
    make_records(own_, 2);
    const std::string before = content_of(own_);
    for (const bool cuts : {false, true}) {
        const std::string log = redo_path(own_), sums = sums_path(own_);
        std::ofstream(log) << "of a killed run";
        std::ofstream(sums) << "TWSUMS1\n";
        ASSERT_TRUE(take(own_, live).ok());
        EXPECT_EQ(content_of(own_), before);
        if (cuts) {
            EXPECT_TRUE(claim_->cut().ok());
            EXPECT_TRUE(claim_->cut().ok());
        }
        EXPECT_EQ(content_of(own_), cuts ? "" : before);
        EXPECT_NE(fs::exists(log), cuts);
        EXPECT_NE(fs::exists(sums), cuts);
        claim_->discard();
        EXPECT_TRUE(fs::exists(own_));
        EXPECT_NE(fs::exists(log), cuts);
    }
    // A file that is continued is not cut.
    make_records(own_, 2);
    ASSERT_TRUE(take(own_, live, true).ok());
    EXPECT_TRUE(claim_->cut().ok());
    claim_->discard();
    EXPECT_EQ(content_of(own_), before);
}

TEST_F(ClaimTest, TheSecondNameOfAReplacedFileIsRemoved) {
    for (const bool recovers : {false, true}) {
        make_records(own_, 2);
        fs::create_hard_link(own_, former_path(own_));  // the run dies before it removes this name
        char text[1000] = "";
        if (recovers)
            EXPECT_EQ(tw_recover(own_.c_str(), TW_KEEP_LONGER, text, sizeof text), TW_OK) << text;
        else
            ASSERT_TRUE(take(own_).ok());
        EXPECT_FALSE(fs::exists(former_path(own_))) << recovers;
        EXPECT_TRUE(fs::exists(own_));
        claim_.reset();
        fs::remove(part_);
    }
}

TEST_F(ClaimTest, LogsOfAReplacedFileAreRemoved) {
    make_records(own_, 2);
    for (const std::string& log : {place_log_path(own_), redo_path(own_)})
        std::ofstream(log) << "of a killed run that appended to the file";
    ASSERT_TRUE(write(own_, "another file").ok());
    EXPECT_EQ(names(), std::vector<std::string>{"history.nc"});
}

TEST_F(ClaimTest, ChecksumsThatCannotBeKeptAreReported) {
    make_records(part_, 2);
    std::ofstream(sums_path(part_)) << "TWSUMS1\n";
    std::ofstream(sums_path(kept_path(own_, 1))) << "the user's own";
    ASSERT_TRUE(take(own_).ok());
    EXPECT_TRUE(says("earlier run as " + kept_path(own_, 1) + ", without its checksums: "));
    EXPECT_TRUE(says("this file holds no checksums, and is not replaced"));
    EXPECT_EQ(content_of(sums_path(kept_path(own_, 1))), "the user's own");
}

TEST_F(ClaimTest, ADirectoryIsInTheWay) {
    fs::create_directory(part_);
    const Status status = take(own_);
    EXPECT_EQ(status.code, TW_EIO);
    EXPECT_NE(status.text.find("a directory"), std::string::npos) << status.text;
}

// ---- what stands under the name -----------------------------------------------------------------

TEST_F(ClaimTest, LinksAreWrittenThrough) {
    fs::create_directory(folder_ + "/scratch");
    const std::string target = folder_ + "/scratch/data.nc";
    std::ofstream(target) << "old";
    fs::create_symlink("scratch/data.nc", folder_ + "/relative.nc");
    fs::create_symlink(folder_ + "/relative.nc", folder_ + "/chain.nc");
    fs::create_symlink(folder_ + "/scratch/not_yet.nc", folder_ + "/dangling.nc");
    ASSERT_TRUE(take(folder_ + "/chain.nc").ok());
    EXPECT_EQ(claim_->data_path(), target + ".part");
    ASSERT_TRUE(write(folder_ + "/chain.nc", "through").ok());
    EXPECT_EQ(content_of(target), "through");
    EXPECT_TRUE(fs::is_symlink(folder_ + "/chain.nc"));
    EXPECT_TRUE(fs::is_symlink(folder_ + "/relative.nc"));
    ASSERT_TRUE(write(folder_ + "/dangling.nc", "new").ok());
    EXPECT_EQ(content_of(folder_ + "/scratch/not_yet.nc"), "new");
    EXPECT_TRUE(fs::is_symlink(folder_ + "/dangling.nc"));
    // Both names are one file.
    ASSERT_TRUE(take(folder_ + "/relative.nc").ok());
    EXPECT_EQ(in_child([&] { return take(target).code == TW_EINUSE ? 0 : 1; }), 0);
    claim_->discard();
    // A link to a dead run's file is recovered in place.
    make_records(folder_ + "/scratch/not_yet.nc.part", 2);
    EXPECT_EQ(tw_recover((folder_ + "/dangling.nc").c_str(), TW_KEEP_LONGER, nullptr, 0), TW_OK);
    EXPECT_TRUE(fs::is_symlink(folder_ + "/dangling.nc"));
    EXPECT_EQ(content_of(folder_ + "/dangling.nc").substr(0, 3), "CDF");
    fs::create_symlink(folder_ + "/round.nc", folder_ + "/round.nc");
    EXPECT_EQ(take(folder_ + "/round.nc").code, TW_EIO);
}

TEST_F(ClaimTest, PermissionsAreKept) {
    for (const mode_t mode : {mode_t(0600), mode_t(0664), mode_t(0640), mode_t(0777)}) {
        std::ofstream(own_) << "old";
        ASSERT_EQ(chmod(own_.c_str(), mode), 0);
        ASSERT_TRUE(take(own_).ok());
        struct stat info {};
        ASSERT_EQ(stat(part_.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 07777, mode | 0600);  // no additional readers meanwhile
        ASSERT_TRUE(write(own_, "new").ok());
        ASSERT_EQ(stat(own_.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 07777, mode);
    }
    if (geteuid() != 0) GTEST_SKIP() << "owners are changed by root alone";
    ASSERT_EQ(chown(own_.c_str(), 12345, 23456), 0);
    ASSERT_TRUE(write(own_, "new").ok());
    struct stat info {};
    ASSERT_EQ(stat(own_.c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 12345u);
    EXPECT_EQ(info.st_gid, 23456u);
    EXPECT_EQ(info.st_mode & 07777, 0777u);
}

TEST_F(ClaimTest, OnlyRegularFilesAreWritten) {
    const auto refused = [&](const std::string& path, const char* words) {
        for (const bool live : {false, true}) {
            const Status status = take(path, live);
            EXPECT_EQ(status.code, TW_EIO) << path;
            EXPECT_NE(status.text.find(words), std::string::npos) << status.text;
        }
    };
    ASSERT_EQ(mkfifo(own_.c_str(), 0666), 0);
    refused(own_, "a FIFO");
    fs::create_symlink(own_, folder_ + "/link.nc");
    refused(folder_ + "/link.nc", "a FIFO");
    // Make a device for this test: a bug could remove it, and must not remove the machine's.
    const std::string device = folder_ + "/device";
    if (mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0) refused(device, "a device");
    fs::remove(device);
    refused(folder_, std::strerror(EISDIR));
    refused(folder_ + "/", "directory");
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = "s" + std::to_string(getpid());
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    refused(path, "a socket");
    ::close(socket);
    fs::remove(path);
    EXPECT_EQ(names(), (std::vector<std::string>{"history.nc", "link.nc"}));
}

TEST_F(ClaimTest, NamesMayBeAsLongAsTheSystemHasThem) {
    for (const std::size_t length : {247u, 248u, 249u, 250u, 251u, 255u}) {
        const std::string name(length, 'x'), path = folder_ + "/" + name;
        ASSERT_TRUE(take(path).ok());
        const std::string data = claim_->data_path();
        EXPECT_LE(fs::path(data).filename().string().size(), 253u);
        EXPECT_EQ(data == path + ".part", length <= 248);
        make_records(data, 2);
        claim_.reset();  // the run dies
        EXPECT_EQ(tw_recover(path.c_str(), TW_KEEP_LONGER, nullptr, 0), TW_OK);
        EXPECT_TRUE(fs::exists(path));
        ASSERT_TRUE(write(path, "new").ok());
        EXPECT_EQ(names(), std::vector<std::string>{name});
        fs::remove(path);
    }
    // Names with the same beginning are different files.
    const std::string one(254, 'x');
    EXPECT_NE(temporary_path(one + "1"), temporary_path(one + "2"));
    EXPECT_EQ(take(folder_ + "/" + std::string(256, 'x')).code, TW_EIO);
}

TEST_F(ClaimTest, WhatCannotBeReplacedIsRefusedAtOnce) {
    if (geteuid() != 0) GTEST_SKIP() << "needs files of two users";
    constexpr uid_t other = 12345;
    std::ofstream(own_) << "of root";
    ASSERT_EQ(chmod(own_.c_str(), 0666), 0);
    ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);
    const auto as_other = [&](const std::function<Status()>& act, int code, const char* words) {
        EXPECT_EQ(in_child([&] {
                      if (setuid(other) != 0) return 3;
                      const Status status = act();
                      if (status.code != code) std::fprintf(stderr, "%s\n", status.text.c_str());
                      return status.code != code                            ? 1
                             : status.text.find(words) == std::string::npos ? 2
                                                                            : 0;
                  }),
                  0);
    };
    if (in_child(
            [&] { return setuid(other) == 0 && access(folder_.c_str(), W_OK) == 0 ? 0 : 1; }) != 0)
        GTEST_SKIP() << "another user cannot reach the folder";
    as_other([&] { return take(own_); }, TW_EIO, "sticky");
    EXPECT_EQ(names(), std::vector<std::string>{"history.nc"});
    as_other([&] { return write(folder_ + "/of_other.nc", "x"); }, TW_OK, "");
    as_other([&] { return write(folder_ + "/of_other.nc", "y"); }, TW_OK, "");
    ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
    as_other([&] { return write(own_, "z"); }, TW_OK, "");
    EXPECT_EQ(content_of(own_), "z");
    // A write-protected file stays.
    ASSERT_EQ(chown(own_.c_str(), 0, 0), 0);
    ASSERT_EQ(chmod(own_.c_str(), 0444), 0);
    as_other([&] { return take(own_); }, TW_EIO, std::strerror(EACCES));
    EXPECT_EQ(content_of(own_), "z");
    // Files that another user's dead run has left must not prevent the claim.
    std::ofstream(lock_) << "thalweg somewhere 1\n";
    std::ofstream(part_) << "left";
    ASSERT_EQ(chmod(lock_.c_str(), 0644), 0);
    ASSERT_EQ(chmod(own_.c_str(), 0666), 0);
    as_other([&] { return write(own_, "again"); }, TW_OK, "");
    EXPECT_EQ(content_of(own_), "again");
    EXPECT_EQ(content_of(part_ + ".1"), "left");
    // In a folder where no files can be created, an existing file is continued without a lock.
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    as_other([&] { return take(own_); }, TW_EIO, std::strerror(EACCES));
    as_other(
        [&] {
            Status status = take(own_, false, true);
            if (status.ok() && !says("written without a lock")) status.code = TW_EINTERNAL;
            return status;
        },
        TW_OK, "");
}

}  // namespace
