// A random case: what is defined, who holds what, what is put and when.
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
    std::vector<int> dims;                // of the case, in memory order
    std::vector<std::vector<Box>> boxes;  // of each rank
    bool with_halo = false;
    std::vector<std::vector<std::int64_t>> low, high;  // halo of each rank
    std::vector<std::int64_t> padded;                  // extents that all boxes share, or none
    std::vector<std::int64_t> room;                    // for boxes, of each rank
};

struct Attribute {
    int var = -1;  // -1: global
    std::string name;
    tw_type type = TW_CHAR;
    std::int64_t n = 0;
    std::vector<char> values;
};

struct Variable {
    std::string name;
    tw_type type = TW_FLOAT;
    std::vector<int> dims;  // of the case, in file order, without the record dimension
    bool record = false;
    int decomposition = -1;  // -1: replicated
    std::string settings;    // netCDF-4: of tw_set_var
};

struct Put {
    int var = 0;
    tw_type memory = TW_FLOAT;
    bool deferred = false;
    bool strided = false;
    bool replaced = false;  // a later put of the same step takes its place
    std::uint64_t salt = 0;
};

struct File {
    std::string name;
    std::string settings;
    std::string format;  // of the reference
    std::size_t header_pad = default_header_pad;
    std::vector<int> defined_dims;  // explicitly, before the variables
    bool defines_time = false;
    std::vector<Variable> vars;
    std::vector<Attribute> attributes;
    std::vector<Attribute> late_attributes;
    bool enddef = false;
    int steps = 0;
    // [step][rank]; the last entry holds what is put after the last step and before the close.
    std::vector<std::vector<std::vector<Put>>> puts;
    std::vector<bool> sync;  // after that step
};

struct Case {
    std::uint64_t seed = 0;
    std::vector<Dim> dims;
    std::vector<Decomposition> decompositions;
    std::vector<File> files;
};

struct Limits {
    std::string method;  // "" for any
    std::string storage;
};

inline constexpr char time_name[] = "time";

std::int64_t volume(const Box& box);

/// The case follows from the seed and the number of ranks alone.
Case make_case(std::uint64_t seed, int ranks, const Limits& limits);

/// The whole case as text.
std::string describe(const Case& c);

#endif
