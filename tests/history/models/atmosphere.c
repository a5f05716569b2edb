/* SPDX-License-Identifier: Apache-2.0
 *
 * An atmosphere with two fields of different types on bands of latitude. It writes instants to a
 * file for each day, and daily statistics: means, totals of rain, means of maxima over six hours,
 * temperatures weighted by rain, and standard deviations.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <thalweg/thalweg.h>

enum { NY = 10, NX = 8, STEPS = 144, DT = 1800 };

static void check(tw_status status, tw_session io) {
    if (status == TW_OK) return;
    fprintf(stderr, "%s\n%s\n", tw_strerror(status), tw_error_message(io));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void declare_axis(tw_session io, tw_history history, const char* name, const char* units,
                         int n, double first, double distance) {
    double values[NY > NX ? NY : NX];
    for (int i = 0; i < n; ++i) values[i] = first + i * distance;
    check(tw_history_coordinate(history, name, name, NULL, tw_dense(TW_DOUBLE, values, n), units),
          io);
}

static void run_model(tw_session io) {
    MPI_Comm comm;
    int rank, ranks;
    check(tw_model_comm(io, &comm), io);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int first = NY * rank / ranks, rows = NY * (rank + 1) / ranks - first;

    tw_decomposition bands;
    tw_history history;
    tw_field rain, temperature;
    check(tw_decompose(io, "lat lon", 1, (int64_t[]){NY, NX}, (int64_t[]){first, 0},
                       (int64_t[]){rows, NX}, &bands),
          io);
    check(tw_history_open(io, "atmosphere.toml", "proleptic_gregorian", "2000-02-28", "step=1800",
                          &history),
          io);
    declare_axis(io, history, "lat", "units=degrees_north", NY, -90, 20);
    declare_axis(io, history, "lon", "units=degrees_east", NX, 0, 45);
    check(tw_history_field(history, "pr", TW_FLOAT, "lat lon", bands, "units=kg m-2 s-1", &rain),
          io);
    check(tw_history_field(history, "tas", TW_DOUBLE, "lat lon", bands, "units=K", &temperature),
          io);
    check(tw_history_ready(history), io);

    double t[NY][NX];
    float r[NY][NX];
    for (int step = 1; step <= STEPS; ++step) {
        for (int j = 0; j < rows; ++j) {
            const int lat = first + j;
            for (int i = 0; i < NX; ++i) {
                t[j][i] = 280 + 0.125 * lat + i + (11 * step + 3 * i) % 17;
                /* It never rains at one latitude. */
                const int dry = (step + i) % 3 == 0 || lat == 4;
                r[j][i] = dry ? 0.0f : (float)((5 * step + lat) % 7);
            }
        }
        check(tw_history_time(history, (double)DT * step), io);
        /* The rain is sent first, because it is a weight of the temperature. */
        if (tw_wants(rain)) check(tw_send(rain, TW_FLOAT, r, rows * NX), io);
        if (tw_wants(temperature)) check(tw_send(temperature, TW_DOUBLE, t, rows * NX), io);
        check(tw_history_end_step(history), io);
    }
    check(tw_history_close(&history), io);
    check(tw_free_decomposition(&bands), io);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    tw_session io;
    tw_role role;
    const tw_status begun = tw_init(MPI_COMM_WORLD, NULL, &io);
    check(begun, io);
    check(tw_inq_role(io, &role), io);
    if (role == TW_MODEL) run_model(io);
    const tw_status ended = tw_finalize(&io);
    check(ended, io);
    MPI_Finalize();
    return 0;
}
