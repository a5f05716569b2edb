// SPDX-License-Identifier: Apache-2.0
#include "streams/convert.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "from_xml.hpp"
#include "python.hpp"

namespace thalweg::app {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", c);
        else
            out += c;
    }
    return out + '"';
}

std::string trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::string in_lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    return lower;
}

namespace {

/// Returns what a text is that is certainly no configuration of FMS or CICE; empty if it may be
/// one.
std::string other_form(std::string_view text) {
    const std::string begin = trimmed(text.substr(0, 1000));
    const auto is_control = [](unsigned char c) {
        return (c < 0x20 && std::isspace(c) == 0) || c == 0x7f;
    };
    if (trimmed(text).empty()) return "it is empty";
    if (std::ranges::any_of(text, is_control)) return "it is not text";
    if (begin.starts_with("[[") || begin.starts_with("[h"))
        return "it is TOML, as the configuration of a history is";
    if (begin.starts_with('{') || begin.starts_with('[')) return "it is JSON";
    if (begin.starts_with("---") || begin.starts_with("diag_files:") ||
        text.find("\ndiag_files:") != std::string_view::npos)
        return "it is FMS's table in YAML";
    return "";
}

/// Tests if a line begins with '&' and a name.
bool is_namelist(std::string_view text) {
    for (auto at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
        const auto before = text.substr(0, at).find_last_not_of(" \t");
        const char next = at + 1 < text.size() ? text[at + 1] : ' ';
        if ((before == std::string_view::npos || text[before] == '\n') &&
            std::isalpha(static_cast<unsigned char>(next)) != 0)
            return true;
    }
    return false;
}

}  // namespace

void convert_history(const std::string& path, std::string_view text, std::string& converted,
                     std::vector<history::Problem>& problems) {
    if (trimmed(text.substr(0, 1000)).starts_with('<')) {  // XML, which Python parses
        const auto found = nlohmann::json::parse(output_of_python(from_xml, path), nullptr, false);
        if (found.is_discarded()) return problems.push_back({0, "XML needs python3, which failed"});
        converted = found.at("converted").get<std::string>();
        for (const auto& problem : found.at("problems"))
            problems.push_back(
                {problem.at(0).get<std::int64_t>(), problem.at(1).get<std::string>()});
    } else if (const std::string form = other_form(text); !form.empty()) {
        problems.push_back({0, form + "; --from reads an FMS diag_table, ice_in of CICE, or XML of "
                                      "XIOS or MPAS"});
    } else if (is_namelist(text)) {
        convert_ice_in(text, converted, problems);
    } else {
        convert_diag_table(text, converted, problems);
    }
}

}  // namespace thalweg::app
