// Tests calibration files, and the rate as a function of the number of writers.
//
// SPDX-License-Identifier: Apache-2.0
#include "plan/machine.hpp"

#include <gtest/gtest.h>

using namespace thalweg::detail;
using namespace thalweg::planning;

namespace {

const std::string good =
    "ranks = 4\nnodes = 1\ncores = 2\npack = 5e9\n"
    "[[folder]]\npath = \"/scratch\"\nfile_system = \"lustre\"\n"
    "create = 0.002\nrename = 0.001\ncall = 1e-4\nwriters = [1, 4]\nrate = [1e9, 3e9]\n";

std::string error_of(const std::string& text) {
    Machine machine;
    const Status status = parse_machine(text, "m.toml", machine);
    EXPECT_EQ(status.code, TW_ESETTING) << text;
    return status.text;
}

std::string without(const std::string& line) {
    std::string text = good;
    const auto at = text.find(line);
    EXPECT_NE(at, std::string::npos);
    return text.erase(at, line.size());
}

}  // namespace

TEST(Machine, ReadsWhatItWrites) {
    Machine machine;
    machine.ranks = 8;
    machine.nodes = 2;
    machine.cores = 4;
    machine.pack = 4.25e9;
    machine.inside = 7.5e9;
    machine.run = 3.5e-9;
    Folder folder = assumed_folder(file_system_of(0xEF53, 4096));
    folder.path = "/a \"b\"\\c\td";
    folder.request = 0.25;
    folder.lock = 0.5;
    folder.locks = 12.5;
    folder.node_rate = 3.5e9;
    machine.folders = {folder};
    Machine read;
    const Status status = parse_machine(text_of(machine, "made by a test"), "m.toml", read);
    ASSERT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(read.ranks, 8);
    EXPECT_EQ(read.nodes, 2);
    EXPECT_DOUBLE_EQ(read.pack, 4.25e9);
    EXPECT_DOUBLE_EQ(read.inside, 7.5e9);
    EXPECT_DOUBLE_EQ(read.run, 3.5e-9);
    ASSERT_EQ(read.folders.size(), 1u);
    EXPECT_EQ(read.folders[0].path, folder.path);
    EXPECT_EQ(read.folders[0].rate, folder.rate);
    EXPECT_EQ(read.folders[0].durable, folder.durable);
    EXPECT_DOUBLE_EQ(read.folders[0].processor, folder.processor);
    EXPECT_DOUBLE_EQ(read.folders[0].request, folder.request);
    EXPECT_DOUBLE_EQ(read.folders[0].lock, folder.lock);
    EXPECT_DOUBLE_EQ(read.folders[0].locks, folder.locks);
    EXPECT_DOUBLE_EQ(read.folders[0].node_rate, folder.node_rate);
}

TEST(Machine, SaysWhatIsAssumed) {
    Machine machine;
    machine.ranks = 4;
    machine.nodes = 2;
    FileSystem lustre;
    ASSERT_TRUE(file_system_named("lustre", lustre));
    machine.folders = {assumed_folder(lustre)};
    EXPECT_EQ(text_of(machine, "").find("assumed"), std::string::npos);
    machine.nodes = 1;
    const std::string text = text_of(machine, "");
    for (const char* const key : {"locks", "node_rate"}) {
        const auto line = text.substr(text.find(fmt::format("\n{} = ", key)) + 1);
        EXPECT_NE(line.substr(0, line.find('\n')).find("assumed"), std::string::npos) << text;
    }
}

TEST(Machine, WhatOneRankCannotMeasureIsLeftOut) {
    Machine machine, read;
    machine.ranks = machine.nodes = machine.cores = 1;
    machine.inside = machine.message = 0;
    const Status status = parse_machine(text_of(machine, "made by a test"), "m.toml", read);
    ASSERT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(read.inside, Machine{}.inside);
    EXPECT_EQ(read.message, Machine{}.message);
}

TEST(Machine, RatesBetweenAndBeyondWhatWasMeasured) {
    Folder folder;
    folder.writers = {1, 4};
    folder.rate = {1e9, 3e9};
    folder.durable = {5e8, 5e8};
    EXPECT_DOUBLE_EQ(rate_of(folder, 1, false), 1e9);
    EXPECT_DOUBLE_EQ(rate_of(folder, 2.5, false), 2e9);
    EXPECT_DOUBLE_EQ(rate_of(folder, 4, false), 3e9);
    EXPECT_DOUBLE_EQ(rate_of(folder, 1000, false), 3e9);
    EXPECT_DOUBLE_EQ(rate_of(folder, 1000, true), 5e8);
    folder.writers = {2, 4};  // one of two writers writes half of it
    EXPECT_DOUBLE_EQ(rate_of(folder, 1, false), 5e8);
}

TEST(Machine, TheFolderOfAPath) {
    Machine machine;
    for (const char* path : {"/scratch", "/scratch/fast", "/home"}) {
        Folder folder;
        folder.path = path;
        folder.file_system = path == std::string("/home") ? "nfs" : "lustre";
        machine.folders.push_back(folder);
    }
    EXPECT_EQ(machine.folder_of("/scratch/run", "lustre")->path, "/scratch");
    EXPECT_EQ(machine.folder_of("/scratch/fast/run", "lustre")->path, "/scratch/fast");
    EXPECT_EQ(machine.folder_of("/scratchy", "nfs")->path, "/home");
    EXPECT_EQ(machine.folder_of("/data", "ext4"), nullptr);
}

TEST(Machine, ErrorsNameTheFileAndTheKey) {
    EXPECT_EQ(error_of("ranks = "), "m.toml, line 1: " + error_of("ranks = ").substr(16));
    EXPECT_EQ(error_of(without("cores = 2\n")), "m.toml: the key 'cores' is missing");
    EXPECT_EQ(error_of("speed = 1\n" + good),
              "m.toml: unknown key 'speed'; the keys are ranks, nodes, cores, pack, pack_node, "
              "agree, latency, message, inside, compress, run, folder");
    EXPECT_EQ(error_of("packs = 1\n" + good), "m.toml: unknown key 'packs'; did you mean 'pack'?");
    EXPECT_EQ(error_of("latency = -1\n" + good), "m.toml: key 'latency': expected a number >= 0");
    EXPECT_EQ(error_of("latency = nan\n" + good), "m.toml: key 'latency': expected a number >= 0");
    EXPECT_EQ(error_of("message = 0\n" + good), "m.toml: key 'message': expected a number > 0");
    EXPECT_EQ(error_of("message = \"5\"\n" + good),
              "m.toml: key 'message': expected a number >= 0");
    EXPECT_EQ(error_of(without("call = 1e-4\n")),
              "m.toml: [[folder]] 1: the key 'call' is missing");
    EXPECT_EQ(error_of(good + "durable = [1]\n"),
              "m.toml: [[folder]] 1: key 'durable': expected as many numbers as 'writers' has (2)");
    EXPECT_EQ(error_of(without("writers = [1, 4]\n") + "writers = [4, 1]\n"),
              "m.toml: [[folder]] 1: key 'writers': expected an ascending list");
    EXPECT_EQ(error_of(without("rate = [1e9, 3e9]\n") + "rate = []\n"),
              "m.toml: [[folder]] 1: key 'rate': expected a list of numbers > 0");
    EXPECT_EQ(error_of(without("rate = [1e9, 3e9]\n") + "rats = [1]\n"),
              "m.toml: [[folder]] 1: unknown key 'rats'; did you mean 'rate'?");
}

TEST(Machine, AssumedFiguresOfEveryKind) {
    for (const std::int64_t magic : {0xEF53, 0x0BD00BD0, 0x6969, 0x1234}) {
        const Folder folder = assumed_folder(file_system_of(magic, 4096));
        ASSERT_FALSE(folder.writers.empty());
        EXPECT_EQ(folder.writers.front(), 1);
        EXPECT_EQ(folder.rate.size(), folder.writers.size());
        EXPECT_EQ(folder.durable.size(), folder.writers.size());
    }
}
