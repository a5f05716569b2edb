// What one client has defined, and what all of them have.
//
// SPDX-License-Identifier: Apache-2.0
//
// CFIO's clients send their definitions to the servers, one by one, and the first one of a name
// stands; attributes may come from one client only. The library wants every rank to define the
// same. So each client keeps its own, and they are united when the definitions end.
#ifndef THALWEG_CFIO_DEFINITIONS_HPP
#define THALWEG_CFIO_DEFINITIONS_HPP

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace thalweg::cfio {

struct Dimension {
    std::string name;
    std::int64_t length = 0;  // 0: unlimited

    bool names_same(const Dimension& other) const { return name == other.name; }
    bool operator==(const Dimension&) const = default;
};

struct Variable {
    std::string name;
    int type = 0;
    std::vector<std::string> dims;  // names: ids are each client's own

    bool names_same(const Variable& other) const { return name == other.name; }
    bool operator==(const Variable&) const = default;
};

struct Attribute {
    std::string variable;  // "" for the file
    std::string name;
    int type = 0;
    std::int64_t count = 0;
    std::string bytes;

    bool names_same(const Attribute& other) const {
        return variable == other.variable && name == other.name;
    }
};

template <class T>
auto find(std::vector<T>& list, const T& wanted) {
    return std::find_if(list.begin(), list.end(),
                        [&](const T& one) { return one.names_same(wanted); });
}

// The first of a name stands.
template <class T>
void add(std::vector<T>& list, T one) {
    if (find(list, one) == list.end()) list.push_back(std::move(one));
}

struct Definitions {
    std::vector<Dimension> dims;
    std::vector<Variable> vars;
    std::vector<Attribute> atts;
};

// The last one of a name stands, at the place of the first.
void put(std::vector<Attribute>& atts, Attribute att);

// For agreements and for the program's other ranks.
std::string pack(const Definitions& definitions);
Definitions unpack(const std::string& bytes);

// The definitions of all clients, the same everywhere; of a name that several have, that of the
// lowest rank stands. conflict receives the name of a dimension or variable that is not the same on
// all clients, or "". Collective.
Definitions unite(Definitions mine, MPI_Comm clients, std::string& conflict);

}  // namespace thalweg::cfio

#endif
