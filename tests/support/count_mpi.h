/* Counts a process's collective calls of MPI and the communicators that it makes, by the profiling
 * interface: a program that compiles count_mpi.c counts what its libraries call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of MPI's calls since the program began: collectives, blocking or not, without those that
 * make or free a communicator; and new communicators. */
typedef struct {
    int collectives, communicators;
} mpi_counts;

mpi_counts count_mpi(void);

/* Prints each later call on standard error, with the function that made it, if `on` is not 0. */
void trace_mpi(int on);

#ifdef __cplusplus
}
#endif
