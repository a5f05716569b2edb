// SPDX-License-Identifier: Apache-2.0
#include "telemetry/telemetry.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

using namespace thalweg::detail;

namespace {

FileFigures figures() {
    FileFigures f;
    f.path = "a/rather/long/path/of/an/output/history \"quoted\".nc";
    f.method = "record";
    f.storage = "posix";
    f.service = "inline";
    f.format = "cdf2";
    f.writers = 3;
    f.steps = 5;
    f.times[FileTimes::open] = 0.5;
    f.times[FileTimes::plan] = 0.25;
    f.times[FileTimes::put] = 1.5;
    f.times[FileTimes::remap] = 2.5;
    f.times[FileTimes::wait] = 3.5;
    f.times[FileTimes::write] = 4.5;
    f.times[FileTimes::close] = 5.5;
    f.times[FileTimes::step] = 6.5;
    f.bytes = 5'000'000'000;
    f.writes = 7;
    f.messages = 11;
    f.message_bytes = 13;
    f.staging_bytes = 17;
    f.buffer_bytes = 19;
    return f;
}

AllFigures of(const std::vector<FileFigures>& files, const std::vector<ReadFigures>& inputs = {}) {
    AllFigures all;
    for (const FileFigures& f : files) all.add(f);
    for (const ReadFigures& f : inputs) all.add(f);
    return all;
}

TEST(Summary, AddsUpTheFilesAfterTheFirst) {
    constexpr std::size_t more = 3;
    ReadFigures input;
    input.reads = 2;
    input.bytes = 10;
    input.read = 0.5;
    const AllFigures all = of(std::vector(AllFigures::most + more, figures()),
                              std::vector(AllFigures::most + more, input));
    const std::string text = summarize(*make_serial_comm(), all);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["files"].size(), AllFigures::most);
    EXPECT_EQ(json["inputs"].size(), AllFigures::most);
    const auto& others = json["other_files"];
    EXPECT_EQ(others["files"], more);
    EXPECT_EQ(others["steps"], more * 5);
    EXPECT_EQ(others["bytes"], more * 5'000'000'000);
    EXPECT_EQ(others["writes"], more * 7);
    EXPECT_EQ(others["messages"], more * 11);
    EXPECT_EQ(others["message_bytes"], more * 13);
    EXPECT_EQ(others["staging_bytes"], 17);
    EXPECT_EQ(others["buffer_bytes"], 19);
    // The sum has all members of a file's row, except names and numbers of a single file.
    EXPECT_EQ(others.size(), json["files"][0].size() - 9 + 1);
    for (const auto& [name, value] : json["files"][0]["seconds"].items())
        EXPECT_DOUBLE_EQ(others["seconds"][name].get<double>(), more * value.get<double>()) << name;
    EXPECT_EQ(json["other_inputs"]["files"], more);
    EXPECT_EQ(json["other_inputs"]["reads"], more * 2);
    EXPECT_EQ(json["other_inputs"]["bytes"], more * 10);
    EXPECT_DOUBLE_EQ(json["other_inputs"]["seconds"]["read"].get<double>(), 1.5);
    const std::string table = summary_table(text);
    EXPECT_NE(table.find("and 3 more files with 15 steps, 15000.0 MB"), std::string::npos);
    EXPECT_NE(table.find("and 3 more read 6 times"), std::string::npos);
}

TEST(Summary, HasAllFields) {
    FileFigures first = figures();
    first.why_service = "a reason";
    const std::string summary = summarize(*make_serial_comm(), of({first, {}}));
    EXPECT_NE(summary_table(summary).find("service inline: a reason\n"), std::string::npos);
    const auto json = nlohmann::json::parse(summary);
    EXPECT_EQ(json["ranks"], 1);
    EXPECT_GT(json["peak_memory_bytes"].get<std::int64_t>(), 1 << 20);
    ASSERT_EQ(json["files"].size(), 2U);
    const auto& f = json["files"][0];
    EXPECT_EQ(f["path"], figures().path);
    EXPECT_EQ(f["method"], "record");
    EXPECT_EQ(f["storage"], "posix");
    EXPECT_EQ(f["service"], "inline");
    EXPECT_EQ(f["service_reason"], "a reason");
    EXPECT_EQ(f["format"], "cdf2");
    EXPECT_EQ(f["writers"], 3);
    EXPECT_EQ(f["steps"], 5);
    EXPECT_EQ(f["bytes"], 5'000'000'000);
    EXPECT_EQ(f["writes"], 7);
    EXPECT_EQ(f["write_bytes_mean"], 5'000'000'000 / 7);
    EXPECT_EQ(f["messages"], 11);
    EXPECT_EQ(f["message_bytes"], 13);
    EXPECT_EQ(f["staging_bytes"], 17);
    EXPECT_EQ(f["buffer_bytes"], 19);
    const std::pair<const char*, double> seconds[] = {
        {"open", 0.5},  {"plan", 0.25}, {"put", 1.5},  {"remap", 2.5}, {"wait", 3.5},
        {"write", 4.5}, {"close", 5.5}, {"step", 6.5}, {"drain", 0},   {"busy", 0}};
    EXPECT_EQ(f["seconds"].size(), std::size(seconds));
    for (const auto& [name, value] : seconds)
        EXPECT_DOUBLE_EQ(f["seconds"][name].get<double>(), value) << name;
    EXPECT_EQ(json["files"][1]["write_bytes_mean"], 0);
    EXPECT_FALSE(json.contains("other_files"));
}

TEST(Summary, TellsOfInputs) {
    ReadFigures f;
    f.path = "forcing.nc";
    f.format = "cdf5";
    f.readers = 4;
    f.reads = 3;
    f.bytes = 6'000'000'000;
    f.calls = 5;
    f.ahead = 4'000'000'000;
    f.unused = 7;
    f.messages = 11;
    f.message_bytes = 13;
    f.open = 0.5;
    f.read = 1.5;
    f.file = 2.5;
    f.unpack = 3.5;
    f.wait = 4.5;
    const std::string text = summarize(*make_serial_comm(), of({}, {f}));
    const auto json = nlohmann::json::parse(text);
    ASSERT_EQ(json["inputs"].size(), 1U);
    const auto& row = json["inputs"][0];
    EXPECT_EQ(row["path"], "forcing.nc");
    EXPECT_EQ(row["format"], "cdf5");
    const std::pair<const char*, std::int64_t> counts[] = {
        {"readers", 4},           {"reads", 3},        {"bytes", f.bytes}, {"calls", 5},
        {"ahead_bytes", f.ahead}, {"unused_bytes", 7}, {"messages", 11},   {"message_bytes", 13}};
    for (const auto& [name, value] : counts) EXPECT_EQ(row[name], value) << name;
    const std::pair<const char*, double> seconds[] = {
        {"open", 0.5}, {"read", 1.5}, {"file", 2.5}, {"unpack", 3.5}, {"wait", 4.5}};
    for (const auto& [name, value] : seconds)
        EXPECT_DOUBLE_EQ(row["seconds"][name].get<double>(), value) << name;
    EXPECT_NE(summary_table(text).find("forcing.nc"), std::string::npos);
}

TEST(Summary, WithoutFiles) {
    const std::string json = summarize(*make_serial_comm(), {});
    EXPECT_TRUE(nlohmann::json::parse(json)["files"].empty());
    EXPECT_EQ(nlohmann::json::parse(json)["program"], "test_telemetry");
    EXPECT_FALSE(summary_table(json).empty());
}

TEST(Summary, TableHasALineAFile) {
    const std::string table =
        summary_table(summarize(*make_serial_comm(), of({figures(), figures()})));
    std::istringstream stream(table);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    ASSERT_EQ(lines.size(), 4U);
    for (const char* word : {"record", "posix", "5000.0", "2.5", "4.5", ".nc"})
        EXPECT_NE(lines[1].find(word), std::string::npos) << lines[1];
    // 5000 MB in 13.5 s of put, step and close
    EXPECT_NE(lines[1].find("370.4"), std::string::npos) << lines[1];
    EXPECT_NE(lines[3].find("1 ranks"), std::string::npos) << lines[3];
}

TEST(PeakMemory, IsAboutWhatWasTouched) {
    const std::int64_t before = peak_memory();
    std::vector<char> block(std::size_t(64) << 20, 'x');
    EXPECT_EQ(block[block.size() / 2], 'x');
    EXPECT_GE(peak_memory(), std::max<std::int64_t>(before, 64 << 20));
}

}  // namespace
