// Describes a problem to the library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <string>
#include <vector>

#include "fields/problem.hpp"

namespace thalweg::bench {

inline tw_type type_of(const Group& g) {
    return g.spec->type == Element::f4 ? TW_FLOAT : TW_DOUBLE;
}

/// Throws if a call of the library failed.
void check_tw(tw_session session, int status, const char* what);

/// Describes what this rank holds of a group; returns null if all ranks hold the same.
/// @note Collective
tw_decomposition decompose(tw_session session, const Problem& problem, const Group& group);

/// Defines the dimensions and variables of a problem, and ends the definitions.
/// @note Collective
void define(tw_session session, tw_file file, const Problem& problem,
            const std::vector<tw_decomposition>& decompositions);

}  // namespace thalweg::bench
