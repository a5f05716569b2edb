// The files of a small model: the parts of each rank, and every value.
//
// SPDX-License-Identifier: Apache-2.0
//
// Everything follows from formulas, so that the contents of any file can be checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "thalweg/thalweg.h"

namespace faults {

constexpr std::int64_t ny = 37;
constexpr std::int64_t nx = 24;
constexpr std::int64_t letters = 11;  // an odd number, so that there is padding

/// The ways in which a variable is distributed over the ranks.
enum class Spread {
    everywhere,  ///< each rank has the whole variable
    rows,        ///< each rank has a range of rows
    even_rows,   ///< as `rows`, but the rows of odd ranks are never written
    columns,     ///< each rank has a range of columns, x slowest in memory; the last rank has none
    last,        ///< letters, all on the last rank
};
constexpr int spreads = 5;

struct Field {
    const char* name;
    tw_type type;  ///< TW_DOUBLE, TW_INT or TW_CHAR
    Spread spread;
    bool record;
    bool scalar;
    int put_at;  ///< number of the step in which a fixed-size variable is put; -1: never
};

struct FileKind {
    const char* name;
    std::vector<Field> fields;
};

/// Returns the kinds history.nc, sparse.nc, static.nc (without records) and restart.nc (replaced
/// repeatedly).
const std::vector<FileKind>& kinds();
const FileKind& kind_of(const std::string& name);
const char* dims_of(const Field& field);

/// The boxes of a rank: start and count in memory order; empty if it holds nothing.
struct Held {
    std::vector<std::int64_t> shape, start, count;
    bool any = false;
};
Held held(Spread spread, int rank, int ranks);
const char* memory_dims(Spread spread);

/// Returns the number from which the value of an element is made; the value also depends on the
/// type.
std::int64_t number(const FileKind& file, std::size_t field, std::int64_t record, std::int64_t at);
double as_double(std::int64_t number);
std::int32_t as_int(std::int64_t number);
char as_char(std::int64_t number);

/// The array of this rank, in the rank's own order.
struct Values {
    std::vector<char> bytes;
    std::int64_t n = 0;
};
Values values_of(const FileKind& file, std::size_t field, std::int64_t record, int rank, int ranks);

/// Checks a complete file, which netCDF-C reads. Returns the error, or "".
/// @param records     number of records, if the file has records; otherwise the number of times
///                    that it was written
std::string look(const std::string& path, const FileKind& file, std::int64_t records, int ranks);

}  // namespace faults
