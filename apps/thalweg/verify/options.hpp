// Options of thalweg verify.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

struct VerifyOptions {
    std::vector<std::string> files;  ///< paths of the files; two, unless checksums are verified
    bool joinable = false;           ///< tell why the files cannot be joined
    bool checksums = false;          ///< compare each file with its own checksums
    std::string a, b;                ///< paths of the two files to compare
    double tolerance = 0;            ///< largest difference of two values that count as equal
    double relative = 0;             ///< largest difference as a fraction of the larger magnitude
    /// Names of attributes to ignore: NAME, VARIABLE:NAME or, for global attributes, :NAME.
    std::vector<std::string> ignored;
    /// Names of variables to compare; empty: all variables and the global attributes.
    std::vector<std::string> variables;
    bool json = false;
};

}  // namespace thalweg::app
