// Plans the files of files=variable, and their contents.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>

#include "storage/variables/variables.hpp"

namespace thalweg::detail {

namespace {

constexpr std::size_t longest_name = 200;

/// CF attributes that contain names of other variables, without which this one cannot be
/// understood.
constexpr std::array naming{"coordinates", "bounds", "climatology", "grid_mapping"};

bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z') || c == '_' || c == '.' || c == '-' || c == '+';
}

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

/// Escapes a variable's name as in a URL, to make a file name. Zarr reserves zarr.json and names
/// that begin with "__". ".nc" at the end is escaped because another variable's file could have
/// that name.
std::string escaped(const std::string& name) {
    std::string made;
    const std::string same = lower(name);
    const bool kept =
        name.starts_with("__") || same.starts_with("zarr.json") || name.starts_with(".");
    const std::size_t dot = same.ends_with(".nc") ? name.size() - 3 : name.size();
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (is_plain(name[i]) && !(kept && i == 0) && i != dot)
            made += name[i];
        else
            made += fmt::format("%{:02X}", static_cast<unsigned char>(name[i]));
    }
    return made;
}

/// Shortens an escaped name to the longest possible file name, without dividing a character.
std::string shortened(std::string name) {
    if (name.size() <= longest_name) return name;
    std::size_t end = longest_name;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    name.resize(end);
    return name;
}

/// Returns the file name for a variable, and adds it to `taken`.
/// @param taken  names in use, in lower case
std::string file_name(const std::string& variable, std::size_t number,
                      std::set<std::string>& taken) {
    const std::string whole = escaped(variable);
    std::string name = shortened(whole);
    const bool is_long = name != whole;
    // Add "%n" and a number to make the name unique: no percent sign in an escaped name is followed
    // by "n".
    if (is_long || taken.count(lower(name)) > 0) name += fmt::format("%n{}", number);
    taken.insert(lower(name));
    return name;
}

/// Adds all variables without which this one cannot be understood: its coordinate variables, those
/// that its attributes name, and those that all of these need in turn.
void add_needed(const Definitions& d, int variable, std::set<int>& needed) {
    const Variable& v = d.variables[variable];
    const auto add = [&](const std::string& name) {
        const int other = d.find_variable(name);
        if (other >= 0 && needed.insert(other).second) add_needed(d, other, needed);
    };
    for (const int dim : v.dims) {
        const std::string& name = d.dims[dim].name;
        const int own = d.find_variable(name);
        if (own >= 0 && d.variables[own].dims == std::vector<int>{dim}) add(name);
    }
    for (const Attribute& a : v.attributes) {
        if (a.type != TW_CHAR || std::find(naming.begin(), naming.end(), a.name) == naming.end())
            continue;
        std::string text(a.values.begin(), a.values.end());
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == ':' || c == '\0'; }, ' ');
        for (const std::string& name : split_names(text)) add(name);
    }
}

Definitions only(const Definitions& d, const std::vector<int>& variables) {
    Definitions own;
    own.attributes = d.attributes;
    std::vector<int> to(d.dims.size(), -1);
    for (const int i : variables) {
        own.variables.push_back(d.variables[i]);
        for (int& dim : own.variables.back().dims) {
            int& made = to[dim];
            if (made < 0) {
                made = own.dims.size();
                own.dims.push_back(d.dims[dim]);
            }
            dim = made;
        }
    }
    return own;
}

}  // namespace

std::vector<VariableFile> files_of_variables(const Definitions& definitions) {
    std::vector<VariableFile> files;
    std::set<std::string> taken;
    for (std::size_t i = 0; i < definitions.variables.size(); ++i) {
        const int own = i;
        std::set<int> needed{own};
        add_needed(definitions, own, needed);
        needed.erase(own);
        VariableFile file;
        file.name = file_name(definitions.variables[i].name, i, taken);
        file.of.assign(needed.begin(), needed.end());
        file.of.push_back(own);
        file.definitions = only(definitions, file.of);
        files.push_back(std::move(file));
    }
    return files;
}

bool is_file_of(const std::string& name, const std::string& variable) {
    const std::string begin = shortened(escaped(variable));
    if (!name.starts_with(begin)) return false;
    const std::string_view rest = std::string_view(name).substr(begin.size());
    return rest.empty() || (rest.starts_with("%n") && rest.size() > 2 &&
                            rest.find_first_not_of("0123456789", 2) == rest.npos);
}

std::string variable_path(const std::string& path, const std::string& name) {
    return fmt::format("{}/{}.nc", path, name);
}

}  // namespace thalweg::detail
