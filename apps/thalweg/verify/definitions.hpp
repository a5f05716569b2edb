// Compares the definitions of two files: dimensions, attributes, variables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "inspect/inspected.hpp"
#include "verify/difference.hpp"
#include "verify/options.hpp"

namespace thalweg::app {

/// Two files that are compared.
struct Pair {
    const Reader& a;
    const Reader& b;
    std::string name_a, name_b;
    const Inspection &inspected_a, &inspected_b;
};

/// A variable that is in both files with the same type and dimensions.
struct CommonVariable {
    std::string name;
    Variable variable;                ///< the variable according to the first file
    std::vector<std::int64_t> shape;  ///< lengths up to which values are compared; only the record
                                      ///< dimension's can differ
    bool record = false;              ///< the first dimension is the record dimension
};

/**
 * Adds the differences to the findings, in the order of the first file.
 * @return the variables whose values can be compared
 * @note Local, with the same result on every rank. Throws Error: TW_ENOTFOUND if the options name a
 *   variable that neither file has
 */
std::vector<CommonVariable> compare_definitions(const Pair& files, const VerifyOptions& options,
                                                Findings& found);

}  // namespace thalweg::app
