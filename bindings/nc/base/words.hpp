// Texts that carry numbers and names to other ranks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <utility>

namespace thalweg::nc {

template <class T>
void append_word(std::string& text, const T& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void append_name(std::string& text, const std::string& name) {
    append_word(text, name.size());
    text += name;
}

// Reads what append_word() and append_name() have written.
class Words {
public:
    explicit Words(std::string text) : text_(std::move(text)) {}

    bool more() const { return at_ < text_.size(); }
    template <class T>
    T next() {
        T value{};
        std::memcpy(&value, text_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::string name() {
        const auto size = next<std::size_t>();
        at_ += size;
        return text_.substr(at_ - size, size);
    }

private:
    std::string text_;
    std::size_t at_ = 0;
};

}  // namespace thalweg::nc
