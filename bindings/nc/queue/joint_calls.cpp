// SPDX-License-Identifier: Apache-2.0
#include "nc/queue/joint_calls.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "nc/base/ranks.hpp"
#include "nc/base/words.hpp"

namespace thalweg::nc {

namespace {

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

JointCalls::JointCalls(Session& session, Definitions& definitions)
    : reductions(session.comm(), session.lanes()),
      session_(session),
      definitions_(definitions),
      number_(session.files_made++) {}

// Computes the hashes of the definitions. As even collective reads call this function, definitions
// that are already in the file are hashed only once.
void JointCalls::hash_definitions() {
    const Table& table = definitions_.table;
    const bool fixed = !definitions_.is_new() && definitions_.changes.edits.empty();
    const std::size_t n = table.dimensions.size() + table.variables.size();
    if (fixed && hashed_ == n) return;
    hash_of_dimensions_ = hash_of_words(table.dimensions);
    hash_of_variables_ = hash_of_words(table.variables);
    hashed_ = fixed ? n : 0;
}

JointCalls::All JointCalls::meet(const Own& own) {
    constexpr Index none = std::numeric_limits<Index>::max();
    const bool full = own.reason == Reason::full;
    const auto why = static_cast<Index>(own.reason);
    const auto any = [](bool value) { return Index{value ? -1 : 0}; };
    hash_definitions();
    std::array<Index, 16> least{full ? none : why,
                                full ? none : -why,
                                !full      ? 2
                                : own.much ? 0
                                           : 1,
                                any(own.values),
                                hash_of_dimensions_,
                                -hash_of_dimensions_,
                                hash_of_variables_,
                                -hash_of_variables_,
                                -reductions.posted(),
                                -definitions_.table.records(),
                                own.varid < 0 ? none : own.varid,
                                any(own.failed),
                                number_,
                                -number_,
                                any(own.independent),
                                any(own.reason != Reason::wait || own.much)};
    if (!full) reductions.show_waiting(next());
    reduce(session_.comm(), MPI_MIN, least.data(), least.size());
    mixed_ = least[12] != -least[13];
    if (mixed_) {
        reductions.show_waiting(0);
        MPI_Barrier(session_.comm());  // until no rank sees another one wait
        throw Error{different_calls,
                    definitions_.path + ": the ranks are in calls for different files"};
    }
    calls_++;
    reductions.catch_up(-least[8]);
    Table& table = definitions_.table;
    if (table.unlimited() >= 0)
        table.set_records(std::max({table.records(), -least[9], reductions.wait()}));
    return {least[0] != none && least[0] != -least[1],
            least[2] == 2,
            least[2] == 0,
            least[15] != 0,
            least[3] != 0,
            least[14] != 0,
            least[11] != 0,
            least[10] == none ? -1 : static_cast<int>(least[10]),
            {least[4], least[5]},
            {least[6], least[7]}};
}

void JointCalls::settle_definitions(const All& all, int root) {
    const auto same = [](const Index* hash) { return hash[0] == -hash[1]; };
    if (same(all.dimensions) && same(all.variables)) return;
    const MPI_Comm comm = session_.comm();
    Table& table = definitions_.table;
    Table taken =
        table_of(broadcast(comm, root, words_of(table.dimensions) + words_of(table.variables)));
    const Differences mine = differences(taken, table);
    Index found[] = {mine.names, mine.others};
    reduce(comm, MPI_MIN, found, 2);
    const auto code = static_cast<int>(found[1] != 0 ? found[1] : found[0]);
    if (!definitions_.is_new() && code == 0) return;
    if (!definitions_.is_new() || (all.values && found[1] != 0)) {
        const bool dimensions = code >= other_dimension_name;
        throw Error{code, definitions_.path + ": the ranks have defined different " +
                              (dimensions ? "dimensions" : "variables")};
    }
    taken.attributes = table.attributes;
    for (std::size_t i = 0; i < std::min(taken.variables.size(), table.variables.size()); i++) {
        Variable& v = taken.variables[i];
        const bool no_fill = v.storage.no_fill;
        v.attributes = table.variables[i].attributes;
        v.storage = table.variables[i].storage;
        v.storage.no_fill = no_fill;
    }
    const Index records = table.records();
    table = std::move(taken);
    table.set_records(records);
}

}  // namespace thalweg::nc
