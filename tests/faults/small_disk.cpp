// Writes a file to a disk, or under a limit, that may be too small for any part of it.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: small_disk PATH SESSION_SETTINGS FILE_SETTINGS
// Every call succeeds or fails with TW_EIO on all ranks alike; otherwise the exit code is 1. Prints
// "written" if all of them succeeded. Started by shared_memory.sh and small_disk.sh.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "thalweg/thalweg.h"

namespace {

tw_session session = nullptr;
int rank = 0, first = TW_OK;
MPI_Comm model = MPI_COMM_NULL;

void judge(const char* call, int status) {
    if (status != TW_OK && status != TW_EIO) {
        std::fprintf(stderr, "[rank %d] %s: %s\n", rank, call, tw_error_message(session));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (first == TW_OK) first = status;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    alarm(30);  // end the program if it hangs
    MPI_Init(&argc, &argv);
    const std::string settings = std::string("log=off; ") + argv[2];
    if (tw_init(MPI_COMM_WORLD, settings.c_str(), &session) != TW_OK) {
        std::fprintf(stderr, "%s\n", tw_error_message(session));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    tw_model_comm(session, &model);
    if (model != MPI_COMM_NULL) {
        int ranks = 1;
        MPI_Comm_rank(model, &rank);
        MPI_Comm_size(model, &ranks);
        const std::int64_t shape[] = {ranks, 50}, start[] = {rank, 0}, count[] = {1, 50};
        tw_decomposition row = nullptr;
        tw_decompose(session, "y x", 1, shape, start, count, &row);
        tw_file file = nullptr;
        judge("tw_create", tw_create(session, argv[1], argv[3], &file));
        if (file != nullptr) {
            for (int v = 0; v < 12; ++v) {
                const std::string name = "v" + std::to_string(v);
                tw_def_var(file, name.c_str(), TW_FLOAT, v < 6 ? "time y x" : "y x", row);
                tw_put_att_text(file, name.c_str(), "long_name", std::string(200, 'a').c_str());
            }
            judge("tw_enddef", tw_enddef(file));
            const std::vector<float> values(50, 1.0F);
            for (int step = 0; step < 4 && first == TW_OK; ++step) {
                for (int v = 0; v < 12; ++v)
                    judge("tw_put", tw_put(file, ("v" + std::to_string(v)).c_str(), TW_FLOAT,
                                           values.data(), 50));
                judge("tw_end_step", tw_end_step(file));
                judge("tw_sync", tw_sync(file, 0));
            }
            if (first == TW_OK)
                judge("tw_put_att",
                      tw_put_att_text(file, "v0", "late", std::string(9000, 'b').c_str()));
            const int status = tw_close(&file);
            judge("tw_close", status);
            int least = status;
            MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, model);
            if (least != status) judge("tw_close, which is another on other ranks,", TW_EINTERNAL);
        }
        if (rank == 0 && first == TW_OK) std::puts("written");
    }
    tw_finalize(&session);
    MPI_Finalize();
    return 0;
}
