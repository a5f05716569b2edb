// The doctor's findings, and the lines to type if something is wrong.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

enum class Level {
    good,
    note,     ///< the library works, but could work better
    problem,  ///< the library or a part of it does not work
};

struct Diagnosis {
    Level level = Level::good;
    std::string subject, text;
    std::string remedy;  ///< command that mends it; empty if there is none
};

using Diagnoses = std::vector<Diagnosis>;

}  // namespace thalweg::app
