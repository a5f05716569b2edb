// The definitions of one client, and of all clients together.
//
// SPDX-License-Identifier: Apache-2.0
//
// CFIO's clients send their definitions to the servers, one by one, and the first definition of a
// name counts; attributes may come from one client only. The library requires the same definitions
// on every rank. So each client keeps its own, and they are united when the definitions end.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "definitions/named_list.hpp"

namespace thalweg::cfio {

struct Dimension {
    std::string name;
    std::int64_t length = 0;  // 0: unlimited

    bool operator==(const Dimension&) const = default;
};

struct Variable {
    std::string name;
    int type = 0;
    std::vector<std::string> dims;  // names of the dimensions, because ids differ between clients

    bool operator==(const Variable&) const = default;
};

struct Attribute {
    std::string variable;  // name of the variable; empty for an attribute of the file
    std::string name;
    int type = 0;
    std::int64_t count = 0;
    std::string bytes;
};

// Returns the name that identifies a definition among those of the same kind.
struct KeyOf {
    template <class T>
    const std::string& operator()(const T& one) const {
        return one.name;
    }
    std::string operator()(const Attribute& one) const { return one.variable + '\0' + one.name; }
};

template <class T>
using List = detail::NamedList<T, KeyOf>;

// Adds a definition, unless there is one of the same name.
template <class T>
void add(List<T>& list, T one) {
    if (list.find(KeyOf()(one)) < 0) list.push_back(std::move(one));
}

struct Definitions {
    List<Dimension> dims;
    List<Variable> vars;
    List<Attribute> atts;
};

// Packs definitions for agreements and for the other ranks of the program.
std::string pack(const Definitions& definitions);
Definitions unpack(const std::string& bytes);

// Unites the definitions of all clients. Of definitions with the same name, that of the lowest rank
// counts. The result is the same on all clients. `conflict` receives the name of a dimension or
// variable whose definitions differ, or "". Collective.
Definitions unite(Definitions mine, MPI_Comm clients, std::string& conflict);

}  // namespace thalweg::cfio
