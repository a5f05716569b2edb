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
    std::vector<int> dims;  // slowest first, without the record dimension
    bool record = false;
    bool has_fill = false;
    bool put[2] = {};  // true if a fixed-size variable is put by the first run, and by the second
    // Storage in netCDF-4 files by netCDF-C:
    std::vector<std::size_t> chunk;  // all dimensions; empty: netCDF-C's default
    int deflate = 0;
    bool shuffle = false, sum = false;
};

/// The way in which the second run puts its records.
enum class Way { steps, records, boxes };

/// Both runs, as the seed determines them.
struct Case {
    std::uint64_t seed = 0;
    std::string format;
    std::vector<std::int64_t> dims;
    std::vector<Var> vars;
    // Records of the first run; first record and number of records of the second.
    int before = 0, first = 0, steps = 0;
    bool drop = false, told = false;  // `told`: tw_set_record is called
    bool by_library = false;          // the library writes the first run
    int writers_before = 1;           // ranks of the first run
    Way way = Way::steps;
    std::string tiles;  // tiles of a set of files: "MxN"; empty: a single file
    int parts = 1;      // number of tiles
    std::size_t pad = 4096, align = 4, between = 0;

    bool netcdf4() const { return format.rfind("netcdf4", 0) == 0; }
    /// Returns the final number of records.
    int after() const;
    /// Returns the run that has written a record of a variable last; -1: it was filled.
    int run_of(int var, int record) const;
    /// Tests if a run puts a record of a variable.
    bool is_put(int var, int record, int run) const;
    std::int64_t elements_of(const Var& v) const;
    std::uint64_t hash_of(int var, int record, int run, std::int64_t element) const;
    /// Returns all values of a variable (of one record).
    std::vector<char> values_of(int var, int record, int run) const;
};

std::string dim_name(int d);

constexpr char fill_byte = 7;  // value of every byte of a _FillValue

Case make_case(std::uint64_t seed, Random& random, int ranks);

/// Writes the file of the first run or, with `after`, the expected final file.
void write_by_netcdf(const std::string& path, const Case& c, bool after);

}  // namespace append_case

#endif
