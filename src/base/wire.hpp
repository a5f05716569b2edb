// Converts values to bytes and back, for messages between processes of one run. The fields of a
// type are listed once, for both directions, by a function:
//
//     template <class Wire> void carry(Wire& wire, Carried<Wire, T> value) { wire(value.a, ...); }
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg::detail {

/// Reference to a value that is written, or to the variable into which a value is read.
template <class Wire, class T>
using Carried = typename Wire::template Value<T>&;

/// Tests if the elements of a list can be copied as bytes, without carry().
template <class List>
concept PlainList = std::is_trivially_copyable_v<typename List::value_type>;

class WireWriter {
public:
    template <class T>
    using Value = const T;

    template <class... T>
    void operator()(const T&... values) {
        (add(values), ...);
    }

    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto at = bytes.size();
        bytes.resize(at + sizeof value);
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }
    void put(const std::string& text) { put_many(text); }
    template <class T>
    void put(const std::vector<T>& values) {
        put_many(values);
    }
    std::vector<char> bytes;

private:
    template <class T>
    void add(const T& value) {
        if constexpr (requires { carry(*this, value); }) {
            carry(*this, value);
        } else if constexpr (std::is_trivially_copyable_v<T> || PlainList<T>) {
            put(value);
        } else {
            put(static_cast<std::uint64_t>(value.size()));
            for (const auto& element : value) add(element);
        }
    }
    template <class Many>
    void put_many(const Many& values) {
        put(static_cast<std::uint64_t>(values.size()));
        const auto at = bytes.size(), n = values.size() * sizeof(values[0]);
        bytes.resize(at + n);
        if (n > 0) std::memcpy(bytes.data() + at, values.data(), n);
    }
};

class WireReader {
public:
    template <class T>
    using Value = T;

    explicit WireReader(std::span<const char> bytes) : bytes_(bytes) {}

    template <class... T>
    void operator()(T&... values) {
        (take(values), ...);
    }

    template <class T>
    T get() {
        T value;
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    template <class Many>
    Many get_many() {
        Many values;
        values.resize(get<std::uint64_t>());
        const auto n = values.size() * sizeof(values[0]);
        if (n > 0) std::memcpy(values.data(), bytes_.data() + at_, n);
        at_ += n;
        return values;
    }

private:
    template <class T>
    void take(T& value) {
        if constexpr (requires { carry(*this, value); }) {
            carry(*this, value);
        } else if constexpr (std::is_trivially_copyable_v<T>) {
            value = get<T>();
        } else if constexpr (PlainList<T>) {
            value = get_many<T>();
        } else {
            value.resize(get<std::uint64_t>());
            for (auto& element : value) take(element);
        }
    }

    std::span<const char> bytes_;
    std::size_t at_ = 0;
};

/// Returns a message that contains these values.
template <class... T>
std::vector<char> message_of(const T&... values) {
    WireWriter out;
    out(values...);
    return std::move(out.bytes);
}

/// Returns the value in a message that contains nothing else.
template <class T>
T value_in(std::span<const char> bytes) {
    WireReader in(bytes);
    T value;
    in(value);
    return value;
}

}  // namespace thalweg::detail
