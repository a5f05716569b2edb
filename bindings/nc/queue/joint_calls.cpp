// SPDX-License-Identifier: Apache-2.0
#include "nc/queue/joint_calls.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "nc/base/ranks.hpp"

namespace thalweg::nc {

namespace {

// The definitions that must be the same on all ranks.
struct Described {
    std::vector<Dimension> dimensions;
    std::vector<Variable> variables;
};

template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Described> d) {
    wire(d.dimensions, d.variables);
}

// Codes of the first differences between two tables, in names and in everything else; 0: none.
struct Differences {
    Index names = 0, others = 0;
};

Differences differences(const Described& a, const Table& b) {
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

// Returns a hash of the definitions. As even collective reads call this function, definitions that
// are already in the file are hashed only once.
Index JointCalls::hash_of_definitions() {
    const Table& table = definitions_.table;
    const bool fixed = !definitions_.is_new() && definitions_.changes.edits.empty();
    const std::size_t n = table.dimensions.size() + table.variables.size();
    if (fixed && hashed_ == n) return hash_;
    hashed_ = fixed ? n : 0;
    const std::vector<Dimension>& dimensions = table.dimensions;
    const std::vector<Variable>& variables = table.variables;
    const std::vector<char> message = detail::message_of(dimensions, variables);
    return hash_ = static_cast<Index>(detail::hash_of({message.data(), message.size()}) >> 1U);
}

JointCalls::All JointCalls::meet(const Own& own) {
    constexpr Index none = std::numeric_limits<Index>::max();
    const bool full = own.reason == Reason::full;
    const auto why = static_cast<Index>(own.reason);
    const auto any = [](bool value) { return Index{value ? -1 : 0}; };
    const Index hash = hash_of_definitions();
    std::array<Index, 16> least{full ? none : why,
                                full ? none : -why,
                                !full      ? 2
                                : own.much ? 0
                                           : 1,
                                any(own.values),
                                hash,
                                -hash,
                                -reductions.posted(),
                                -definitions_.table.records(),
                                own.varid < 0 ? none : own.varid,
                                any(own.failed),
                                number_,
                                -number_,
                                any(own.independent),
                                any(own.reason != Reason::wait || own.much),
                                any(own.passed),
                                reductions.posted()};
    // A rank that has yet to change definitions in the file cannot write with one that has not.
    if (!full && definitions_.changes.edits.empty()) reductions.show_waiting(next(), hash);
    reduce(session_.comm(), MPI_MIN, least.data(), least.size());
    mixed_ = least[10] != -least[11];
    if (mixed_) {
        reductions.show_waiting(0);
        MPI_Barrier(session_.comm());  // until no rank sees another one wait
        throw Error{different_calls,
                    definitions_.path + ": the ranks are in calls for different files"};
    }
    calls_++;
    reductions.catch_up(-least[6]);
    Table& table = definitions_.table;
    if (table.unlimited() >= 0)
        table.set_records(std::max({table.records(), -least[7], reductions.wait()}));
    return {least[0] != none && least[0] != -least[1],
            least[2] == 2,
            least[2] == 0,
            least[13] != 0,
            least[3] != 0,
            least[14] != 0,
            least[12] != 0,
            least[9] != 0,
            least[8] == none ? -1 : static_cast<int>(least[8]),
            least[4] == -least[5],
            least[15] != -least[6]};
}

void JointCalls::settle_definitions(const All& all, int root) {
    if (all.same_definitions) return;
    const MPI_Comm comm = session_.comm();
    Table& table = definitions_.table;
    Described taken = broadcast_value(comm, root, Described{table.dimensions, table.variables});
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
    for (std::size_t i = 0; i < std::min(taken.variables.size(), table.variables.size()); i++) {
        Variable& v = taken.variables[i];
        const bool no_fill = v.storage.no_fill;
        v.attributes = table.variables[i].attributes;
        v.storage = table.variables[i].storage;
        v.storage.no_fill = no_fill;
    }
    const Index records = table.records();
    table.dimensions = std::move(taken.dimensions);
    table.variables = std::move(taken.variables);
    table.set_records(records);
}

}  // namespace thalweg::nc
