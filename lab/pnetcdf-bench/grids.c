/* SPDX-License-Identifier: Apache-2.0 */
#include "grids.h"

#include <mpi.h>
#include <string.h>

static const Grid grids[] = {{"t85", 36, 2, {26, 128, 256}, {1, 1}},
                             {"fv-b", 36, 4, {26, 91, 144}, {0, 1}},
                             {"fv-d", 36, 1, {26, 361, 576}, {0, 1}},
                             {"cmaq-ca", 146, 1, {35, 134, 89}, {1, 2}},
                             {"wrf", 202, 4, {27, 61, 74}, {1, 2}}};

const Grid* find_grid(const char* which, Calls* calls) {
    const char* const end = strrchr(which, '/');
    if (end == NULL) return NULL;
    *calls = strcmp(end, "/reading") == 0    ? reading
             : strcmp(end, "/blocking") == 0 ? blocking
                                             : nonblocking;
    const size_t n = (size_t)(end - which);
    for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++)
        if (strlen(grids[g].name) == n && strncmp(which, grids[g].name, n) == 0) return &grids[g];
    return NULL;
}

int64_t cut_grid(const Grid* g, int rank, int ranks, int64_t start[4], int64_t count[4]) {
    int parts[2] = {0, 0};
    const int once = g->cut[0] == g->cut[1];
    MPI_Dims_create(ranks, once ? 1 : 2, parts);
    if (once) parts[1] = 1;
    start[0] = 0;
    count[0] = 1;
    for (int d = 0; d < 3; d++) {
        start[d + 1] = 0;
        count[d + 1] = g->length[d];
    }
    for (int c = 0; c < (once ? 1 : 2); c++) {
        const int mine = c == 0 ? rank / parts[1] : rank % parts[1];
        const int64_t all = g->length[g->cut[c]];
        start[1 + g->cut[c]] = all * mine / parts[c];
        count[1 + g->cut[c]] = all * (mine + 1) / parts[c] - all * mine / parts[c];
    }
    return count[1] * count[2] * count[3];
}
