// Adapts messages to the program's language: the order of dimensions, and the first index.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text/text.hpp"

namespace thalweg::detail {

struct IndexConvention {
    /// true: fastest dimension first, indices counted from 1; false: as in C.
    bool fortran = false;

    /// Joins names or lengths of dimensions for a message. They are passed slowest first.
    template <class Values>
    std::string list(const Values& values, const char* between = ", ") const {
        std::vector<typename Values::value_type> items(values.begin(), values.end());
        if (fortran) std::reverse(items.begin(), items.end());
        return joined(items, between);
    }
    /// Joins names, each in quotes.
    template <class Values>
    std::string names(const Values& values) const {
        return list(values, " ");
    }
    /// Converts an index, position or record that is counted from 0 to the number that a message
    /// shows.
    std::int64_t index(std::int64_t from_0) const { return from_0 + (fortran ? 1 : 0); }
};

}  // namespace thalweg::detail
