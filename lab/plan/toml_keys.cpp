// SPDX-License-Identifier: Apache-2.0
#include "plan/toml_keys.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text/nearest.hpp"
#include "base/text/size.hpp"
#include "base/text/text.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Returns a finite integer or floating-point number; nothing if the node is something else.
std::optional<double> number_of(const toml::node& node) {
    std::optional<double> number;
    if (const auto whole = node.value_exact<std::int64_t>())
        number = static_cast<double>(*whole);
    else if (const auto real = node.value_exact<double>())
        number = *real;
    return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

Status parse_toml(std::string_view content, const std::string& name, toml::table& table) try {
    table = toml::parse(content, name);
    return {};
} catch (const toml::parse_error& error) {
    return failure(TW_ESETTING, "{}, line {}: {}", name, error.source().begin.line,
                   error.description());
}

const toml::node* TomlKeys::find(const char* key, Key kind) {
    known_.emplace_back(key);
    const toml::node* const node = status_.ok() ? table_.get(key) : nullptr;
    if (node == nullptr && kind == Key::needed && missing_.empty()) missing_ = key;
    return node;
}

void TomlKeys::fail(const char* key, const std::string& what) {
    // Keep only the first error, as later ones may follow from a missing key.
    if (ok()) status_ = failure(TW_ESETTING, "{}: key '{}': {}", where_, key, what);
}

void TomlKeys::text(const char* key, std::string& value, Key kind) {
    const toml::node* const node = find(key, kind);
    if (node == nullptr) return;
    if (const auto found = node->value_exact<std::string>())
        value = *found;
    else
        fail(key, "expected a text in quotes");
}

bool TomlKeys::read_number(const char* key, Key kind, double& value) {
    const toml::node* const node = find(key, kind);
    if (node == nullptr) return false;
    const auto found = number_of(*node);
    if (!found || *found < 0) {
        fail(key, "expected a number >= 0");
        return false;
    }
    value = *found;
    return true;
}

void TomlKeys::number(const char* key, double& value, Key kind) { read_number(key, kind, value); }

void TomlKeys::positive(const char* key, double& value, Key kind) {
    if (read_number(key, kind, value) && value <= 0) fail(key, "expected a number > 0");
}

void TomlKeys::integer(const char* key, std::int64_t& value, std::int64_t least, Key kind) {
    const toml::node* const node = find(key, kind);
    if (node == nullptr) return;
    const auto found = node->value_exact<std::int64_t>();
    if (!found || *found < least)
        fail(key, fmt::format("expected an integer >= {}", least));
    else
        value = *found;
}

void TomlKeys::flag(const char* key, bool& value, Key kind) {
    const toml::node* const node = find(key, kind);
    if (node == nullptr) return;
    if (const auto found = node->value_exact<bool>())
        value = *found;
    else
        fail(key, "expected true or false");
}

void TomlKeys::size(const char* key, std::int64_t& value, Key kind) {
    const toml::node* const node = find(key, kind);
    if (node == nullptr) return;
    const auto bytes = node->value_exact<std::int64_t>();
    const auto words = node->value_exact<std::string>();
    if (bytes && *bytes >= 0)
        value = *bytes;
    else if (!words || !parse_size(*words, value))
        fail(key, "expected a size in bytes, such as \"64 GiB\"");
}

void TomlKeys::numbers(const char* key, std::vector<double>& values, Key kind) {
    const toml::node* const node = find(key, kind);
    if (node == nullptr) return;
    const toml::array* const array = node->as_array();
    std::vector<double> found;
    if (array != nullptr)
        for (const toml::node& item : *array)
            if (const auto number = number_of(item); number && *number > 0)
                found.push_back(*number);
    if (array == nullptr || array->empty() || found.size() != array->size())
        fail(key, "expected a list of numbers > 0");
    else
        values = std::move(found);
}

const toml::table* TomlKeys::table(const char* key, Key kind) {
    const toml::node* const node = find(key, kind);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) fail(key, fmt::format("expected a table: [{}]", key));
    return node->as_table();
}

std::vector<const toml::table*> TomlKeys::tables(const char* key, Key kind) {
    const toml::node* const node = find(key, kind);
    std::vector<const toml::table*> found;
    if (node == nullptr) return found;
    const toml::array* const array = node->as_array();
    if (array != nullptr)
        for (const toml::node& item : *array)
            if (item.is_table()) found.push_back(item.as_table());
    if (array == nullptr || found.size() != array->size()) {
        fail(key, fmt::format("expected tables: [[{}]]", key));
        found.clear();
    }
    return found;
}

Status TomlKeys::finish() {
    if (!status_.ok()) return status_;
    for (const auto& [key, value] : table_) {
        const std::string name(key.str());
        if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
        const std::string meant = did_you_mean(name, known_);
        return failure(
            TW_ESETTING, "{}: unknown key '{}'{}", where_, name,
            meant.empty() ? fmt::format("; the keys are {}", joined(known_, ", ")) : meant);
    }
    if (!missing_.empty())
        return failure(TW_ESETTING, "{}: the key '{}' is missing", where_, missing_);
    return {};
}

}  // namespace thalweg::planning
