// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>

#include "base/nearest.hpp"
#include "history/parse.hpp"

namespace thalweg::history {

std::string path_of(const StreamTable& stream) {
    std::string path = stream.path;
    const std::string every = stream.every == Every::window ? duration_text(stream.duration) : "";
    const std::array<std::pair<std::string_view, std::string_view>, 4> values{
        {{"{stream}", stream.name},
         {"{op}", op_name(stream.op)},
         {"{every}", every},
         {"{region}", stream.region}}};
    for (const auto& [name, value] : values) {
        auto place = path.find(name);
        for (; place != std::string::npos; place = path.find(name, place + value.size()))
            path.replace(place, name.size(), value);
    }
    return path;
}

namespace {

/// Adds a problem if a table has no such name.
template <class Named>
void check_name(const StreamTable& stream, std::string_view key, const std::string& name,
                const Named& known, Problems& problems) {
    if (name.empty() || known.contains(name)) return;
    std::vector<std::string> names;
    for (const auto& [each, value] : known) names.push_back(each);
    problems.push_back(
        {stream.line_of(key), fmt::format("stream '{}': '{}': there is no [{}.{}]{}", stream.name,
                                          key, key, name, detail::did_you_mean(name, names))});
}

void check_groups(const Table& table, const Selectors& selectors, const std::string& where,
                  Problems& problems) {
    std::vector<std::string> names;
    for (const auto& [name, list] : table.groups) names.push_back(name);
    for (const Selector& selector : selectors.list)
        if (selector.group && !table.groups.contains(selector.text))
            problems.push_back(
                {selectors.line, fmt::format("{}: there is no group '{}'{}", where, selector.text,
                                             detail::did_you_mean(selector.text, names))});
}

/// Groups that a search has entered but not left, and groups that it has finished.
struct Search {
    std::set<std::string, std::less<>> entered, left;
};

/// Tests if a group refers, directly or through other groups, to a group that the search has not
/// left.
bool is_circular(const Table& table, const std::string& group, Search& search) {
    if (search.left.contains(group)) return false;
    if (!search.entered.insert(group).second) return true;
    const auto found = table.groups.find(group);
    const bool circular = found != table.groups.end() &&
                          std::ranges::any_of(found->second.list, [&](const Selector& selector) {
                              return selector.group && is_circular(table, selector.text, search);
                          });
    search.left.insert(group);
    return circular;
}

void check_streams(const Table& table, Problems& problems) {
    for (std::size_t i = 0; i < table.streams.size(); ++i) {
        const StreamTable& stream = table.streams[i];
        for (std::size_t j = 0; j < i; ++j) {
            const StreamTable& other = table.streams[j];
            if (!stream.name.empty() && stream.name == other.name)
                problems.push_back({stream.line_of("name"),
                                    fmt::format("stream '{}': line {} has a stream of this name",
                                                stream.name, other.line)});
            // With a file per variable, streams can share a path if they have different variables.
            else if (!stream.file_per_variable && path_of(stream) == path_of(other))
                problems.push_back(
                    {stream.line_of("path"), fmt::format("stream '{}': 'path': its files would "
                                                         "have the same names as those of stream "
                                                         "'{}'",
                                                         stream.name, other.name)});
        }
    }
}

}  // namespace

void check_references(const Table& table, Problems& problems) {
    Search search;
    for (const auto& [name, selectors] : table.groups) {
        check_groups(table, selectors, fmt::format("group '{}'", name), problems);
        if (is_circular(table, name, search))
            problems.push_back({selectors.line, fmt::format("group '{}' contains itself", name)});
    }
    for (const StreamTable& stream : table.streams) {
        check_groups(table, stream.fields, fmt::format("stream '{}'", stream.name), problems);
        check_name(stream, "region", stream.region, table.regions, problems);
    }
    check_streams(table, problems);
}

}  // namespace thalweg::history
