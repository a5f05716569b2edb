// SPDX-License-Identifier: Apache-2.0
#include "definitions.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace thalweg::cfio {
namespace {

// Packs numbers, and texts with their lengths, into bytes.
class Packer {
public:
    void number(std::int64_t value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void size(std::size_t value) { number(static_cast<std::int64_t>(value)); }
    void text(const std::string& value) {
        size(value.size());
        bytes_ += value;
    }
    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

class Unpacker {
public:
    explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}
    std::int64_t number() {
        std::int64_t value = 0;
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::size_t size() { return static_cast<std::size_t>(number()); }
    std::string text() {
        const std::size_t length = size();
        at_ += length;
        return bytes_.substr(at_ - length, length);
    }

private:
    const std::string& bytes_;
    std::size_t at_ = 0;
};

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

std::string pack(const Definitions& definitions) {
    Packer to;
    to.size(definitions.dims.size());
    for (const Dimension& dim : definitions.dims) {
        to.text(dim.name);
        to.number(dim.length);
    }
    to.size(definitions.vars.size());
    for (const Variable& var : definitions.vars) {
        to.text(var.name);
        to.number(var.type);
        to.size(var.dims.size());
        for (const std::string& dim : var.dims) to.text(dim);
    }
    to.size(definitions.atts.size());
    for (const Attribute& att : definitions.atts) {
        to.text(att.variable);
        to.text(att.name);
        to.number(att.type);
        to.number(att.count);
        to.text(att.bytes);
    }
    return to.take();
}

Definitions unpack(const std::string& bytes) {
    Unpacker from(bytes);
    Definitions result;
    for (std::size_t n = from.size(); n > 0; --n) {
        Dimension dim;
        dim.name = from.text();
        dim.length = from.number();
        result.dims.push_back(std::move(dim));
    }
    for (std::size_t n = from.size(); n > 0; --n) {
        Variable var;
        var.name = from.text();
        var.type = static_cast<int>(from.number());
        var.dims.resize(from.size());
        for (std::string& dim : var.dims) dim = from.text();
        result.vars.push_back(std::move(var));
    }
    for (std::size_t n = from.size(); n > 0; --n) {
        Attribute att;
        att.variable = from.text();
        att.name = from.text();
        att.type = static_cast<int>(from.number());
        att.count = from.number();
        att.bytes = from.text();
        result.atts.push_back(std::move(att));
    }
    return result;
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
