// Compares the definitions of two files: dimensions, attributes, variables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "difference.hpp"
#include "inspected.hpp"
#include "verify.hpp"

namespace thalweg::app {

/// Two files under comparison.
struct Pair {
    const Reader& a;
    const Reader& b;
    std::string name_a, name_b;
    const detail::Inspection &inspected_a, &inspected_b;
};

/// A variable that is in both files with the same type and dimensions.
struct CommonVariable {
    std::string name;
    Variable variable;                ///< the variable according to the first file
    std::vector<std::int64_t> shape;  ///< lengths that both have: those of the record dimension may
                                      ///< differ
    bool record = false;              ///< the first dimension is the record dimension
};

/**
 * Adds the differences to the findings, in the order of the first file.
 * @return the variables whose values can be compared
 * @note Local, with the same result on every rank. Throws Error: TW_ENOTFOUND for a variable of the
 *       options that is in neither file
 */
std::vector<CommonVariable> compare_definitions(const Pair& files, const VerifyOptions& options,
                                                Findings& found);

}  // namespace thalweg::app
