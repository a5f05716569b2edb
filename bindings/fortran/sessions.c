/* The beginning of a session, and the end of a program at an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fortran.h"

/* Returns the settings that this interface adds, followed by those of the program; NULL if there
 * is no memory. The caller frees the text. */
static char* all_settings(const char* settings) {
    static const char ours[] = "language=fortran; ";
    char* all = malloc(sizeof ours + strlen(settings));
    if (all != NULL) {
        strcpy(all, ours);
        strcat(all, settings);
    }
    return all;
}

#ifndef THALWEG_SERIAL
/* Converts a communicator. If MPI is not running, returns MPI_COMM_NULL, for which the library
 * returns an error; MPI_Comm_f2c would end the program. */
static MPI_Comm from_fortran(int comm) {
    int started = 0;
    int ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started && !ended ? MPI_Comm_f2c((MPI_Fint)comm) : MPI_COMM_NULL;
}

FROM_FORTRAN(int, thalweg_f_init, int comm, const char* settings, tw_session* session) {
    char* all = all_settings(settings);
    const int status = tw_init(from_fortran(comm), all == NULL ? settings : all, session);
    free(all);
    return status;
}

FROM_FORTRAN(int, thalweg_f_init_components, int comm, int n, const int* components, int serves,
             const char* settings, tw_session* sessions) {
    char* all = all_settings(settings);
    MPI_Comm* comms = malloc((size_t)(n > 0 ? n : 1) * sizeof *comms);
    for (int c = 0; comms != NULL && c < n; ++c) comms[c] = from_fortran(components[c]);
    const int status = tw_init_components(from_fortran(comm), n, comms, serves,
                                          all == NULL ? settings : all, sessions);
    free(comms);
    free(all);
    return status;
}

FROM_FORTRAN(int, thalweg_f_model_comm, tw_session session, int* comm) {
    MPI_Comm found = MPI_COMM_NULL;
    const int status = tw_model_comm(session, &found);
    *comm = (int)MPI_Comm_c2f(found);
    return status;
}
#endif

FROM_FORTRAN(int, thalweg_f_init_serial, const char* settings, tw_session* session) {
    char* all = all_settings(settings);
    const int status = tw_init_serial(all == NULL ? settings : all, session);
    free(all);
    return status;
}

static void stop(int status, tw_session session, const char* procedure) {
    int started = 0;
    int ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    const char* text = tw_error_message(session);
    if (started && !ended) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        // All ranks may have the same error. Let rank 0 print it and abort the others, which sleep.
        if (rank > 0) sleep(1);
        fprintf(stderr, "thalweg: rank %d: %s: %s%s%s\n", rank, procedure, tw_strerror(status),
                *text == '\0' ? "" : "\n  ", text);
        fflush(NULL);
        // Wait, because launchers may drop output that they have not forwarded when a rank aborts.
        usleep(200000);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    fprintf(stderr, "thalweg: %s: %s%s%s\n", procedure, tw_strerror(status),
            *text == '\0' ? "" : "\n  ", text);
    exit(EXIT_FAILURE);
}

/* The text of this thread's last error, if this interface has found it; otherwise empty. */
static _Thread_local char own_text[800];

FROM_FORTRAN(const char*, thalweg_f_error_message, tw_session session) {
    return own_text[0] != '\0' ? own_text : tw_error_message(session);
}

void thalweg_f_check(int status, tw_session session, const char* procedure, int* ierr) {
    if (status != TW_OK) {
        const int own = session == NULL && strchr(procedure, ':') != NULL;
        snprintf(own_text, sizeof own_text, "%s", own ? procedure : "");
    }
    if (ierr != NULL) {
        *ierr = status;
    } else if (status != TW_OK) {
        stop(status, session, procedure);
    }
}
