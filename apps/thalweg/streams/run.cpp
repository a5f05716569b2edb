// SPDX-License-Identifier: Apache-2.0
#include "streams/run.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "history/configuration/keys.hpp"

namespace thalweg::app {

using namespace history;

namespace {

constexpr std::array<std::pair<std::string_view, tw_type>, 10> types{{{"byte", TW_BYTE},
                                                                      {"short", TW_SHORT},
                                                                      {"int", TW_INT},
                                                                      {"float", TW_FLOAT},
                                                                      {"double", TW_DOUBLE},
                                                                      {"ubyte", TW_UBYTE},
                                                                      {"ushort", TW_USHORT},
                                                                      {"uint", TW_UINT},
                                                                      {"int64", TW_INT64},
                                                                      {"uint64", TW_UINT64}}};

using Dims = std::map<std::string, std::int64_t>;

/// Parses a text such as "float lev lat lon missing=varying".
Status parse_declared(const std::string& text, const Dims& dims, DeclaredField& field) {
    constexpr std::array<std::string_view, 3> masks{"none", "fixed", "varying"};
    std::istringstream words(text);
    std::string word;
    words >> word;
    bool known = false;
    for (const auto& [name, type] : types)
        if (name == word) {
            field.type = type;
            known = true;
        }
    if (!known)
        return detail::failure(TW_ESETTING, "'{}' is not a type such as float, double or int",
                               word);
    while (words >> word) {
        if (word.starts_with("missing=")) {
            const auto mask = std::ranges::find(masks, word.substr(8));
            if (mask == masks.end())
                return detail::failure(TW_ESETTING, "'{}' is not none, fixed or varying", word);
            field.missing = static_cast<Missing>(mask - masks.begin());
            continue;
        }
        const auto dim = dims.find(word);
        if (dim == dims.end())
            return detail::failure(TW_ESETTING, "'dims' has no dimension '{}'", word);
        field.dims.push_back(word);
        field.shape.push_back(dim->second);
    }
    field.has_axes = field.has_centres = true;
    return {};
}

void parse_dims(Keys& keys, Dims& dims) {
    const toml::table* const table = keys.table("dims");
    if (table == nullptr) return;
    for (const auto& [name, node] : *table) {
        const auto length = node.value_exact<std::int64_t>();
        if (length && *length >= 1 && *length <= INT32_MAX)
            dims.emplace(name.str(), *length);
        else
            keys.fail("dims", fmt::format("'dims': '{}': expected a length", name.str()));
    }
}

void parse_fields(Keys& keys, const Dims& dims, std::vector<DeclaredField>& fields) {
    const toml::table* const table = keys.table("fields");
    if (table == nullptr) return;
    for (const auto& [name, node] : *table) {
        DeclaredField field;
        field.name = name.str();
        const Status status =
            parse_declared(node.value_exact<std::string>().value_or(""), dims, field);
        if (!status.ok()) keys.fail(node, "field '{}': {}", field.name, status.text);
        fields.push_back(std::move(field));
    }
}

}  // namespace

std::vector<Problem> parse_run(std::string_view text, std::string_view name, HistoryRun& run) {
    Problems problems;
    toml::table root;
    if (!read_toml(text, name, problems, root)) return problems;
    run = {};
    Keys keys(root, "", run.times, problems);
    std::string calendar = "proleptic_gregorian";
    keys.text("calendar", calendar);
    if (const Status status = parse_calendar(calendar, run.times.calendar); !status.ok())
        keys.fail("calendar", status.text);
    std::optional<Date> start, end;
    keys.date("start", start);
    keys.date("end", end);
    double step = 0;
    keys.number("step", step, 1e-6, 1e9);
    for (const std::string_view key : {"start", "end", "step", "dims", "fields"})
        if (!keys.has(key)) keys.fail(key, fmt::format("'{}' is missing", key));
    Dims dims;
    parse_dims(keys, dims);
    parse_fields(keys, dims, run.fields);
    keys.finish();
    if (!problems.empty()) return problems;
    run.times.start = time_of(run.times.calendar, *start);
    run.end = time_of(run.times.calendar, *end);
    (void)parse_seconds(step, run.times.step);
    if (run.end <= run.times.start) keys.fail("end", "'end' is not after 'start'");
    return problems;
}

}  // namespace thalweg::app
