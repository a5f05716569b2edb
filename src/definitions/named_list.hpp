// A list of elements that finds an element by its name in constant time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/normal_form.hpp"

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
    NamedList(std::vector<T> elements) : elements_(std::move(elements)) { index_all(); }
    NamedList(std::initializer_list<T> elements) : elements_(elements) { index_all(); }

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
        if (elements_.size() < most_unindexed) {
            elements_.push_back(std::move(element));
            return;
        }
        make_room();
        elements_.push_back(std::move(element));
        add_to_index(elements_.size() - 1);
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
        if (!same) index_all();  // the names were equal, but in different Unicode forms
    }
    void rename(std::size_t number, const std::string& name) {
        if (!slots_.empty()) make_room();
        note_form(name);
        elements_[number].name = name;  // the slot of the old name no longer matches after this
        if (!slots_.empty()) add_to_index(number);
    }
    template <class Unwanted>
    void remove_if(Unwanted unwanted) {
        if (std::erase_if(elements_, unwanted) > 0) index_all();
    }
    void pop_back() {
        elements_.pop_back();
        index_all();
    }
    void clear() {
        elements_.clear();
        slots_.clear();
    }
    void reserve(std::size_t n) { elements_.reserve(n); }

    bool empty() const { return elements_.empty(); }
    std::size_t size() const { return elements_.size(); }
    T& operator[](std::size_t number) { return elements_[number]; }
    const T& operator[](std::size_t number) const { return elements_[number]; }
    T& front() { return elements_.front(); }
    const T& front() const { return elements_.front(); }
    T& back() { return elements_.back(); }
    const T& back() const { return elements_.back(); }
    T* data() { return elements_.data(); }
    const T* data() const { return elements_.data(); }
    iterator begin() { return elements_.begin(); }
    const_iterator begin() const { return elements_.begin(); }
    iterator end() { return elements_.end(); }
    const_iterator end() const { return elements_.end(); }
    operator const std::vector<T>&() const { return elements_; }

private:
    static bool is_ascii(std::string_view name) {
        return std::all_of(name.begin(), name.end(), [](char c) { return c >= 0; });
    }
    void note_form(const std::string& name) {
        other_forms_ = other_forms_ || (!is_ascii(name) && normal_form(name) != name);
    }

    int find_exactly(std::string_view name) const {
        if (slots_.empty()) {
            for (std::size_t i = 0; i < elements_.size(); ++i)
                if (Key()(elements_[i]) == name) return static_cast<int>(i);
            return -1;
        }
        return static_cast<int>(slots_[slot_of(name)]) - 1;
    }

    /// Length up to which a list is searched without an index, to save memory.
    static constexpr std::size_t most_unindexed = 16;

    /// Returns the slot of this name, or a free slot for it.
    std::size_t slot_of(std::string_view name) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = std::hash<std::string_view>()(name) & mask;
        while (slots_[at] != 0 && Key()(elements_[slots_[at] - 1]) != name) at = (at + 1) & mask;
        return at;
    }

    void add_to_index(std::size_t number) {
        std::uint32_t& slot = slots_[slot_of(Key()(elements_[number]))];
        if (slot != 0) return;
        slot = static_cast<std::uint32_t>(number + 1);
        ++used_;
    }

    /// Enlarges the hash table if it has no space for one more name.
    void make_room() {
        if (2 * (std::max(used_, elements_.size()) + 1) > slots_.size())
            make_slots(4 * (elements_.size() + 1));
    }

    void make_slots(std::size_t least) {
        std::size_t n = 1;
        while (n < least) n *= 2;
        slots_.assign(n, 0);
        used_ = 0;
        for (std::size_t i = 0; i < elements_.size(); ++i) add_to_index(i);
    }

    void index_all() {
        for (const T& element : elements_) note_form(Key()(element));
        if (elements_.size() > most_unindexed)
            make_slots(4 * elements_.size());
        else
            slots_.clear();
    }

    std::vector<T> elements_;
    /// Hash table with open addressing. A slot contains the number of an element, counted from 1; 0
    /// means that it is free.
    std::vector<std::uint32_t> slots_;
    std::size_t used_ = 0;      ///< number of slots in use
    bool other_forms_ = false;  ///< some name is not in Unicode's normal form C
};

}  // namespace thalweg::detail
