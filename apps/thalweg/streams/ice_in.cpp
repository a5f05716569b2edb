// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "streams/convert.hpp"

namespace thalweg::app {

namespace {

using Values = std::vector<std::string>;
using Namelist = std::map<std::string, Values, std::less<>>;

/// Reads the assignments in all groups of a Fortran namelist. Names become lower case.
Namelist read_namelist(std::string_view text) {
    Namelist found;
    Values* values = nullptr;
    std::string word;
    char quote = 0;
    const auto end_word = [&] {
        if (values != nullptr && !word.empty()) values->push_back(word);
        word.clear();
    };
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : '\n';
        if (quote != 0 && c != '\n') {
            if (c == quote) {
                quote = 0;
                if (values != nullptr) values->push_back(word);
                word.clear();
            } else {
                word += c;
            }
        } else if (c == '!') {
            end_word();
            i = std::min(text.find('\n', i), text.size());
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '=') {
            // The last word belongs to the next assignment: it is a name, not a value.
            if (word.empty() && values != nullptr && !values->empty()) {
                word = values->back();
                values->pop_back();
            }
            values = &found[in_lower_case(word)];
            values->clear();
            word.clear();
        } else if (c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            quote = 0;
            end_word();
        } else {
            word += c;
        }
    }
    return found;
}

std::string value_of(const Namelist& list, std::string_view name, std::size_t i,
                     const std::string& otherwise) {
    const auto found = list.find(name);
    return found != list.end() && i < found->second.size() ? found->second[i] : otherwise;
}

bool is_true(const std::string& text) {
    const std::string lower = in_lower_case(text);
    return lower.starts_with(".t") || lower.starts_with('t');
}

struct Frequency {
    std::string_view unit;    ///< unit of durations
    std::string_view format;  ///< format of the date in the names of files
};

const std::map<char, Frequency> frequencies{{'y', {"year", "YYYY"}},
                                            {'m', {"month", "YYYY-MM"}},
                                            {'d', {"day", "YYYY-MM-DD"}},
                                            {'h', {"hour", "YYYY-MM-DD-hh"}},
                                            {'1', {"step", "YYYY-MM-DD-hhmmss"}}};

/// Writes the fields whose setting f_NAME contains the letter of a frequency.
std::string fields_of(const Namelist& list, char letter) {
    std::string names;
    for (const auto& [name, values] : list)
        if (name.starts_with("f_") && !values.empty() && !values[0].starts_with('.') &&
            values[0].find(letter) != std::string::npos)
            names += (names.empty() ? "" : ", ") + quoted(name.substr(2));
    return names;
}

}  // namespace

void convert_ice_in(std::string_view text, std::string& converted,
                    std::vector<history::Problem>& problems) {
    const Namelist list = read_namelist(text);
    const std::string folder = value_of(list, "history_dir", 0, "");
    const std::string base = value_of(list, "history_file", 0, "iceh");
    const std::string axis = value_of(list, "hist_time_axis", 0, "end");
    const bool in_double = value_of(list, "history_precision", 0, "4") == "8";
    const auto streams = list.find("histfreq");
    if (streams == list.end()) problems.push_back({0, "there is no 'histfreq'"});
    const std::size_t n = streams == list.end() ? 0 : streams->second.size();
    for (std::size_t i = 0; i < n; ++i) {
        const char letter = streams->second[i].empty() ? 'x' : streams->second[i][0];
        const std::string count = value_of(list, "histfreq_n", i, "1");
        const auto frequency = frequencies.find(letter);
        if (letter == 'x' || count == "0") continue;
        if (frequency == frequencies.end()) {
            problems.push_back({0, fmt::format("histfreq: '{}' is not converted", letter)});
            continue;
        }
        const std::string fields = fields_of(list, letter);
        if (fields.empty()) continue;
        // In older versions, one value applies to all streams.
        const auto averages = list.find("hist_avg");
        const std::size_t last =
            averages == list.end() || averages->second.empty() ? 0 : averages->second.size() - 1;
        const bool mean = is_true(value_of(list, "hist_avg", std::min(i, last), ".true."));
        const std::string every =
            letter == '1' && count == "1"
                ? "step"
                : fmt::format("{} {}{}", count, frequency->second.unit, count == "1" ? "" : "s");
        const std::string name = fmt::format("{}_{}", base, letter);
        converted += fmt::format("[[stream]]\nname = {}\nevery = \"{}\"\n", quoted(name), every);
        converted += mean ? fmt::format("stamp = \"{}\"\n", axis) : "op = \"instant\"\n";
        if (in_double) converted += "type = \"double\"\n";
        converted += fmt::format("fields = [{}]\n", fields);
        // CICE writes one record to each file.
        converted +=
            fmt::format("records = 1\npath = {}\n\n",
                        quoted(fmt::format("{}{}_{}.{{{}:{}}}.nc", folder, base, letter,
                                           mean ? "start" : "end", frequency->second.format)));
    }
}

}  // namespace thalweg::app
