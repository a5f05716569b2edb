/* Puts by the library's own calls. The third argument has the settings of the session.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <thalweg/thalweg.h>

#include "passes.h"

int main(int argc, char** argv) {
    begin(argc, argv);
    tw_session session = NULL;
    OK(tw_init(MPI_COMM_WORLD, argc > 3 ? argv[3] : "", &session));
    MPI_Comm model = MPI_COMM_NULL;
    OK(tw_model_comm(session, &model));
    int counts[2] = {0, 0}, holders = 0;
    if (model != MPI_COMM_NULL) {
        MPI_Comm_rank(model, &counts[0]);
        MPI_Comm_size(model, &counts[1]);
        const int64_t whole[] = {NZ, rows, (int64_t)NX * counts[1]};
        const int64_t start[] = {0, 0, (int64_t)NX * counts[0]}, count[] = {NZ, rows, NX};
        tw_decomposition d = NULL;
        tw_file file = NULL;
        char name[8];
        OK(tw_decompose(session, "z y x", 1, whole, start, count, &d));
        OK(tw_create(session, "own.nc", NULL, &file));
        for (int v = 0; v < VARIABLES; v++) {
            snprintf(name, sizeof name, "v%d", v);
            OK(tw_def_var(file, name, TW_FLOAT, "time z y x", d));
        }
        for (int step = 0; step < STEPS; step++) {
            for (int v = 0; v < VARIABLES; v++) {
                snprintf(name, sizeof name, "v%d", v);
                OK(tw_put(file, name, TW_FLOAT, values, elements()));
            }
            OK(tw_end_step(file));
        }
        OK(tw_close(&file));
        OK(tw_free_decomposition(&d));
    }
    OK(tw_finalize(&session));
    MPI_Allreduce(&counts[1], &holders, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return finish("own calls", holders);
}
