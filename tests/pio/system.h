/* The iosystem of programs that can be run with the argument "async", too: the last rank then only
 * does I/O.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PIO_SYSTEM_H
#define PIO_SYSTEM_H

#include <string.h>

#include "check.h"

static MPI_Comm world; /* communicator of the ranks that run the model */

/* Starts MPI, and an iosystem of all ranks that run the model. Returns 0 if this rank did I/O; MPI
 * has then ended. */
static inline int begin_system(int argc, char** argv, int strided, int* iosysid) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    world = MPI_COMM_WORLD;
    OK(PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, NULL));
    if (argc < 2 || strcmp(argv[argc - 1], "async") != 0) {
        const int number = strided ? (ranks + 1) / 2 : 1, stride = strided ? 2 : 1;
        OK(PIOc_Init_Intracomm(world, number, stride, 0, PIO_REARR_BOX, iosysid));
        return 1;
    }
    const int last = ranks - 1, io = rank == last;
    MPI_Comm parts[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Comm_split(MPI_COMM_WORLD, io, rank, &parts[io]);
    world = parts[0];
    ranks = last;
    OK(PIOc_init_async_from_comms(MPI_COMM_WORLD, 1, parts, parts[1], PIO_REARR_BOX, iosysid));
    if (io) MPI_Finalize();
    return !io;
}

#endif
