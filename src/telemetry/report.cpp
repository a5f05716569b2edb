// SPDX-License-Identifier: Apache-2.0
#include "telemetry/report.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "telemetry/advice.hpp"

namespace thalweg::detail {

/// Text of page.html. The summary replaces `{}` in the element "run".
extern const char* const page_template;

namespace {

constexpr std::string_view run_place = R"(id="run">{})";

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

/// Makes the paths of files relative to the directory of the run, if they are in it.
void shorten_paths(Json& summary) {
    if (!summary.contains("folder") || !summary["folder"].is_string()) return;
    const std::string folder = summary["folder"].get<std::string>() + "/";
    if (folder == "/") return;  // not known
    for (const char* const list : {"files", "inputs"}) {
        if (!summary.contains(list) || !summary[list].is_array()) continue;
        for (Json& file : summary[list])
            if (file.is_object() && file.contains("path") && file["path"].is_string())
                if (const std::string path = file["path"]; path.starts_with(folder))
                    file["path"] = path.substr(folder.size());
    }
}

/// Formats JSON for an HTML element: without `<`, which could end the element.
std::string inside_element(const Json& json) {
    std::string safe;
    for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
        c == '<' ? safe += "\\u003c" : safe += c;
    return safe;
}

}  // namespace

Status report_page(const std::string& text, const std::string& title, std::string& page) {
    Json summary;
    if (Status status = parse_summary(text, summary); !status.ok()) return status;
    shorten_paths(summary);
    const Json run{{"title", title}, {"advice", advice_on(summary)}, {"summary", summary}};
    page = page_template;
    // Replace the two braces.
    page.replace(page.find(run_place) + run_place.size() - 2, 2, inside_element(run));
    return {};
}

}  // namespace thalweg::detail
