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
    std::vector<std::string> dims;  // names: ids are each client's own

    bool operator==(const Variable&) const = default;
};

struct Attribute {
    std::string variable;  // "" for the file
    std::string name;
    int type = 0;
    std::int64_t count = 0;
    std::string bytes;
};

// A function that returns the name of a definition among its kind.
struct KeyOf {
    template <class T>
    const std::string& operator()(const T& one) const {
        return one.name;
    }
    std::string operator()(const Attribute& one) const { return one.variable + '\0' + one.name; }
};

template <class T>
using List = detail::NamedList<T, KeyOf>;

// The first of a name stands.
template <class T>
void add(List<T>& list, T one) {
    if (list.find(KeyOf()(one)) < 0) list.push_back(std::move(one));
}

struct Definitions {
    List<Dimension> dims;
    List<Variable> vars;
    List<Attribute> atts;
};

// For agreements and for the program's other ranks.
std::string pack(const Definitions& definitions);
Definitions unpack(const std::string& bytes);

// The definitions of all clients, the same everywhere; of a name that several have, that of the
// lowest rank stands. conflict receives the name of a dimension or variable that is not the same on
// all clients, or "". Collective.
Definitions unite(Definitions mine, MPI_Comm clients, std::string& conflict);

}  // namespace thalweg::cfio

#endif
