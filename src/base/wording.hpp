// How texts tell of dimensions and indices: in the order of the program's language, and counted as
// it counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace thalweg::detail {

struct Wording {
    bool fortran = false;  ///< fastest dimension first, indices from 1; else as in C

    /// Names or lengths of dimensions, which the library has slowest first.
    template <class Values>
    std::string list(const Values& values, const char* between = ", ") const {
        std::vector<typename Values::value_type> items(values.begin(), values.end());
        if (fortran) std::reverse(items.begin(), items.end());
        return joined(items, between);
    }
    /// The same of names.
    template <class Values>
    std::string names(const Values& values) const {
        return list(values, " ");
    }
    /// An index, position or record, which the library counts from 0.
    std::int64_t index(std::int64_t from_0) const { return from_0 + (fortran ? 1 : 0); }
};

}  // namespace thalweg::detail
