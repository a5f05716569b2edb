// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "run/run.hpp"
#include "size_text.hpp"

namespace thalweg::app {

namespace {

using Json = nlohmann::json;

/// Returns a number from a summary; 0 if an older version of the summary lacks it.
double number(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

/// Returns the seconds in calls on the rank that spent most, and the seconds of the whole run.
std::pair<double, double> in_calls(const Json& summary) {
    const double elapsed = number(summary, "elapsed_seconds");
    double most = 0;
    for (const Json& rank : summary.value("rank_seconds", Json::array()))
        most = std::max(most, elapsed - number(rank, "outside"));
    return {most, elapsed};
}

/// Returns the seconds that the slowest writer of a file spent on writing while no rank waited for
/// it.
double hidden(const Json& file) {
    if (file.value("service", "inline") == "inline") return 0;
    const Json seconds = file.value("seconds", Json::object());
    return std::max(0.0, number(seconds, "busy") - number(file, "queue_wait_seconds") -
                             number(seconds, "drain"));
}

/// Returns how a file was written, for example "method=record service=inline writers=2".
std::string choice_of(const Json& file) {
    std::string text = fmt::format("method={} service={} writers={}", file.value("method", "?"),
                                   file.value("service", "?"), file.value("writers", 0));
    if (const std::string storage = file.value("storage", "posix"); storage != "posix")
        text += " storage=" + storage;
    return text;
}

/// Returns how most files were written, and the number of the others.
std::string choices_of(const Json& files) {
    std::map<std::string, int> counts;
    for (const Json& file : files) ++counts[choice_of(file)];
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == counts.end()) return "";
    const int others = static_cast<int>(files.size()) - most->second;
    return "; " + most->first +
           (others > 0 ? fmt::format(" ({} otherwise)", count_text(others, "file")) : "");
}

}  // namespace

std::string run_line(const std::string& json) {
    const Json summary = Json::parse(json, nullptr, false);
    if (!summary.is_object() || !summary.contains("files")) return "";
    const Json files = summary["files"], inputs = summary.value("inputs", Json::array());
    const Json others = summary.value("other_files", Json::object());
    double bytes = number(others, "bytes"), read = 0, background = hidden(others);
    for (const Json& file : files) {
        bytes += number(file, "bytes");
        background += hidden(file);
    }
    for (const Json& file : inputs) read += number(file, "bytes");
    const auto [calls, elapsed] = in_calls(summary);
    std::string line = fmt::format(
        "{} in {}", size_text(static_cast<std::int64_t>(bytes)),
        count_text(static_cast<std::int64_t>(files.size() + number(others, "files")), "file"));
    if (!inputs.empty())
        line += fmt::format(", {} read from {}", size_text(static_cast<std::int64_t>(read)),
                            count_text(static_cast<std::int64_t>(inputs.size()), "file"));
    line +=
        fmt::format(", {:.2f} of {:.2f} s in calls, {:.2f} s hidden", calls, elapsed, background);
    return line + choices_of(files);
}

}  // namespace thalweg::app
