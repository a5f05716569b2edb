// SPDX-License-Identifier: Apache-2.0
#include "definitions.hpp"

#include <algorithm>
#include <climits>

#include "base/wire.hpp"

namespace thalweg::cfio {
namespace {

template <class T>
bool covers(const List<T>& all, const List<T>& mine) {
    return std::all_of(mine.begin(), mine.end(),
                       [&](const T& one) { return all.find(KeyOf()(one)) >= 0; });
}

template <class T>
std::string first_difference(const List<T>& all, const List<T>& mine) {
    for (const T& one : mine)
        if (!(*all.get(KeyOf()(one)) == one)) return one.name;
    return "";
}

int lowest(int rank, MPI_Comm comm) {
    int result = INT_MAX;
    MPI_Allreduce(&rank, &result, 1, MPI_INT, MPI_MIN, comm);
    return result;
}

std::string broadcast(std::string text, int from, MPI_Comm comm) {
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, from, comm);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_BYTE, from, comm);
    return text;
}

}  // namespace

template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Dimension> dim) {
    wire(dim.name, dim.length);
}

template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Variable> var) {
    wire(var.name, var.type, var.dims);
}

template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Attribute> att) {
    wire(att.variable, att.name, att.type, att.count, att.bytes);
}

std::string pack(const Definitions& all) {
    const auto bytes = detail::message_of(std::vector(all.dims.begin(), all.dims.end()),
                                          std::vector(all.vars.begin(), all.vars.end()),
                                          std::vector(all.atts.begin(), all.atts.end()));
    return {bytes.begin(), bytes.end()};
}

Definitions unpack(const std::string& bytes) {
    std::vector<Dimension> dims;
    std::vector<Variable> vars;
    std::vector<Attribute> atts;
    detail::WireReader in(bytes);
    in(dims, vars, atts);
    return {std::move(dims), std::move(vars), std::move(atts)};
}

Definitions unite(Definitions mine, MPI_Comm clients, std::string& conflict) {
    int rank = 0;
    MPI_Comm_rank(clients, &rank);
    Definitions all;
    // In each round, the lowest client with new definitions sends them to all others. Usually only
    // one client puts attributes, so two rounds suffice.
    for (;;) {
        const bool covered = covers(all.dims, mine.dims) && covers(all.vars, mine.vars) &&
                             covers(all.atts, mine.atts);
        const int next = lowest(covered ? INT_MAX : rank, clients);
        if (next == INT_MAX) break;
        Definitions more =
            unpack(broadcast(rank == next ? pack(mine) : std::string(), next, clients));
        for (Dimension& dim : more.dims) add(all.dims, std::move(dim));
        for (Variable& var : more.vars) add(all.vars, std::move(var));
        for (Attribute& att : more.atts) add(all.atts, std::move(att));
    }
    std::string different = first_difference(all.dims, mine.dims);
    if (different.empty()) different = first_difference(all.vars, mine.vars);
    const int teller = lowest(different.empty() ? INT_MAX : rank, clients);
    conflict = teller == INT_MAX ? std::string() : broadcast(different, teller, clients);
    return all;
}

}  // namespace thalweg::cfio
