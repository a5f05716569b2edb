// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/table.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/text/nearest.hpp"

namespace thalweg::history {

namespace {

/// A piece of a template: text outside braces, or a placeholder, "NAME" or "NAME:FORMAT".
struct Piece {
    std::string_view text;
    bool placeholder = false;
    std::string_view name = {}, format = {};
};

/// Divides a template. A brace without its counterpart begins the last piece.
std::vector<Piece> split(std::string_view path) {
    std::vector<Piece> pieces;
    while (!path.empty()) {
        const auto brace = path.find_first_of("{}");
        if (brace > 0) pieces.push_back({path.substr(0, brace)});
        if (brace == path.npos) break;
        path.remove_prefix(brace);
        const auto end = path.find('}');
        if (end == 0 || end == path.npos) {
            pieces.push_back({path});
            break;
        }
        const std::string_view text = path.substr(1, end - 1);
        const auto colon = std::min(text.find(':'), text.size());
        const std::string_view format = text.substr(std::min(colon + 1, text.size()));
        pieces.push_back({text, true, text.substr(0, colon), format});
        path.remove_prefix(end + 1);
    }
    return pieces;
}

/// Tokens of the formats of dates, from the coarsest unit to the finest.
constexpr std::array<std::string_view, 6> tokens{"YYYY", "MM", "DD", "hh", "mm", "ss"};
constexpr std::array<std::string_view, 3> dates{"start", "end", "last"};

constexpr std::pair<std::string_view, std::string PathValues::*> known_values[] = {
    {"stream", &PathValues::stream}, {"variable", &PathValues::variable}, {"op", &PathValues::op},
    {"every", &PathValues::every},   {"region", &PathValues::region},     {"map", &PathValues::map},
    {"zoom", &PathValues::zoom}};

bool is_date(std::string_view name) { return std::ranges::find(dates, name) != dates.end(); }

/// Returns the number of date tokens that distinguish periods of this unit.
std::size_t tokens_for(Unit unit) {
    constexpr std::array<std::size_t, 9> numbers{6, 6, 5, 4, 3, 3, 2, 2, 1};
    return numbers[static_cast<std::size_t>(unit)];
}

std::string formatted(std::string_view format, const Date& date) {
    const Time clock = date.time / one_second;
    const std::array<std::int64_t, 6> values{date.year,    date.month,      date.day,
                                             clock / 3600, clock / 60 % 60, clock % 60};
    std::string text;
    while (!format.empty()) {
        std::size_t i = 0;
        while (i < tokens.size() && !format.starts_with(tokens[i])) ++i;
        if (i == tokens.size()) {
            text += format.front();
            format.remove_prefix(1);
            continue;
        }
        text += fmt::format("{:0{}}", values[i], tokens[i].size());
        format.remove_prefix(tokens[i].size());
    }
    return text;
}

}  // namespace

Status check_path(std::string_view path) {
    const std::vector<Piece> pieces = split(path);
    if (!pieces.empty() && !pieces.back().placeholder &&
        pieces.back().text.find_first_of("{}") != std::string_view::npos)
        return failure(TW_ESETTING, "'{}' has a brace without its counterpart", path);
    Names known;
    for (const auto& [name, value] : known_values) known.emplace_back(name);
    known.insert(known.end(), dates.begin(), dates.end());
    for (const auto& [text, placeholder, name, format] : pieces) {
        if (!placeholder) continue;
        if (std::ranges::find(known, name) == known.end())
            return failure(TW_ESETTING, "'{{{}}}' is not a placeholder{}", text,
                           detail::did_you_mean(name, known));
        const bool formats = name.size() < text.size();
        if (formats && (!is_date(name) || formatted(format, {}) == format))
            return failure(
                TW_ESETTING,
                "'{{{}}}': only start, end and last have a format, of YYYY, MM, DD, hh, mm and ss",
                text);
    }
    if (path.ends_with('/')) return failure(TW_ESETTING, "'{}' names a folder", path);
    return {};
}

bool path_has(std::string_view path, std::string_view placeholder) {
    const std::vector<Piece> pieces = split(path);
    return std::ranges::find(pieces, placeholder, &Piece::name) != pieces.end();
}

bool path_separates(std::string_view path, Unit unit) {
    const auto needed = std::span(tokens).first(tokens_for(unit));
    for (const std::string_view date : dates) {
        std::string formats;
        for (const Piece& piece : split(path)) {
            if (piece.name != date) continue;
            if (piece.format.empty()) return true;
            formats.append(piece.format) += ' ';
        }
        const auto has = [&](auto token) { return formats.find(token) != formats.npos; };
        if (std::ranges::all_of(needed, has)) return true;
    }
    return false;
}

std::string fill_path(std::string_view path, const PathValues& values) {
    constexpr std::string_view longest = "YYYY-MM-DD_hh-mm-ss";
    const auto standard = longest.substr(0, tokens_for(values.coarseness) * 3 + 1);
    std::string text;
    for (const auto& [piece, placeholder, name, format] : split(path)) {
        if (!placeholder) {
            text += piece;
        } else if (is_date(name) && values.end < values.begin) {
            text += fmt::format("{{{}}}", piece);
        } else if (is_date(name)) {
            const Time time = name == "start" ? values.begin
                              : name == "end" ? values.end
                                              : values.end - one_second;
            text += formatted(format.empty() ? standard : format, date_of(values.calendar, time));
        } else {
            for (const auto& [known, value] : known_values)
                if (name == known) text += values.*value;
        }
    }
    return text;
}

}  // namespace thalweg::history
