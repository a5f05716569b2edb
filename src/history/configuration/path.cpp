// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/table.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text/nearest.hpp"

namespace thalweg::history {

namespace {

/// A piece of a template: text outside braces, or the text in a pair of braces.
struct Piece {
    std::string_view text;
    bool placeholder;  ///< the text is in braces
};

bool split(std::string_view path, std::vector<Piece>& pieces) {
    while (!path.empty()) {
        const auto brace = path.find_first_of("{}");
        if (brace > 0) pieces.push_back({path.substr(0, brace), false});
        if (brace == std::string_view::npos) return true;
        const auto end = path.find('}', brace);
        if (path[brace] == '}' || end == std::string_view::npos) return false;
        pieces.push_back({path.substr(brace + 1, end - brace - 1), true});
        path.remove_prefix(end + 1);
    }
    return true;
}

std::pair<std::string_view, std::string_view> name_and_format(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return {text, {}};
    return {text.substr(0, colon), text.substr(colon + 1)};
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

std::string standard_format(Unit coarseness) {
    constexpr std::string_view all = "YYYY-MM-DD_hh-mm-ss";
    return std::string(all.substr(0, tokens_for(coarseness) * 3 + 1));
}

}  // namespace

Status check_path(std::string_view path) {
    std::vector<Piece> pieces;
    if (!split(path, pieces))
        return failure(TW_ESETTING, "'{}' has a brace without its counterpart", path);
    std::vector<std::string> known;
    for (const auto& [name, value] : known_values) known.emplace_back(name);
    known.insert(known.end(), dates.begin(), dates.end());
    for (const Piece& piece : pieces) {
        if (!piece.placeholder) continue;
        const auto [name, format] = name_and_format(piece.text);
        if (std::ranges::find(known, name) == known.end())
            return failure(TW_ESETTING, "'{{{}}}' is not a placeholder{}", piece.text,
                           detail::did_you_mean(name, known));
        const bool formats = name.size() < piece.text.size();
        if (formats && (!is_date(name) || formatted(format, {}) == format))
            return failure(
                TW_ESETTING,
                "'{{{}}}': only start, end and last have a format, of YYYY, MM, DD, hh, mm and ss",
                piece.text);
    }
    if (path.ends_with('/')) return failure(TW_ESETTING, "'{}' names a folder", path);
    return {};
}

bool path_has(std::string_view path, std::string_view placeholder) {
    std::vector<Piece> pieces;
    split(path, pieces);
    return std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return piece.placeholder && name_and_format(piece.text).first == placeholder;
    });
}

bool path_separates(std::string_view path, Unit unit) {
    std::vector<Piece> pieces;
    split(path, pieces);
    for (const std::string_view date : dates) {
        std::string all;
        for (const Piece& piece : pieces) {
            const auto [name, format] = name_and_format(piece.text);
            if (!piece.placeholder || name != date) continue;
            if (format.empty()) return true;
            all += std::string(format) + ' ';
        }
        const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(tokens_for(unit));
        if (std::all_of(tokens.begin(), end, [&](std::string_view token) {
                return all.find(token) != std::string::npos;
            }))
            return true;
    }
    return false;
}

std::string fill_path(std::string_view path, const PathValues& values) {
    std::vector<Piece> pieces;
    split(path, pieces);
    std::string text;
    for (const Piece& piece : pieces) {
        const auto [name, format] = name_and_format(piece.text);
        if (!piece.placeholder) {
            text += piece.text;
        } else if (is_date(name) && values.end < values.begin) {
            text += fmt::format("{{{}}}", piece.text);
        } else if (is_date(name)) {
            const Time time = name == "start" ? values.begin
                              : name == "end" ? values.end
                                              : values.end - one_second;
            text += formatted(format.empty() ? standard_format(values.coarseness) : format,
                              date_of(values.calendar, time));
        } else {
            for (const auto& [known, value] : known_values)
                if (name == known) text += values.*value;
        }
    }
    return text;
}

}  // namespace thalweg::history
