// Definitions that differ between ranks.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "pnetcdf_codes.hpp"
#include "queued.hpp"
#include "ranks.hpp"

namespace thalweg::nc {

using namespace pnetcdf_codes;

namespace {

template <class T>
void append_word(std::string& text, const T& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_name(std::string& text, const std::string& name) {
    append_word(text, name.size());
    text += name;
}

std::string words_of(const detail::NamedList<Dimension>& dimensions) {
    std::string text;
    append_word(text, dimensions.size());
    for (const Dimension& d : dimensions) {
        append_name(text, d.name);
        append_word(text, d.unlimited ? Index{-1} : d.length);
    }
    return text;
}

std::string words_of(const detail::NamedList<Variable>& variables) {
    std::string text;
    append_word(text, variables.size());
    for (const Variable& v : variables) {
        append_name(text, v.name);
        append_word(text, v.type);
        append_word(text, v.storage.no_fill);
        append_word(text, v.dims.size());
        for (const int d : v.dims) append_word(text, d);
    }
    return text;
}

template <class List>
Index hash_of_words(const List& list) {
    return static_cast<Index>(detail::hash_of(words_of(list)) >> 1U);
}

// Decodes the output of words_of().
class Words {
public:
    explicit Words(std::string text) : text_(std::move(text)) {}

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

Table table_of(std::string text) {
    Words words(std::move(text));
    Table table;
    for (auto n = words.next<std::size_t>(); n > 0; n--) {
        Dimension d;
        d.name = words.name();
        d.length = words.next<Index>();
        d.unlimited = d.length < 0;
        d.length = std::max<Index>(d.length, 0);
        table.dimensions.push_back(std::move(d));
    }
    for (auto n = words.next<std::size_t>(); n > 0; n--) {
        Variable v;
        v.name = words.name();
        v.type = words.next<nc_type>();
        v.storage.no_fill = words.next<bool>();
        v.dims.resize(words.next<std::size_t>());
        for (int& d : v.dims) d = words.next<int>();
        table.variables.push_back(std::move(v));
    }
    return table;
}

// Codes of the first differences between two tables, in names and in everything else; 0: none.
struct Differences {
    Index names = 0, others = 0;
};

Differences differences(const Table& a, const Table& b) {
    Differences found;
    const auto note = [](Index& to, bool differs, int code) {
        if (differs && to == 0) to = code;
    };
    note(found.others, a.dimensions.size() != b.dimensions.size(), other_dimensions);
    for (std::size_t i = 0; i < std::min(a.dimensions.size(), b.dimensions.size()); i++) {
        const Dimension &x = a.dimensions[i], &y = b.dimensions[i];
        note(found.names, x.name != y.name, other_dimension_name);
        const bool same = x.unlimited == y.unlimited && (x.unlimited || x.length == y.length);
        note(found.others, !same, other_dimension_length);
    }
    note(found.others, a.variables.size() != b.variables.size(), other_variables);
    for (std::size_t i = 0; i < std::min(a.variables.size(), b.variables.size()); i++) {
        const Variable &x = a.variables[i], &y = b.variables[i];
        note(found.names, x.name != y.name, other_variable_name);
        note(found.others, x.dims.size() != y.dims.size(), other_variable_rank);
        note(found.others, x.dims != y.dims, other_variable_dimensions);
        note(found.others, x.type != y.type, other_variable_type);
    }
    return found;
}

}  // namespace

// Computes the hashes of the definitions. As even collective reads call this function, definitions
// that are already in the file are hashed only once.
void QueuedFile::hash_definitions() {
    const std::size_t n = table_.dimensions.size() + table_.variables.size();
    if (state_ != State::defining && edits_.empty() && hashed_ == n) return;
    hash_of_dimensions_ = hash_of_words(table_.dimensions);
    hash_of_variables_ = hash_of_words(table_.variables);
    hashed_ = state_ == State::defining || !edits_.empty() ? 0 : n;
}

void QueuedFile::settle_definitions(const Index* hashes, bool data) {
    if (hashes[0] == -hashes[1] && hashes[2] == -hashes[3]) return;
    const MPI_Comm comm = session_.comm();
    const Table roots =
        table_of(broadcast(comm, root_, words_of(table_.dimensions) + words_of(table_.variables)));
    const Differences mine = differences(roots, table_);
    Index found[] = {mine.names, mine.others};
    reduce(comm, MPI_MIN, found, 2);
    const auto code = static_cast<int>(found[1] != 0 ? found[1] : found[0]);
    if (!is_new() && code == 0) return;
    if (!is_new() || (data && found[1] != 0)) {
        const bool dimensions = code >= other_dimension_name;
        throw Error{code, path_ + ": the ranks have defined different " +
                              (dimensions ? "dimensions" : "variables")};
    }
    Table taken = roots;
    taken.attributes = table_.attributes;
    for (std::size_t i = 0; i < std::min(taken.variables.size(), table_.variables.size()); i++) {
        Variable& v = taken.variables[i];
        const bool no_fill = v.storage.no_fill;
        v.attributes = table_.variables[i].attributes;
        v.storage = table_.variables[i].storage;
        v.storage.no_fill = no_fill;
    }
    const int unlimited = table_.unlimited();
    const Index records = unlimited < 0 ? 0 : table_.length(unlimited);
    table_ = std::move(taken);
    if (table_.unlimited() >= 0) table_.dimension(table_.unlimited()).length = records;
}

}  // namespace thalweg::nc
