// A random case: the definitions, the decompositions, and the puts in their order.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_CASE_HPP
#define THALWEG_TESTS_SYSTEM_CASE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "system/oracle.hpp"
#include "thalweg/thalweg.h"

struct Dim {
    std::string name;
    std::int64_t length = 1;
};

struct Box {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
};

struct Decomposition {
    std::vector<int> dims;                // dimensions of the case, in memory order
    std::vector<std::vector<Box>> boxes;  // boxes of each rank
    bool with_halo = false;
    std::vector<std::vector<std::int64_t>> low, high;  // halo on each rank
    std::vector<std::int64_t> padded;                  // extents that all boxes share; may be empty
    // Number of boxes for which each rank's arrays have memory.
    std::vector<std::int64_t> room;
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
    std::vector<Dim> dims;
    std::vector<Decomposition> decompositions;
    std::vector<File> files;
};

struct Limits {
    std::string method;  // method of writing; "": any
    std::string storage;
};

inline constexpr char time_name[] = "time";

std::int64_t volume(const Box& box);

/// Makes a case, which depends only on the seed and the number of ranks.
Case make_case(std::uint64_t seed, int ranks, const Limits& limits);

/// Returns the whole case as text.
std::string describe(const Case& c);

#endif
