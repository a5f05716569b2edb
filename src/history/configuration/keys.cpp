// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/keys.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <sstream>

#include "base/text/nearest.hpp"
#include "base/text/text.hpp"

namespace thalweg::history {

static std::optional<double> node_number(const toml::node& node) {
    if (const auto whole = node.value_exact<std::int64_t>()) return static_cast<double>(*whole);
    const auto real = node.value_exact<double>();
    return real && std::isfinite(*real) ? real : std::nullopt;
}

template <class T>
static bool take_number(const std::optional<T>& found, T& value, T least, T most) {
    const bool good = found && *found >= least && *found <= most;
    if (good) value = *found;
    return good;
}

static std::optional<std::string> node_text(const toml::node& node) {
    const auto found = node.value_exact<std::string>();
    return found && !found->empty() ? found : std::nullopt;
}

static Names words_of(std::string_view table, std::string_view key) {
    constexpr std::string_view as_in = "as in ";
    Names words;
    for (const KeyRow& row : key_table()) {
        if (row.table != table || row.name != key) continue;
        std::string_view rest = row.values;
        if (rest.starts_with(as_in)) return words_of(rest.substr(as_in.size()), key);
        for (const auto word : std::views::split(rest, std::string_view(", ")))
            words.emplace_back(word.begin(), word.end());
    }
    return words;
}

static bool read_value(const toml::node& node, Attribute& attribute) {
    if (const auto text = node.value_exact<std::string>()) {
        attribute.value = *text;
        return true;
    }
    std::vector<std::int64_t> whole;
    std::vector<double> real;
    const auto take = [&](const toml::node& item) {
        if (const auto integer = item.value_exact<std::int64_t>()) whole.push_back(*integer);
        const auto number = node_number(item);
        if (number) real.push_back(*number);
        return number.has_value();
    };
    if (const toml::array* const array = node.as_array(); array != nullptr) {
        if (array->empty() || !std::all_of(array->begin(), array->end(), take)) return false;
    } else if (!take(node)) {
        return false;
    }
    if (whole.size() == real.size())
        attribute.value = std::move(whole);
    else
        attribute.value = std::move(real);
    return true;
}

bool read_selectors(const toml::array& array, Selectors& selectors) {
    selectors.line = line_of(array);
    for (const toml::node& item : array) {
        const auto text = item.value_exact<std::string>();
        Selector selector;
        std::string_view rest = text ? std::string_view(*text) : std::string_view();
        selector.remove = rest.starts_with('-');
        if (selector.remove) rest.remove_prefix(1);
        selector.group = rest.starts_with('@');
        if (selector.group) rest.remove_prefix(1);
        if (rest.empty()) return false;
        selector.text = rest;
        selectors.list.push_back(std::move(selector));
    }
    return true;
}

Status read_date(const toml::node& node, Calendar calendar, Date& date) {
    std::ostringstream text;
    if (const auto words = node.value_exact<std::string>())
        text << *words;
    else if (const auto of_toml = node.value_exact<toml::date>())
        text << *of_toml;
    else if (const auto with_time = node.value_exact<toml::date_time>())
        text << *with_time;
    else
        return failure(TW_EARG, "expected a date such as \"2000-01-31\"");
    return parse_date(calendar, text.str(), date);
}

const toml::node* Keys::find(std::string_view key) {
    read_.emplace_back(key);
    return table_.get(key);
}

void Keys::fail(std::string_view key, const std::string& what) {
    const toml::node* const node = table_.get(key);
    fail(node != nullptr ? *node : table_, what);
}

void Keys::fail(const toml::node& node, const std::string& what) {
    problems_.push_back({line_of(node), where_.empty() ? what : where_ + ": " + what});
}

const toml::table* Keys::table(std::string_view key) {
    const toml::node* const node = find(key);
    if (node != nullptr && !node->is_table()) fail(key, "'{}' is not a table", key);
    return node != nullptr ? node->as_table() : nullptr;
}

const toml::array* Keys::array(std::string_view key, std::string_view expected) {
    const toml::node* const node = find(key);
    if (node != nullptr && !node->is_array()) fail(key, "'{}': expected {}", key, expected);
    return node != nullptr ? node->as_array() : nullptr;
}

/// Reads a value by take(node), which returns false if the value is wrong.
template <class Take>
bool Keys::read(std::string_view key, std::string_view expected, Take&& take) {
    const toml::node* const node = find(key);
    if (node == nullptr) return false;
    if (take(*node)) return true;
    fail(key, "'{}': expected {}", key, expected);
    return false;
}

/// Reads a list by take(item), which returns an optional value.
template <class T, class Take>
bool Keys::read_list(std::string_view key, std::string_view expected, std::vector<T>& values,
                     Take&& take) {
    const toml::array* const list = array(key, expected);
    if (list == nullptr) return false;
    for (const toml::node& item : *list)
        if (auto found = take(item)) values.push_back(std::move(*found));
    if (values.size() == list->size()) return true;
    values.clear();
    fail(key, "'{}': expected {}", key, expected);
    return false;
}

bool Keys::text(std::string_view key, std::string& value) {
    return read(key, "a text in quotes", [&](const toml::node& node) {
        const std::optional<std::string> found = node_text(node);
        if (found) value = *found;
        return found.has_value();
    });
}

void Keys::text(std::string_view key, std::optional<std::string>& value) {
    if (std::string found; text(key, found)) value = std::move(found);
}

void Keys::flag(std::string_view key, bool& value) {
    read(key, "true or false", [&](const toml::node& node) {
        value = node.value_exact<bool>().value_or(value);
        return node.is_boolean();
    });
}

void Keys::integer(std::string_view key, std::int64_t& value, std::int64_t least,
                   std::int64_t most) {
    read(key, fmt::format("an integer from {} to {}", least, most), [&](const toml::node& node) {
        return take_number(node.value_exact<std::int64_t>(), value, least, most);
    });
}

void Keys::number(std::string_view key, double& value, double least, double most) {
    read(key, fmt::format("a number from {} to {}", least, most), [&](const toml::node& node) {
        return take_number(node_number(node), value, least, most);
    });
}

void Keys::duration(std::string_view key, std::optional<Duration>& value) {
    std::string words;
    Duration found;
    if (text(key, words) && check(key, parse_duration(words, found))) value = found;
}

void Keys::date(std::string_view key, std::optional<Date>& value) {
    const toml::node* const node = find(key);
    Date found;
    if (node != nullptr && check(key, read_date(*node, run_.calendar, found))) value = found;
}

void Keys::texts(std::string_view key, Names& values) {
    read_list(key, "a list of texts", values, node_text);
}

void Keys::integers(std::string_view key, std::vector<std::int64_t>& values) {
    const auto take = [](const toml::node& item) {
        const auto found = item.value_exact<std::int64_t>();
        return found && *found >= 0 ? found : std::nullopt;
    };
    if (read_list(key, "a list of integers >= 0", values, take) && values.empty())
        fail(key, "'{}' is empty", key);
}

void Keys::numbers(std::string_view key, std::vector<double>& values, std::size_t count) {
    const std::string expected =
        count == 0 ? "a list of numbers" : fmt::format("a list of {} numbers", count);
    if (!read_list(key, expected, values, node_number)) return;
    if (count == 0 ? !values.empty() : values.size() == count) return;
    values.clear();
    fail(key, "'{}': expected {}", key, expected);
}

void Keys::attributes(std::string_view key, Attributes& values) {
    const toml::table* const found = table(key);
    if (found == nullptr) return;
    for (const auto& [name, node] : *found) {
        Attribute attribute{std::string(name.str()), {}};
        std::erase_if(values, [&](const auto& other) { return other.name == attribute.name; });
        if (attribute.name.empty() || !read_value(node, attribute))
            fail(node, "attribute '{}': expected a text, a number or a list of numbers",
                 attribute.name);
        else
            values.push_back(std::move(attribute));
    }
}

void Keys::selectors(std::string_view key, Selectors& values) {
    const toml::array* const list = array(key, "a list of fields");
    if (list != nullptr && !read_selectors(*list, values))
        fail(key, "'{}': expected a list of names such as [\"ta\", \"u*\", \"@group\", \"-ua\"]",
             key);
}

std::optional<std::size_t> Keys::word(std::string_view key) {
    std::string found;
    if (!text(key, found)) return {};
    const Names words = words_of(name_, key);
    const auto place = std::ranges::find(words, found);
    if (place != words.end()) return static_cast<std::size_t>(place - words.begin());
    fail(key, "'{}': \"{}\" is not one of \"{}\"", key, found, detail::joined(words, "\", \""));
    return {};
}

void Keys::refuse(bool when, std::initializer_list<std::string_view> keys, std::string_view why) {
    for (const std::string_view key : keys)
        if (when && has(key)) fail(key, "'{}' {}", key, why);
}

void Keys::finish() {
    Names listed;
    for (const KeyRow& row : key_table()) {
        if (row.table != name_) continue;
        listed.emplace_back(row.name);
        if (!has(row.name) && row.standard == "required")
            fail(row.name, "'{}' is missing", row.name);
    }
    if (name_.empty()) listed = read_;
    for (const auto& [key, node] : table_)
        if (std::ranges::find(listed, key.str()) == listed.end())
            fail(node, "'{}' is not a key{}", key.str(), detail::did_you_mean(key.str(), listed));
    const std::set<std::string> in_table(listed.begin(), listed.end());
    if (!name_.empty() && in_table != std::set<std::string>(read_.begin(), read_.end()))
        fail("", "the list of the keys of {} is wrong", name_);
}

bool read_toml(std::string_view text, std::string_view name, Problems& problems,
               toml::table& root) try {
    root = toml::parse(text, name);
    return true;
} catch (const toml::parse_error& error) {
    problems.push_back(
        {static_cast<std::int64_t>(error.source().begin.line), std::string(error.description())});
    return false;
}

}  // namespace thalweg::history
