// What a random case of continued files writes, and the files that netCDF-C makes of it.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_APPEND_CASE_HPP
#define THALWEG_TESTS_SYSTEM_APPEND_CASE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "system/random.hpp"
#include "thalweg/thalweg.h"

namespace append_case {

struct Var {
    std::string name;
    tw_type type = TW_FLOAT;
    std::vector<int> dims;  // slowest first, without the record dimension
    bool record = false;
    bool has_fill = false;
    bool put[2] = {};  // a fixed-size variable: at first, and when written on
    // Of netCDF-4 files by netCDF-C:
    std::vector<std::size_t> chunk;  // of all dimensions; empty: as netCDF-C likes
    int deflate = 0;
    bool shuffle = false, sum = false;
};

/// How the second run puts its records.
enum class Way { steps, records, boxes };

/// What the seed says of both runs.
struct Case {
    std::uint64_t seed = 0;
    std::string format;
    std::vector<std::int64_t> dims;
    std::vector<Var> vars;
    int before = 0, first = 0, steps = 0;  // records of the first run; of the second
    bool drop = false, told = false;       // whether tw_set_record is called
    bool by_library = false;               // who writes the first run
    int writers_before = 1;                // ranks of it
    Way way = Way::steps;
    std::string tiles;  // of a set of files: "MxN"; empty: it is none
    int parts = 1;      // of it
    std::size_t pad = 4096, align = 4, between = 0;

    bool netcdf4() const { return format.rfind("netcdf4", 0) == 0; }
    /// Records in the end.
    int after() const;
    /// Which run's values a variable has in the end in a record; -1: it was filled.
    int run_of(int var, int record) const;
    /// Whether a run puts a record of a variable.
    bool is_put(int var, int record, int run) const;
    std::int64_t elements_of(const Var& v) const;
    std::uint64_t hash_of(int var, int record, int run, std::int64_t element) const;
    /// All values of a variable (of a record).
    std::vector<char> values_of(int var, int record, int run) const;
};

std::string dim_name(int d);

constexpr char fill_byte = 7;  // of every byte of a _FillValue

Case make_case(std::uint64_t seed, Random& random, int ranks);

/// The first run's file, or with `after` what must be there in the end.
void write_by_netcdf(const std::string& path, const Case& c, bool after);

}  // namespace append_case

#endif
