// Boxes of ranks, the file that results, and the calls that put them.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_BOX_CASE_HPP
#define THALWEG_TESTS_SYSTEM_BOX_CASE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "system/model.hpp"
#include "thalweg/thalweg.h"

namespace box_case {

inline std::string folder;  // folder for all files

// A variable. Its lengths leave out the record dimension; the second to last one is the number of
// rows.
struct Variable {
    const char* name;
    tw_type type;
    const char* dims;
    bool record;
    std::vector<std::int64_t> shape;
};

struct Put {
    int variable = 0;
    std::vector<std::int64_t> start, count;  // start and count, including the record dimension
    std::vector<double> data;
    std::vector<std::int64_t> stride{};  // stride; empty: 1 in all dimensions

    std::int64_t step(std::size_t d) const { return stride.empty() ? 1 : stride[d]; }
};

enum class What { put, end_step, sync };
struct Action {
    What what;
    Put put;
};

struct Case {
    std::int64_t rows = 1, columns = 1;
    std::vector<Variable> variables;
    std::string file;
    bool apart = false;  // ranks end different numbers of steps
    std::vector<std::vector<Action>> of_rank;
};

inline constexpr double fill_value = -77;

// Makes boxes of random sizes at random places.
Case make_case(std::uint64_t seed, int ranks, const std::string& file);

// Creates a file with the variables of a case, and ends its definitions.
tw_file create(Model& m, const std::string& path, const Case& c);

// Puts the boxes of a case, and compares the file with the expected contents.
// @return true if they agree
bool run(Model& m, const Case& c, const std::string& what);

// Tests calls with known results, in a session with the service that the settings of the file name.
void fixed_cases(Model& m, const std::string& file, const std::string& settings);
// Runs the same tests in separate sessions with service inline.
void fixed_cases_inline();

}  // namespace box_case

#endif
