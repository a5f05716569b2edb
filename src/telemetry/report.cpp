// SPDX-License-Identifier: Apache-2.0
#include "telemetry/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "telemetry/advice.hpp"
#include "telemetry/html.hpp"

namespace thalweg::detail {

namespace {

constexpr const char* page_style = R"(
:root { color-scheme: light dark; --ink: #1b2733; --paper: #fff; --line: #d5dce3; --soft: #f3f6f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dde4ea; --paper: #14191e; --line: #36414b; --soft: #1d242b; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 1080px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; margin-bottom: .2em; }
h2 { font-size: 1.2em; margin-top: 2em; border-bottom: 1px solid var(--line); }
h3 { font-size: 1em; margin-bottom: .3em; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9em; }
th, td { padding: .25em .6em; border-bottom: 1px solid var(--line); text-align: left; }
th { font-weight: 600; vertical-align: bottom; }
td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.tiles { display: flex; flex-wrap: wrap; gap: .6em; padding: 0; list-style: none; }
.tiles li { background: var(--soft); border-radius: 6px; padding: .5em 1em; }
.tiles b { display: block; font-size: 1.3em; }
.advice li { background: var(--soft); border-left: 4px solid #d98324; margin: .5em 0;
             padding: .4em .8em; list-style: none; overflow-wrap: anywhere; }
.advice { padding: 0; }
.legend span { white-space: nowrap; margin-right: 1em; font-size: .9em; }
.legend svg { display: inline-block; width: .8em; height: .8em; }
text { fill: var(--ink); font-size: 12px; }
text.t { text-anchor: end; } text.s { font-size: 8px; } text.m { text-anchor: middle; }
details { border: 1px solid var(--line); border-radius: 6px; padding: .3em 1em; margin: .6em 0; }
summary { cursor: pointer; overflow-wrap: anywhere; font-weight: 600; }
.p0 { fill: #a9b8c6; } .p1 { fill: #8a63b8; } .p2 { fill: #d9a424; } .p3 { fill: #2f7fbf; }
.p4 { fill: #c2503f; } .p5 { fill: #3c9a6a; } .p6 { fill: #7a6a58; } .p7 { fill: #49b2b8; }
)";

/// Parts of the time since tw_init: a name of the summary, what it is called, its colour.
struct Phase {
    const char* name;
    const char* title;
    const char* colour;
};
constexpr Phase rank_phases[] = {{"outside", "outside the library", "p0"},
                                 {"open", "create, enddef", "p1"},
                                 {"put", "put", "p2"},
                                 {"step", "end_step, sync", "p3"},
                                 {"close", "close", "p4"},
                                 {"read", "read", "p5"},
                                 {"other", "other calls", "p6"}};
constexpr Phase file_phases[] = {{"open", "create, enddef", "p1"},
                                 {"put", "put", "p2"},
                                 {"step", "end_step, sync", "p3"},
                                 {"close", "close", "p4"}};
/// What happens within the calls, or in the background.
constexpr Phase inner_phases[] = {
    {"remap", "pack and move", "p7"}, {"wait", "wait for ranks", "p0"}, {"write", "write", "p3"}};

/// Files that are shown one by one; all are in the table.
constexpr std::size_t most_shown = 50;

template <std::size_t N>
std::vector<BarPart> parts_of(const Phase (&phases)[N], const Json& row) {
    std::vector<BarPart> parts;
    for (const Phase& p : phases) {
        const double value = number_in(row, p.name);
        parts.push_back({p.title, p.colour, value, seconds_text(value)});
    }
    return parts;
}

template <std::size_t N>
double sum_of(const Phase (&phases)[N], const Json& row) {
    double sum = 0;
    for (const Phase& p : phases) sum += number_in(row, p.name);
    return sum;
}

std::string tile(const char* title, const std::string& value) {
    return fmt::format("<li>{}<b>{}</b></li>\n", title, escaped(value));
}

double total(const Json& summary, const char* list, const char* others, const char* name) {
    double sum = number_in(part_in(summary, others), name);
    for (const Json& f : part_in(summary, list)) sum += number_in(f, name);
    return sum;
}

std::string tiles_html(const Json& summary) {
    const Json& others = part_in(summary, "other_files");
    const double files = part_in(summary, "files").size() + number_in(others, "files");
    return "<ul class=\"tiles\">\n" +
           tile("ranks", fmt::format("{}", number_in(summary, "ranks"))) +
           tile("time since tw_init", seconds_text(number_in(summary, "elapsed_seconds"))) +
           tile("files written", fmt::format("{}", files)) +
           tile("bytes written", bytes_text(total(summary, "files", "other_files", "bytes"))) +
           tile("bytes read", bytes_text(total(summary, "inputs", "other_inputs", "bytes"))) +
           tile("peak memory of a rank", bytes_text(number_in(summary, "peak_memory_bytes"))) +
           "</ul>\n";
}

std::string advice_html(const Json& summary) {
    const std::vector<std::string> said = advice_on(summary);
    std::string html = "<h2 id=\"advice\">Advice</h2>\n";
    if (said.empty())
        return html + fmt::format("<p>Nothing took more than {} of the run.</p>\n",
                                  share_text(advice_share));
    html += "<ul class=\"advice\">\n";
    for (const std::string& text : said) html += "<li>" + escaped(text) + "</li>\n";
    return html + "</ul>\n";
}

std::string rank_label(const Json& row) {
    const double first = number_in(row, "first"), last = number_in(row, "last");
    return first == last ? fmt::format("rank {}", first) : fmt::format("ranks {}-{}", first, last);
}

std::string ranks_html(const Json& summary) {
    const Json& rows = part_in(summary, "rank_seconds");
    if (rows.empty()) return "";
    std::vector<Bar> bars;
    std::vector<std::string> titles{"ranks"};
    for (const Phase& p : rank_phases) titles.emplace_back(p.title);
    std::string table = header_row(titles);
    for (const Json& row : rows) {
        bars.push_back({rank_label(row), parts_of(rank_phases, row)});
        table += "<tr>" + cell(rank_label(row));
        for (const BarPart& p : bars.back().parts) table += cell(p.value, p.shown);
        table += "</tr>\n";
    }
    return "<h2 id=\"ranks\">Where the time went, by rank</h2>\n"
           "<p>Seconds since tw_init. Time outside the library is the model's; servers are not "
           "among the ranks.</p>\n" +
           legend(bars.front().parts) + bar_chart(bars, "time by rank") +
           "<details><summary>Figures</summary><div class=\"scroll\"><table>\n" + table +
           "</table></div></details>\n";
}

std::string file_table_html(const Json& summary) {
    std::string html =
        "<h2 id=\"files\">Files written</h2>\n<p>Seconds of the slowest rank; with a service, "
        "<i>write</i> is the work of the slowest writer, in the background.</p>\n"
        "<div class=\"scroll\"><table>\n" +
        header_row({"file", "method", "storage", "service", "format", "writers", "steps", "bytes",
                    "writes", "mean write", "messages", "create, enddef", "put", "end_step, sync",
                    "close", "pack and move", "wait for ranks", "write"});
    const auto row = [&](const Json& f, const std::string& path) {
        const Json& s = part_in(f, "seconds");
        html += "<tr>" + cell(path);
        for (const char* name : {"method", "storage", "service", "format"})
            html += cell(text_in(f, name));
        for (const char* name : {"writers", "steps"})
            html += cell(number_in(f, name), fmt::format("{}", number_in(f, name)));
        html += cell(number_in(f, "bytes"), bytes_text(number_in(f, "bytes")));
        html += cell(number_in(f, "writes"), fmt::format("{}", number_in(f, "writes")));
        html +=
            cell(number_in(f, "write_bytes_mean"), bytes_text(number_in(f, "write_bytes_mean")));
        html += cell(number_in(f, "messages"), fmt::format("{}", number_in(f, "messages")));
        for (const BarPart& p : parts_of(file_phases, s)) html += cell(p.value, p.shown);
        for (const BarPart& p : parts_of(inner_phases, s)) html += cell(p.value, p.shown);
        html += "</tr>\n";
    };
    for (const Json& f : part_in(summary, "files")) row(f, text_in(f, "path"));
    if (const Json& others = part_in(summary, "other_files"); others.is_object())
        row(others, fmt::format("{} more files", number_in(others, "files")));
    return html + "</table></div>\n";
}

/// What a queue's writers did while the model went on.
std::string hidden_html(const Json& f) {
    const Json& s = part_in(f, "seconds");
    const double busy = number_in(s, "busy"), behind = hidden_seconds(f);
    if (text_in(f, "service") == "inline")
        return "<p>Nothing was written in the background: with service=inline the model's calls "
               "write.</p>\n";
    const double waited = std::max(0.0, busy - behind);
    return fmt::format(
               "<p>The slowest writer worked for {}: {} of it in the background, while ranks "
               "waited "
               "{} for room in the queue and {} for the end of writing.</p>\n",
               seconds_text(busy), seconds_text(behind),
               seconds_text(number_in(f, "queue_wait_seconds")),
               seconds_text(number_in(s, "drain"))) +
           bar_chart({{"writer: " + seconds_text(busy),
                       {{"in the background", "p5", behind, seconds_text(behind)},
                        {"waited for", "p4", waited, seconds_text(waited)}}}},
                     "written in the background");
}

std::string queue_html(const Json& f) {
    const double room = number_in(f, "queue_room_bytes");
    if (text_in(f, "service") == "inline" || room <= 0) return "";
    const double most = number_in(f, "queue_bytes"), mean = number_in(f, "queue_bytes_mean");
    std::string html = fmt::format(
        "<p>Queue of a rank: {} of room; at most {} in it ({}), {} on average when a step was "
        "handed over. It was full {:.0f} times.</p>\n",
        bytes_text(room), bytes_text(most), share_text(most / room), bytes_text(mean),
        number_in(f, "queue_waits"));
    const auto bar = [&](const char* label, double bytes) -> Bar {
        return {label,
                {{"used", "p7", bytes, bytes_text(bytes)},
                 {"free", "p0", room - bytes, bytes_text(room - bytes)}}};
    };
    return html + bar_chart({bar("most", most), bar("mean", mean)}, "queue use");
}

/// "4 KiB": sizes are powers of two.
std::string class_label(double from) {
    static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; from >= 1024 && unit + 1 < units.size(); ++unit) from /= 1024;
    return fmt::format("{} {}", from, units[unit]);
}

std::string write_sizes_html(const Json& f) {
    const Json& rows = part_in(f, "write_sizes");
    if (rows.empty()) return "";
    std::vector<Column> columns;
    for (const Json& row : rows)
        columns.push_back({class_label(number_in(row, "from")), number_in(row, "writes")});
    return "<h3>Sizes of the writes</h3>\n<p>Number of writes of at least so many bytes and less "
           "than twice as many.</p>\n" +
           column_chart(columns, "sizes of the writes");
}

std::string settings_html(const Json& f) {
    const Json& rows = part_in(f, "settings");
    if (rows.empty()) return "";
    std::string html = "<h3>Settings</h3>\n<div class=\"scroll\"><table>\n" +
                       header_row({"setting", "asked for", "used", "why"});
    for (const Json& row : rows)
        html += "<tr>" + cell(text_in(row, "name")) + cell(text_in(row, "asked")) +
                cell(text_in(row, "value")) + cell(text_in(row, "reason")) + "</tr>\n";
    return html + "</table></div>\n";
}

std::string one_file_html(const Json& f, bool open) {
    const Json& s = part_in(f, "seconds");
    return fmt::format("<details{}><summary>{}</summary>\n", open ? " open" : "",
                       escaped(text_in(f, "path"))) +
           "<h3>In calls, slowest rank</h3>\n" + legend(parts_of(file_phases, s)) +
           bar_chart({{"calls: " + seconds_text(sum_of(file_phases, s)), parts_of(file_phases, s)}},
                     "time in calls") +
           "<h3>Packing, waiting, writing</h3>\n" + legend(parts_of(inner_phases, s)) +
           bar_chart(
               {{"work: " + seconds_text(sum_of(inner_phases, s)), parts_of(inner_phases, s)}},
               "packing, waiting, writing") +
           "<h3>Written in the background</h3>\n" + hidden_html(f) + queue_html(f) +
           write_sizes_html(f) + settings_html(f) + "</details>\n";
}

/// Those that took longest, in the order of the summary.
std::string details_html(const Json& summary) {
    std::vector<std::pair<double, std::size_t>> by_time;
    const Json& files = part_in(summary, "files");
    for (std::size_t i = 0; i < files.size(); ++i) {
        const Json& s = part_in(files[i], "seconds");
        by_time.emplace_back(-sum_of(file_phases, s) - sum_of(inner_phases, s), i);
    }
    std::sort(by_time.begin(), by_time.end());
    if (by_time.size() > most_shown) by_time.resize(most_shown);
    std::sort(by_time.begin(), by_time.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string html;
    for (const auto& [time, i] : by_time) html += one_file_html(files[i], by_time.size() <= 3);
    if (files.size() > most_shown)
        html += fmt::format("<p>Only the {} files that took longest are shown one by one.</p>\n",
                            most_shown);
    return html;
}

std::string inputs_html(const Json& summary) {
    const Json& files = part_in(summary, "inputs");
    const Json& others = part_in(summary, "other_inputs");
    if (files.empty() && !others.is_object()) return "";
    std::string html =
        "<h2 id=\"inputs\">Files read</h2>\n<div class=\"scroll\"><table>\n" +
        header_row({"file", "format", "readers", "reads", "bytes", "read ahead", "not asked for",
                    "calls", "open", "read", "file system", "unpack", "wait for ranks"});
    const auto row = [&](const Json& f, const std::string& path) {
        html += "<tr>" + cell(path) + cell(text_in(f, "format"));
        for (const char* name : {"readers", "reads"})
            html += cell(number_in(f, name), fmt::format("{}", number_in(f, name)));
        for (const char* name : {"bytes", "ahead_bytes", "unused_bytes"})
            html += cell(number_in(f, name), bytes_text(number_in(f, name)));
        html += cell(number_in(f, "calls"), fmt::format("{}", number_in(f, "calls")));
        for (const char* name : {"open", "read", "file", "unpack", "wait"}) {
            const double value = number_in(part_in(f, "seconds"), name);
            html += cell(value, seconds_text(value));
        }
        html += "</tr>\n";
    };
    for (const Json& f : files) row(f, text_in(f, "path"));
    if (others.is_object()) row(others, fmt::format("{} more files", number_in(others, "files")));
    return html + "</table></div>\n";
}

Status parse_summary(const std::string& text, Json& summary) {
    try {
        summary = Json::parse(text);
    } catch (const Json::exception& e) {
        return failure(TW_EFORMAT, "not a summary: {}", e.what());
    }
    if (summary.is_object() && summary.contains("ranks") && summary.contains("files") &&
        summary["files"].is_array())
        return {};
    return failure(TW_EFORMAT, "not a summary: it has no 'ranks' and no list 'files'");
}

}  // namespace

Status report_page(const std::string& text, const std::string& title, std::string& page) {
    Json summary;
    if (Status status = parse_summary(text, summary); !status.ok()) return status;
    const bool none = part_in(summary, "files").empty() && part_in(summary, "inputs").empty();
    page =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
        escaped(title) + "</title>\n<style>" + page_style + "</style>\n</head>\n<body>\n<h1>" +
        escaped(title) + "</h1>\n" + tiles_html(summary);
    if (none) page += "<p>The run has written and read no files.</p>\n";
    page += advice_html(summary) + ranks_html(summary);
    if (!part_in(summary, "files").empty())
        page += file_table_html(summary) + details_html(summary);
    page += inputs_html(summary) + "</body>\n</html>\n";
    return {};
}

}  // namespace thalweg::detail
