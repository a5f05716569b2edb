// SPDX-License-Identifier: Apache-2.0
#include "telemetry/advice.hpp"

#include <gtest/gtest.h>

#include "telemetry/report.hpp"

using namespace thalweg::detail;

namespace {

/// Returns the summary of a run of 100 s with one file, whose writers worked for 20 s.
Json run(const char* service) {
    return Json::parse(R"({"ranks": 4, "elapsed_seconds": 100, "rank_seconds": [], "files": [{
        "path": "a.nc", "method": "record", "storage": "posix", "steps": 10, "bytes": 40000000,
        "writes": 10, "write_bytes_mean": 4000000, "queue_room_bytes": 2000000, "queue_waits": 0,
        "queue_wait_seconds": 0, "service": ")" +
                       std::string(service) + R"(",
        "seconds": {"open": 0, "put": 0, "step": 0, "close": 0, "remap": 0, "wait": 0, "write": 1,
                    "drain": 0, "busy": 20}}]})");
}

std::string all_of(const Json& summary) {
    std::string all;
    for (const std::string& text : advice_on(summary)) all += text + "\n";
    return all;
}

void expect_said(const Json& summary, const std::string& words) {
    const std::string all = all_of(summary);
    EXPECT_NE(all.find(words), std::string::npos) << all;
}

TEST(Advice, IsSilentOnWhatCostsLittle) {
    Json summary = run("background");
    EXPECT_EQ(all_of(summary), "");
    auto& f = summary["files"][0];
    f["queue_wait_seconds"] = 4.9;
    f["seconds"]["drain"] = 4.9;
    EXPECT_EQ(all_of(summary), "");
    summary = run("inline");
    for (const char* name : {"open", "put", "step", "wait"})
        summary["files"][0]["seconds"][name] = 4.9;
    EXPECT_EQ(all_of(summary), "");
}

TEST(Advice, OnAFullQueue) {
    Json summary = run("background");
    auto& f = summary["files"][0];
    f["queue_wait_seconds"] = 12;
    f["queue_waits"] = 76;
    // A rank has 1 MB per step.
    expect_said(summary,
                "a.nc: the queue was full 76 times, and a rank waited up to 12.0 s (12 % of "
                "the run) for room. The writers had time left, so a longer queue helps: "
                "set queue=4MiB.");
    f["seconds"]["busy"] = 90;
    expect_said(summary,
                "at work for 90 % of the run), so a longer queue does not help: use more "
                "writers");
    f["service"] = "servers";
    expect_said(summary, "use more servers");
}

TEST(Advice, OnCallsThatWrite) {
    Json summary = run("inline");
    auto& f = summary["files"][0];
    f["seconds"]["step"] = 30;
    f["seconds"]["put"] = 20;
    f["seconds"]["wait"] = 10;
    expect_said(summary, "service=background");
    expect_said(summary, "deferred put");
    expect_said(summary, "load imbalance");
    // The advice on the largest cost comes first.
    EXPECT_NE(advice_on(summary)[0].find("tw_end_step"), std::string::npos);
    f["storage"] = "pnetcdf";
    EXPECT_EQ(all_of(summary).find("service=background"), std::string::npos);
}

TEST(Advice, AddsUpWhatFilesCost) {
    Json summary = run("inline");
    summary["files"][0]["seconds"]["open"] = 3;
    EXPECT_EQ(all_of(summary), "");
    summary["files"].push_back(summary["files"][0]);
    summary["files"][1]["path"] = "b.nc";
    summary["files"][1]["seconds"]["open"] = 4;
    expect_said(summary, "b.nc: creating the file");
    expect_said(summary, "With 1 more file: 7.00 s (7 % of the run).");
    summary["other_files"] = {{"files", 12}, {"seconds", {{"open", 9}}}};
    expect_said(summary, "12 more files: creating the file");
}

TEST(Advice, OnSmallWritesAndReading) {
    Json summary = run("servers");
    auto& f = summary["files"][0];
    f["seconds"]["write"] = 15;
    f["write_bytes_mean"] = 1000;
    expect_said(summary, "use fewer writers");
    f["queue_room_bytes"] = 1000000;
    expect_said(summary, "set queue=4MiB");
    f["method"] = "tiles";
    expect_said(summary, "use method=record");
    summary["inputs"] = Json::parse(R"([{"path": "in.nc", "reads": 5, "bytes": 10,
        "ahead_bytes": 0, "unused_bytes": 0, "seconds": {"read": 8, "file": 8}}])");
    expect_said(summary, "in.nc: reading took up to 8.00 s");
    summary["inputs"][0]["ahead_bytes"] = 10;
    summary["inputs"][0]["unused_bytes"] = 5;
    expect_said(summary, "in.nc: 5 B that were read ahead were never asked for");
}

TEST(Advice, OnRanks) {
    Json summary = run("background");
    summary["rank_seconds"] = Json::parse(R"([{"outside": 90, "other": 1, "history": 12},
                                              {"outside": 50, "other": 20, "history": 2}])");
    expect_said(summary, "Histories took up to 12.0 s (12 % of the run)");
    expect_said(summary, "between 50.0 s and 90.0 s outside the library");
    expect_said(summary, "took up to 20.0 s (20 % of the run): make decompositions once");
}

TEST(Advice, WithoutTimeOrWithOddTypesSaysNothing) {
    Json summary = run("background");
    summary["elapsed_seconds"] = 0;
    summary["files"][0]["queue_wait_seconds"] = 5;
    EXPECT_EQ(all_of(summary), "");
    EXPECT_EQ(all_of(Json::parse(R"({"elapsed_seconds": 1, "files": {"a": 1}, "inputs": [[], 3],
                                     "rank_seconds": ["x"], "other_files": 3})")),
              "");
}

TEST(Report, HasPathsRelativeToTheRun) {
    std::string page;
    const std::string summary = R"({"ranks": 1, "folder": "/run",
        "files": [{"path": "/run/a/b.nc"}, {"path": "/runs/c.nc"}]})";
    ASSERT_TRUE(report_page(summary, "Thalweg run", page).ok());
    EXPECT_NE(page.find(R"("path":"a/b.nc")"), std::string::npos);
    EXPECT_NE(page.find(R"("path":"/runs/c.nc")"), std::string::npos);
}

TEST(Report, HoldsTheSummaryAndTheAdvice) {
    const std::string summary =
        R"({"ranks": 1, "files": [{"path": "</script><!-- é \u0001"}], "a": "{}"})";
    std::string page;
    ASSERT_TRUE(report_page(summary, "a <b>", page).ok());
    const std::string begin = "id=\"run\">", end = "</script>";
    const auto at = page.find(begin) + begin.size();
    const Json held = Json::parse(page.substr(at, page.find(end, at) - at));
    EXPECT_EQ(held["summary"], Json::parse(summary));
    EXPECT_EQ(held["title"], "a <b>");
    EXPECT_TRUE(held["advice"].is_array());
}

TEST(Report, RefusesWhatIsNoSummary) {
    std::string page;
    for (const char* text : {"", "[]", "{}", "3", "{\"ranks\": 1}", "{\"ranks\": 1, \"files\": 2}",
                             "{\"ranks\": 1, \"files\": {}}"})
        EXPECT_EQ(report_page(text, "t", page).code, TW_EFORMAT) << text;
    EXPECT_EQ(report_page("{\"ranks\": 1, \"files\": []}", "t", page).code, TW_OK);
}

}  // namespace
