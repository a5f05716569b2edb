// A field of levels, rows and columns in bands of rows, one for each rank but the last, and a file
// with several variables of this form.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_SERVICES_BANDS_HPP
#define THALWEG_TESTS_SYSTEM_SERVICES_BANDS_HPP

#include <algorithm>
#include <cstdint>
#include <string>

#include "system/calls.hpp"

namespace bands {

struct Shape {
    std::int64_t levels, rows, columns;
};

/// The band of this rank. The last rank holds nothing, unless it is the only one.
class Band {
public:
    explicit Band(const Shape& shape) {
        const std::int64_t rank = check::state.rank;
        const std::int64_t holders = std::max(check::state.size - 1, 1);
        first = rank < holders ? shape.rows * rank / holders : 0;
        const std::int64_t held = rank < holders ? shape.rows * (rank + 1) / holders - first : 0;
        elements = shape.levels * held * shape.columns;
        const std::int64_t whole[] = {shape.levels, shape.rows, shape.columns};
        const std::int64_t start[] = {0, first, 0}, count[] = {shape.levels, held, shape.columns};
        OK(tw_decompose(calls::session, "lev lat lon", 1, whole, start, count, &decomposition));
    }
    ~Band() { OK(tw_free_decomposition(&decomposition)); }
    Band(const Band&) = delete;
    Band& operator=(const Band&) = delete;

    std::int64_t first = 0;  ///< number of the first row
    std::int64_t elements = 0;
    tw_decomposition decomposition = nullptr;
};

inline std::string name_of(int variable) { return "v" + std::to_string(variable); }

/// Creates a file of records with a number of float variables.
inline tw_file create(const std::string& path, int variables, const Band& band) {
    tw_file file = nullptr;
    OK(tw_create(calls::session, path.c_str(), nullptr, &file));
    for (int v = 0; v < variables; ++v)
        OK(tw_def_var(file, name_of(v).c_str(), TW_FLOAT, "time lev lat lon", band.decomposition));
    OK(tw_enddef(file));
    return file;
}

}  // namespace bands

#endif
