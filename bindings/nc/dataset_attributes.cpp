// Attributes of an open file: the root's values, which all ranks adopt.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "dataset.hpp"

namespace thalweg::nc {

namespace {

template <class T>
void append(std::string& text, const T& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string& text, const std::string& value) {
    append(text, value.size());
    text += value;
}

class Unpacker {
public:
    explicit Unpacker(const std::string& text) : text_(text) {}
    bool more() const { return at_ < text_.size(); }
    template <class T>
    T value() {
        T result;
        std::memcpy(&result, text_.data() + at_, sizeof result);
        at_ += sizeof result;
        return result;
    }
    std::string text() {
        const auto n = value<std::size_t>();
        at_ += n;
        return text_.substr(at_ - n, n);
    }

private:
    const std::string& text_;
    std::size_t at_ = 0;
};

}  // namespace

void Dataset::agree_attributes() {
    if (fresh_.empty()) return;
    std::vector<std::pair<int, std::string>> agreed;
    if (!shares_attributes_) {
        agreed = std::exchange(fresh_, {});
        add_attribute_edits(agreed);
        return;
    }
    std::string packed;
    for (const auto& [varid, name] : fresh_) {
        const Attribute& a = table_.attribute(varid, name);
        append(packed, varid);
        append(packed, a.name);
        append(packed, a.type);
        append(packed, a.n);
        append(packed, a.bytes);
    }
    packed = broadcast(session_.comm(), root_, packed);
    for (Unpacker unpacker(packed); unpacker.more();) {
        const int varid = unpacker.value<int>();
        Attribute a;
        a.name = unpacker.text();
        a.type = unpacker.value<nc_type>();
        a.n = unpacker.value<Index>();
        a.bytes = unpacker.text();
        agreed.emplace_back(varid, a.name);
        table_.attributes_of(varid).set(std::move(a));
    }
    const std::set<std::pair<int, std::string>> kept(agreed.begin(), agreed.end());
    for (const auto& mine : fresh_)
        if (!kept.contains(mine))
            table_.attributes_of(mine.first).remove_if([&](const Attribute& a) {
                return a.name == mine.second;
            });
    fresh_.clear();
    add_attribute_edits(agreed);
}

void Dataset::add_attribute_edits(const std::vector<std::pair<int, std::string>>& put) {
    if (state_ == State::defining) return;
    for (const auto& [varid, name] : put)
        edits_.push_back({Edit::Kind::attribute, varid, "", "", table_.attribute(varid, name)});
}

// Passes attributes to the library, which accepts them even while it writes the file.
void Dataset::settle_attributes() {
    agree_attributes();
    if (state_ != State::writing) return;
    const bool only = std::all_of(edits_.begin(), edits_.end(),
                                  [](const Edit& e) { return e.kind == Edit::Kind::attribute; });
    if (!only) return;
    dirty_ |= !edits_.empty();
    for (const Edit& e : edits_) {
        const std::string var = e.id == NC_GLOBAL ? "" : table_.variable(e.id).name;
        check(tw_put_att(file_, var.c_str(), e.attribute.name.c_str(),
                         static_cast<tw_type>(e.attribute.type), e.attribute.n,
                         e.attribute.bytes.data()));
    }
    edits_.clear();
}

}  // namespace thalweg::nc
