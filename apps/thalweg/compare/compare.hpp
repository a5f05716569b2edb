// Measures how fast each method writes here, compared with plain writes of the same bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compare/options.hpp"

namespace thalweg::app {

/**
 * Measures several methods, in turn. Each rank holds a band of latitudes in the order (lat, lev,
 * lon); files have the order (lev, lat, lon). Rank 0 prints a table with the seconds of a step in a
 * session that has written before, and with the additional seconds of the first file of a run.
 * @return the exit status; 1 if a method has not written the same file as the first one
 * @note Collective over MPI_COMM_WORLD
 */
int compare(const CompareOptions& options);

}  // namespace thalweg::app
