/* Checks for the programs of this folder: a failure is printed with its rank, and the program ends
 * with an error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PIO_CHECK_H
#define PIO_CHECK_H

#include <netcdf.h>
#include <pio.h>

static int failures, rank, ranks;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            fprintf(stderr, "[rank %d] %s:%d: %s\n", rank, __FILE__, __LINE__, #condition);        \
        }                                                                                          \
    } while (0)

#define IS(call, expected)                                                                         \
    do {                                                                                           \
        const int is_got = (call), is_expected = (expected);                                       \
        if (is_got != is_expected) {                                                               \
            failures++;                                                                            \
            fprintf(stderr, "[rank %d] %s:%d: %s is %d, not %d\n", rank, __FILE__, __LINE__,       \
                    #call, is_got, is_expected);                                                   \
        }                                                                                          \
    } while (0)

#define OK(call) IS(call, 0)

#endif
