// Values as bytes, for messages between processes of one run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace thalweg::detail {

class WireWriter {
public:
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
    explicit WireReader(const std::vector<char>& bytes) : bytes_(bytes) {}
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
    std::string get_text() { return get_many<std::string>(); }
    /// Returns the bytes that have not been read yet.
    std::vector<char> rest() const { return {bytes_.begin() + at_, bytes_.end()}; }

private:
    const std::vector<char>& bytes_;
    std::size_t at_ = 0;
};

}  // namespace thalweg::detail
