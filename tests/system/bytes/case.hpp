// A random case: the definitions, the decompositions, and the puts in their order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/parts.hpp"
#include "system/oracle.hpp"
#include "system/random.hpp"
#include "thalweg/thalweg.h"

using parts::Array;
using parts::Box;
using parts::Decomposition;

struct Dim {
    std::string name;
    std::int64_t length = 1;
};

struct Attribute {
    int var = -1;  // number of the variable; -1: global
    std::string name;
    tw_type type = TW_CHAR;
    std::int64_t n = 0;
    std::vector<char> values;
};

struct Variable {
    std::string name;
    tw_type type = TW_FLOAT;
    std::vector<int> dims;  // numbers of the dimensions in file order, without the record dimension
    bool record = false;
    int decomposition = -1;  // -1: replicated
    std::string settings;    // settings for tw_set_var, netCDF-4
};

struct Put {
    int var = 0;
    tw_type memory = TW_FLOAT;
    bool deferred = false;
    bool strided = false;
    bool replaced = false;  // a later put in the same step replaces it
    std::uint64_t salt = 0;
};

struct File {
    std::string name;
    std::string settings;
    std::string format;  // format of the reference
    std::size_t header_pad = default_header_pad;
    std::vector<int> defined_dims;  // defined explicitly, before the variables
    bool defines_time = false;
    std::vector<Variable> vars;
    std::vector<Attribute> attributes;
    std::vector<Attribute> late_attributes;
    bool enddef = false;
    int steps = 0;
    // Puts of each step and rank. The last entry contains those between the last step and the
    // close.
    std::vector<std::vector<std::vector<Put>>> puts;
    std::vector<bool> sync;  // sync after the step
};

struct Case {
    std::uint64_t seed = 0;
    int ranks = 1;
    std::vector<Dim> dims;
    std::vector<Decomposition> decompositions;
    std::vector<File> files;

    std::vector<std::int64_t> lengths() const {
        std::vector<std::int64_t> all;
        for (const Dim& d : dims) all.push_back(d.length);
        return all;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const Dim& d : dims) all.push_back(d.name);
        return all;
    }
    /// Returns what ranks hold of a variable; all of a replicated one.
    Decomposition decomposition_of(const Variable& v) const;
};

// Makes the values of elements by a hash of the element's global index in the dimensions of the
// case. The hash does not depend on the rank and the order.
struct Hasher {
    std::uint64_t base;
    explicit Hasher(const Case& c, std::size_t file, const Put& put, int step)
        : base(mix(mix(c.seed, file * 1000 + static_cast<std::uint64_t>(put.var)),
                   static_cast<std::uint64_t>(step) * 4096 + put.salt)) {}
    std::uint64_t operator()(const std::vector<int>& dims,
                             const std::vector<std::int64_t>& index) const {
        std::array<std::uint64_t, 4> global{};
        for (std::size_t d = 0; d < dims.size(); ++d)
            global[static_cast<std::size_t>(dims[d])] = static_cast<std::uint64_t>(index[d]);
        return mix(base ^ (global[0] + (global[1] << 16) + (global[2] << 32) + (global[3] << 48)));
    }
};

struct Limits {
    std::string method;  // method of writing; "": any
    std::string storage;
};

inline constexpr char time_name[] = "time";

/// Makes a case, which depends only on the seed and the number of ranks.
Case make_case(std::uint64_t seed, int ranks, const Limits& limits);

/// Makes the array of a put, with its values.
Array make_array(const Case& c, std::size_t file, int step, const Put& put, int rank,
                 Random& random);

/// Returns the definitions of the case as text.
std::string describe(const Case& c);
