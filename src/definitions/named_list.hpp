// A list of elements that finds an element by its name in constant time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/normal_form.hpp"

namespace thalweg::detail {

/// The default for Key: returns the member `name` of an element.
struct NameOf {
    template <class T>
    const std::string& operator()(const T& element) const {
        return element.name;
    }
};

/// A vector whose elements can be found by name. An element must have its name when it is added;
/// only rename() may change it.
/// @tparam Key  returns the name of an element, or another text by which it is found
template <class T, class Key = NameOf>
class NamedList {
public:
    using value_type = T;
    using iterator = typename std::vector<T>::iterator;
    using const_iterator = typename std::vector<T>::const_iterator;

    NamedList() = default;
    NamedList(std::vector<T> elements) : elements_(std::move(elements)) { note_all(); }
    NamedList(std::initializer_list<T> elements) : elements_(elements) { note_all(); }

    /// Returns the number of the first element with this name, in any Unicode normal form; -1 if
    /// there is none.
    int find(std::string_view name) const {
        int at = find_exactly(name);
        if (at >= 0 || is_ascii(name)) return at;
        const std::string wanted = normal_form(std::string(name));
        at = find_exactly(wanted);
        if (at >= 0 || !other_forms_) return at;
        const auto same = [&](const T& element) { return same_name(Key()(element), wanted); };
        const auto found = std::find_if(elements_.begin(), elements_.end(), same);
        return found == elements_.end() ? -1 : static_cast<int>(found - elements_.begin());
    }
    /// Returns the first element with this name; null if there is none.
    const T* get(std::string_view name) const {
        const int at = find(name);
        return at < 0 ? nullptr : &elements_[at];
    }

    /// Returns the first names, with which a misspelled name is compared. Their number is limited,
    /// because programs may look for many names that do not exist.
    std::vector<std::string> first_names() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < std::min<std::size_t>(elements_.size(), 500); ++i)
            names.push_back(elements_[i].name);
        return names;
    }

    void push_back(T element) {
        note_form(Key()(element));
        elements_.push_back(std::move(element));
        try {
            if (index_.empty())
                index_all();
            else
                index_.emplace(Key()(elements_.back()), elements_.size() - 1);
        } catch (...) {  // calls of one rank return TW_ENOMEM, and the program may go on
            elements_.pop_back();
            throw;
        }
    }
    template <class... Parts>
    T& emplace_back(Parts&&... parts) {
        push_back(T{std::forward<Parts>(parts)...});
        return elements_.back();
    }
    /// Adds an element, or replaces the element of the same name.
    void set(T element) {
        const int at = find(Key()(element));
        if (at < 0) return push_back(std::move(element));
        const bool same = Key()(elements_[at]) == Key()(element);
        elements_[at] = std::move(element);
        if (!same) note_all();  // the names were equal, but in different Unicode forms
    }
    void rename(std::size_t number, std::string name) {
        note_form(name);
        if (name == elements_[number].name) return;
        if (!index_.empty()) index_.emplace(name, number);
        std::swap(elements_[number].name, name);
        const auto old = index_.find(name);
        if (old != index_.end() && old->second == number) index_.erase(old);
    }
    template <class Unwanted>
    void remove_if(Unwanted unwanted) {
        if (std::erase_if(elements_, unwanted) > 0) index_all();
    }
    void clear() {
        elements_.clear();
        index_.clear();
    }
    void reserve(std::size_t n) { elements_.reserve(n); }

    bool empty() const { return elements_.empty(); }
    std::size_t size() const { return elements_.size(); }
    T& operator[](std::size_t number) { return elements_[number]; }
    const T& operator[](std::size_t number) const { return elements_[number]; }
    T& back() { return elements_.back(); }
    const T& back() const { return elements_.back(); }
    iterator begin() { return elements_.begin(); }
    const_iterator begin() const { return elements_.begin(); }
    iterator end() { return elements_.end(); }
    const_iterator end() const { return elements_.end(); }
    operator const std::vector<T>&() const { return elements_; }

private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    using Index = std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>>;

    void note_form(const std::string& name) {
        other_forms_ = other_forms_ || (!is_ascii(name) && normal_form(name) != name);
    }

    void note_all() {
        for (const T& element : elements_) note_form(Key()(element));
        index_all();
    }

    int find_exactly(std::string_view name) const {
        if (!index_.empty()) {
            const auto found = index_.find(name);
            return found == index_.end() ? -1 : static_cast<int>(found->second);
        }
        for (std::size_t i = 0; i < elements_.size(); ++i)
            if (Key()(elements_[i]) == name) return static_cast<int>(i);
        return -1;
    }

    /// Length up to which a list is searched without an index, to save memory.
    static constexpr std::size_t most_unindexed = 16;

    void index_all() {
        Index index;
        for (std::size_t i = 0; elements_.size() > most_unindexed && i < elements_.size(); ++i)
            index.emplace(Key()(elements_[i]), i);
        index_.swap(index);
    }

    std::vector<T> elements_;
    Index index_;               ///< numbers of the elements; empty for short lists
    bool other_forms_ = false;  ///< some name is not in Unicode's normal form C
};

}  // namespace thalweg::detail
