// SPDX-License-Identifier: Apache-2.0
#include "history/keys.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "history/key_table.hpp"

namespace thalweg::history {

namespace {

std::optional<double> number_of(const toml::node& node) {
    if (const auto whole = node.value_exact<std::int64_t>()) return static_cast<double>(*whole);
    const auto real = node.value_exact<double>();
    return real && std::isfinite(*real) ? real : std::nullopt;
}

/// Reads the value of an attribute: text, a number, or a list of numbers.
bool read_value(const toml::node& node, Attribute& attribute) {
    if (const auto text = node.value_exact<std::string>()) {
        attribute.value = *text;
        return true;
    }
    std::vector<std::int64_t> whole;
    std::vector<double> real;
    const auto take = [&](const toml::node& item) {
        if (const auto integer = item.value_exact<std::int64_t>()) whole.push_back(*integer);
        const auto number = number_of(item);
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

}  // namespace

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
        return detail::failure(TW_EARG, "expected a date such as \"2000-01-31\"");
    return parse_date(calendar, text.str(), date);
}

const toml::node* Keys::find(std::string_view key) {
    read_.emplace_back(key);
    return table_.get(key);
}

std::int64_t Keys::line_of_key(std::string_view key) const {
    const toml::node* const node = table_.get(key);
    return node != nullptr ? line_of(*node) : line_of(table_);
}

void Keys::fail(std::string_view key, const std::string& what) {
    problems_.push_back(
        {line_of_key(key), where_.empty() ? what : fmt::format("{}: {}", where_, what)});
}

const toml::table* Keys::table(std::string_view key) {
    const toml::node* const node = find(key);
    if (node != nullptr && !node->is_table()) fail(key, fmt::format("'{}' is not a table", key));
    return node != nullptr ? node->as_table() : nullptr;
}

const toml::array* Keys::array(std::string_view key, std::string_view expected) {
    const toml::node* const node = find(key);
    if (node != nullptr && !node->is_array())
        fail(key, fmt::format("'{}': expected {}", key, expected));
    return node != nullptr ? node->as_array() : nullptr;
}

bool Keys::text(std::string_view key, std::string& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return false;
    const auto found = node->value_exact<std::string>();
    if (!found || found->empty()) {
        fail(key, fmt::format("'{}': expected a text in quotes", key));
        return false;
    }
    value = *found;
    return true;
}

void Keys::text(std::string_view key, std::optional<std::string>& value) {
    if (std::string found; text(key, found)) value = std::move(found);
}

void Keys::flag(std::string_view key, bool& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    if (const auto found = node->value_exact<bool>())
        value = *found;
    else
        fail(key, fmt::format("'{}': expected true or false", key));
}

void Keys::integer(std::string_view key, std::int64_t& value, std::int64_t least,
                   std::int64_t most) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<std::int64_t>();
    if (found && *found >= least && *found <= most)
        value = *found;
    else
        fail(key, fmt::format("'{}': expected an integer from {} to {}", key, least, most));
}

void Keys::number(std::string_view key, double& value, double least, double most) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto found = number_of(*node);
    if (found && *found >= least && *found <= most)
        value = *found;
    else
        fail(key, fmt::format("'{}': expected a number from {} to {}", key, least, most));
}

void Keys::duration(std::string_view key, std::optional<Duration>& value) {
    std::string words;
    Duration found;
    if (!text(key, words)) return;
    if (const Status status = parse_duration(words, found); status.ok())
        value = found;
    else
        fail(key, fmt::format("'{}': {}", key, status.text));
}

void Keys::date(std::string_view key, std::optional<Date>& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    Date found;
    if (const Status status = read_date(*node, run_.calendar, found); status.ok())
        value = found;
    else
        fail(key, fmt::format("'{}': {}", key, status.text));
}

void Keys::texts(std::string_view key, std::vector<std::string>& values) {
    const toml::array* const list = array(key, "a list of texts");
    if (list == nullptr) return;
    for (const toml::node& item : *list) {
        const auto found = item.value_exact<std::string>();
        if (!found || found->empty()) {
            fail(key, fmt::format("'{}': expected a list of texts", key));
            return;
        }
        values.push_back(*found);
    }
}

void Keys::integers(std::string_view key, std::vector<std::int64_t>& values) {
    const toml::array* const list = array(key, "a list of integers");
    if (list == nullptr) return;
    for (const toml::node& item : *list)
        if (const auto found = item.value_exact<std::int64_t>(); found && *found >= 0)
            values.push_back(*found);
    if (values.size() != list->size() || values.empty())
        fail(key, fmt::format("'{}': expected a list of integers >= 0", key));
}

void Keys::numbers(std::string_view key, std::vector<double>& values, std::size_t count) {
    const std::string expected =
        count == 0 ? "a list of numbers" : fmt::format("a list of {} numbers", count);
    const toml::array* const list = array(key, expected);
    if (list == nullptr) return;
    for (const toml::node& item : *list)
        if (const auto found = number_of(item)) values.push_back(*found);
    if (values.size() == list->size() && (count == 0 ? !values.empty() : values.size() == count))
        return;
    values.clear();
    fail(key, fmt::format("'{}': expected {}", key, expected));
}

void Keys::attributes(std::string_view key, std::vector<Attribute>& values) {
    const toml::table* const found = table(key);
    if (found == nullptr) return;
    for (const auto& [name, node] : *found) {
        Attribute attribute{std::string(name.str()), {}};
        if (attribute.name.empty() || !read_value(node, attribute))
            problems_.push_back(
                {line_of(node), fmt::format("{}: attribute '{}': expected a text, a number or a "
                                            "list of numbers",
                                            where_, attribute.name)});
        else
            values.push_back(std::move(attribute));
    }
}

void Keys::selectors(std::string_view key, Selectors& values) {
    const toml::array* const list = array(key, "a list of fields");
    if (list != nullptr && !read_selectors(*list, values))
        fail(key, fmt::format("'{}': expected a list of names such as [\"ta\", \"u*\", \"@group\", "
                              "\"-ua\"]",
                              key));
}

std::optional<std::size_t> Keys::one_of(std::string_view key, const std::string_view* words,
                                        std::size_t n) {
    std::string found;
    if (!text(key, found)) return {};
    const std::string_view* const place = std::find(words, words + n, found);
    if (place != words + n) return static_cast<std::size_t>(place - words);
    std::vector<std::string> known(words, words + n);
    for (std::string& each : known) each = '"' + each + '"';
    fail(key, fmt::format("'{}': \"{}\" is not one of {}", key, found,
                          detail::joined(std::span<const std::string>(known), ", ")));
    return {};
}

void Keys::refuse(std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        refused_.emplace_back(key);
        if (has(key)) fail(key, fmt::format("'{}' is not supported yet", key));
    }
}

void Keys::finish(std::string_view table) {
    std::vector<std::string> listed;
    for (const KeyRow& row : key_table())
        if (row.table == table) listed.emplace_back(row.name);
    if (table.empty()) listed = read_;
    for (const auto& [name, node] : table_) {
        const std::string key(name.str());
        if (std::ranges::find(listed, key) != listed.end() ||
            std::ranges::find(refused_, key) != refused_.end())
            continue;
        fail(key, fmt::format("'{}' is not a key{}", key, detail::did_you_mean(key, listed)));
    }
    const std::set<std::string> in_table(listed.begin(), listed.end());
    if (!table.empty() && in_table != std::set<std::string>(read_.begin(), read_.end()))
        fail("", fmt::format("the list of the keys of {} is wrong", table));
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
