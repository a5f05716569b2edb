// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/file_system.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "choose/choose.hpp"

using namespace thalweg::detail;

namespace {

constexpr std::int64_t ext4 = 0xEF53, lustre = 0x0BD00BD0, nfs = 0x6969, fuse = 0x65735546,
                       other = 0x12345;

TEST(FileSystem, ChoosesWhatIsSafe) {
    struct Row {
        std::int64_t magic;
        int nodes;
        const char *asked_storage, *asked_writers;
        const char *storage, *writers, *warning;  // expected options; "": none
        bool pnetcdf = true;
        bool direct = false;
    };
    const Row rows[] = {
        {ext4, 1, "auto", "auto", "posix", "1/node", ""},
        {ext4, 5, "auto", "auto", "posix", "1/node", ""},
        {lustre, 5, "auto", "auto", "posix", "4/node", ""},
        {lustre, 5, "pnetcdf", "2/node", "pnetcdf", "2/node", ""},
        {nfs, 1, "auto", "auto", "posix", "1/node", ""},
        {nfs, 2, "auto", "auto", "pnetcdf", "1/node", "using storage=pnetcdf"},
        {nfs, 2, "auto", "auto", "posix", "1", "using writers=1", false},
        {nfs, 2, "auto", "3", "posix", "3", "storage=posix may lose bytes; use writers=1", false},
        {nfs, 2, "posix", "3", "posix", "3", "may lose bytes"},
        {nfs, 2, "pnetcdf", "3", "pnetcdf", "3", ""},
        {fuse, 1, "auto", "auto", "posix", "1/node", ""},
        {fuse, 2, "auto", "auto", "posix", "1", "using writers=1"},
        {fuse, 2, "auto", "1", "posix", "1", ""},
        {fuse, 2, "auto", "2/node", "posix", "2/node", "writers=1 is safe"},
        {fuse, 2, "auto", "auto", "posix", "1/node", "another method with writers=1", true, true},
        {fuse, 2, "auto", "1", "posix", "1", "another method with writers=1", true, true},
        {nfs, 2, "auto", "auto", "pnetcdf", "1/node", "using storage=pnetcdf", true, true},
        {nfs, 2, "posix", "1", "posix", "1", "or another method with writers=1", true, true},
        {other, 3, "auto", "auto", "posix", "1", "of type 0x12345"},
    };
    for (const Row& row : rows) {
        const FileSystemOptions way = choose_for_file_system(
            file_system_of(row.magic, 4096), row.nodes,
            {row.asked_storage, row.asked_writers, -1, -1, "", row.direct}, row.pnetcdf);
        SCOPED_TRACE(testing::Message() << std::hex << row.magic << " on " << row.nodes << ", "
                                        << row.asked_storage << ", " << row.asked_writers);
        EXPECT_EQ(way.storage, row.storage);
        EXPECT_EQ(way.writers, row.writers);
        EXPECT_EQ(way.warning.empty(), row.warning[0] == '\0') << way.warning;
        EXPECT_NE(way.warning.find(row.warning), std::string::npos) << way.warning;
    }
}

// Another node may have another file under the name of the file that rank 0 has created.
TEST(FileSystem, TellsAFileFromAnotherOfItsName) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("identity" + std::to_string(getpid()));
    const auto make = [](const std::string& name) { std::ofstream(name) << "x"; };
    make(path);
    const FileIdentity created = identity_at(path);
    if (created.device == 0) GTEST_SKIP() << "no local disk";
    EXPECT_NE(created.inode, 0U);
    EXPECT_TRUE(check_identity(path, created).ok());
    EXPECT_TRUE(check_identity(path, {}).ok());  // an unknown identity is accepted
    FileIdentity elsewhere = created;
    elsewhere.kernel ^= 1;  // another machine, whose disk has the same numbers, runs another kernel
    EXPECT_EQ(check_identity(path, elsewhere).code, TW_EIO);
    elsewhere.kernel = 0;
    EXPECT_TRUE(check_identity(path, elsewhere).ok());
    std::filesystem::rename(path, path + ".old");
    Status status = check_identity(path, created);
    EXPECT_NE(status.text.find("does not see the file"), std::string::npos) << status.text;
    make(path);
    status = check_identity(path, created);
    EXPECT_NE(status.text.find("this is another file"), std::string::npos) << status.text;
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".old");
}

TEST(FileSystem, AlignsToStripesAndBlocks) {
    auto alignment = [](std::int64_t magic, std::int64_t block, std::int64_t asked,
                        std::int64_t stripe) {
        return choose_for_file_system(file_system_of(magic, block), 4,
                                      {"auto", "auto", asked, stripe, ""}, true)
            .alignment;
    };
    EXPECT_EQ(alignment(ext4, 4096, -1, -1), 4096);
    EXPECT_EQ(alignment(ext4, 4096, -1, 1 << 22), 4096);
    EXPECT_EQ(alignment(lustre, 4096, -1, -1), 1 << 20);
    EXPECT_EQ(alignment(lustre, 1 << 23, -1, -1), 1 << 23);
    EXPECT_EQ(alignment(lustre, 4096, -1, 1 << 22), 1 << 22);
    EXPECT_EQ(alignment(lustre, 4096, 512, 1 << 22), 512);
}

TEST(FileSystem, StripesWhereThereAreNone) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("stripes" + std::to_string(getpid()));
    std::string said;
    EXPECT_TRUE(create_striped(path, false, -1, -1, said).ok());
    EXPECT_EQ(said, "");
    EXPECT_TRUE(create_striped(path, false, 4, 1 << 20, said).ok());
    EXPECT_NE(said.find("not Lustre"), std::string::npos) << said;
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_EQ(stripe_size_of(path), -1);
    std::filesystem::remove(path);
    const Status status = create_striped(path + "/x", false, 4, -1, said);
    EXPECT_EQ(status.code, TW_EIO);
    EXPECT_EQ(status.text, path + "/x: the folder " + path + " does not exist");
}

}  // namespace
