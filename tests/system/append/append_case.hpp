// A random case of continued files, and the files that netCDF-C makes of it.
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
    std::vector<int> dims;  // numbers of the dimensions, slowest first, without the record
                            // dimension
    bool record = false;
    bool has_fill = false;
    bool put[2] = {};  // for a fixed-size variable: true for each run that puts it
    // Storage of the variable in a netCDF-4 file, made by netCDF-C:
    std::vector<std::size_t> chunk;  // chunk length in each dimension; empty: netCDF-C's default
    int deflate = 0;
    bool shuffle = false, sum = false;
};

/// The way in which the second run puts its records.
enum class Way { steps, records, boxes };

/// A test case: both runs, as the seed determines them.
struct Case {
    std::uint64_t seed = 0;
    std::string format;
    std::vector<std::int64_t> dims;
    std::vector<Var> vars;
    // Number of records of the first run; first record and number of records of the second run.
    int before = 0, first = 0, steps = 0;
    bool drop = false, told = false;  // later records are removed; tw_set_record is called
    bool by_library = false;          // the library writes the first run
    int writers_before = 1;           // ranks of the first run
    Way way = Way::steps;
    std::string tiles;  // tiles of a set of files: "MxN"; empty: a single file
    int parts = 1;      // number of tiles
    std::size_t pad = 4096, align = 4, between = 0;

    bool netcdf4() const { return format.rfind("netcdf4", 0) == 0; }
    /// Returns the final number of records.
    int after() const;
    /// Returns the run that was last to write a record of a variable; -1: the record has fill
    /// values.
    int run_of(int var, int record) const;
    /// Tests if a run puts a record of a variable.
    bool is_put(int var, int record, int run) const;
    std::int64_t elements_of(const Var& v) const;
    std::uint64_t hash_of(int var, int record, int run, std::int64_t element) const;
    /// Returns all values of a variable (of one record).
    std::vector<char> values_of(int var, int record, int run) const;
};

std::string dim_name(int d);

constexpr char fill_byte = 7;  // value of each byte of a _FillValue

Case make_case(std::uint64_t seed, Random& random, int ranks);

/// Writes the file of the first run; with `after`, the expected file after the second run.
void write_by_netcdf(const std::string& path, const Case& c, bool after);

}  // namespace append_case

#endif
