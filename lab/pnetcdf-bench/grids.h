/* The grids of models whose output the programs write, and how the ranks divide them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Variables of the same grid: levels, rows, columns. */
typedef struct {
    const char* name;
    int vars, records, length[3];
    int cut[2]; /* dimensions along which the ranks divide it */
} Grid;

typedef enum { blocking, nonblocking, reading } Calls;

/* Finds the grid and the calls of a case, GRID/CALLS. Returns NULL if there is no such grid. */
const Grid* find_grid(const char* which, Calls* calls);

/* Computes this rank's part of a grid: record, levels, rows, columns. Returns its elements. */
int64_t cut_grid(const Grid* g, int rank, int ranks, int64_t start[4], int64_t count[4]);
