// The files of a small model: what each rank holds, and what every value is.
//
// SPDX-License-Identifier: Apache-2.0
//
// All follows from formulas, so that whoever finds a file can tell whether it is right.
#ifndef THALWEG_TESTS_FAULTS_FILES_HPP
#define THALWEG_TESTS_FAULTS_FILES_HPP

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "thalweg/thalweg.h"

namespace faults {

constexpr std::int64_t ny = 37;
constexpr std::int64_t nx = 24;
constexpr std::int64_t letters = 11;  // odd: there is padding

/// How a variable lies on the ranks.
enum class Spread {
    everywhere,  ///< every rank holds the whole
    rows,        ///< a range of rows each
    even_rows,   ///< the same, but odd ranks hold nothing: their rows are never written
    columns,     ///< a range of columns each, x slowest in memory; the last rank holds nothing
    last,        ///< letters, all on the last rank
};
constexpr int spreads = 5;

struct Field {
    const char* name;
    tw_type type;  ///< TW_DOUBLE, TW_INT or TW_CHAR
    Spread spread;
    bool record;
    bool scalar;
    int put_at;  ///< step of a fixed-size variable's put; -1: never
};

struct FileKind {
    const char* name;
    std::vector<Field> fields;
};

/// history.nc, sparse.nc, static.nc (no records), restart.nc (made anew again and again).
const std::vector<FileKind>& kinds();
const FileKind& kind_of(const std::string& name);
const char* dims_of(const Field& field);

/// The boxes of a rank: start and count in the order of the array in memory; empty: holds nothing.
struct Held {
    std::vector<std::int64_t> shape, start, count;
    bool any = false;
};
Held held(Spread spread, int rank, int ranks);
const char* memory_dims(Spread spread);

/// The number behind a value; what it looks like depends on the type.
std::int64_t number(const FileKind& file, std::size_t field, std::int64_t record, std::int64_t at);
double as_double(std::int64_t number);
std::int32_t as_int(std::int64_t number);
char as_char(std::int64_t number);

/// This rank's array, in its own order.
struct Values {
    std::vector<char> bytes;
    std::int64_t n = 0;
};
Values values_of(const FileKind& file, std::size_t field, std::int64_t record, int rank, int ranks);

/// What is wrong with a complete file as netCDF-C sees it; "" if all is well.
/// @param records     of a file with records: their number; else the generation of its values
std::string look(const std::string& path, const FileKind& file, std::int64_t records, int ranks);

}  // namespace faults

#endif
