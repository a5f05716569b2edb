/* Counts the results of calls that are not the expected ones, and prints them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdio.h>

static int rank, ranks = 1, failures, mode; /* mode: that of the file under test */

#define EXPECT(wanted, call) expect(wanted, call, #call, __LINE__)
static inline void expect(long wanted, long got, const char* what, int line) {
    if (wanted == got) return;
    failures++;
    fprintf(stderr, "mode 0x%x, rank %d of %d, line %d: %s is %ld, not %ld\n", (unsigned)mode, rank,
            ranks, line, what, got, wanted);
}
