// Tests sessions and MPI in every wrong order, and invalid communicators.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: mpi_order FOLDER [SETTINGS FILE_SETTINGS]
// It ends MPI with a running session, so it reports itself: exit code 1 if a check has failed.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "thalweg/thalweg.h"

namespace {

int failures = 0, rank = 0, ranks = 1;

void expect(bool good, const char* what, const std::string& text) {
    if (good) return;
    ++failures;
    std::fprintf(stderr, "[rank %d] FAILED: %s: %s\n", rank, what, text.c_str());
}

// Checks that tw_init returns an error with these words.
void refused(MPI_Comm comm, const char* words) {
    tw_session session = nullptr;
    const int status = tw_init(comm, nullptr, &session);
    const std::string text = tw_error_message(session);
    expect(status == TW_EMPI && text.find(words) != std::string::npos, words,
           std::string(tw_strerror(status)) + ": " + text);
    expect(tw_finalize(&session) == TW_OK, "tw_finalize of what did not begin", "");
}

MPI_Comm freed() {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    const MPI_Comm handle = copy;
    MPI_Comm_free(&copy);
    return handle;
}

}  // namespace

int main(int argc, char** argv) {
    alarm(30);  // end the program if it hangs
    const std::string path = std::string(argv[1]) + "/order.nc";
    refused(MPI_COMM_NULL, "MPI is not initialized");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    refused(MPI_COMM_NULL, "MPI_COMM_NULL");
    refused(freed(), "not valid");
    if (ranks > 1) {
        MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &between);
        refused(between, "intercommunicator");
        MPI_Comm_free(&between);
        MPI_Comm_free(&half);
    }
    // The error handlers of MPI must be unchanged.
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    expect(handler == MPI_ERRORS_ARE_FATAL, "the error handler of MPI_COMM_WORLD", "changed");

    tw_session session = nullptr;
    tw_file file = nullptr;
    expect(tw_init(MPI_COMM_WORLD, argc > 2 ? argv[2] : nullptr, &session) == TW_OK, "tw_init",
           tw_error_message(session));
    tw_role role = TW_MODEL;
    tw_inq_role(session, &role);
    if (role == TW_MODEL) {
        MPI_Comm model = MPI_COMM_NULL;
        tw_model_comm(session, &model);
        MPI_Comm_rank(model, &rank);
        MPI_Comm_size(model, &ranks);
        const std::int64_t shape[] = {ranks, 100}, start[] = {rank, 0}, count[] = {1, 100};
        tw_decomposition row = nullptr;
        tw_decompose(session, "y x", 1, shape, start, count, &row);
        int status = tw_create(session, path.c_str(), argc > 3 ? argv[3] : nullptr, &file);
        expect(status == TW_OK, "tw_create", tw_error_message(session));
        tw_def_var(file, "T", TW_FLOAT, "time y x", row);
        const std::vector<float> values(100, 2.0F);
        for (int step = 0; step < 3; ++step) {
            tw_put(file, "T", TW_FLOAT, values.data(), 100);
            tw_end_step(file);
        }
        status = tw_sync(file, 0);
        expect(status == TW_OK, "tw_sync", tw_error_message(session));
    }
    MPI_Finalize();
    if (role == TW_MODEL) {
        const char* words = "MPI_Finalize was called before tw_finalize";
        const float value[100] = {};
        for (const int status :
             {tw_end_step(file), tw_put(file, "T", TW_FLOAT, value, 100), tw_close(&file),
              tw_create(session, path.c_str(), nullptr, &file)}) {
            const std::string text = tw_error_message(session);
            expect(status == TW_EMPI && text.find(words) != std::string::npos, words,
                   std::string(tw_strerror(status)) + ": " + text);
        }
        expect(tw_finalize(&session) == TW_EMPI, "tw_finalize after MPI_Finalize", "");
        char text[1000] = "";
        if (rank == 0 && access((path + ".part").c_str(), F_OK) == 0)
            expect(tw_recover(path.c_str(), TW_KEEP_LONGER, text, sizeof text) == TW_OK,
                   "tw_recover", text);
        if (rank == 0) expect(access(path.c_str(), F_OK) == 0, "the recovered file", text);
    } else {
        tw_finalize(&session);
    }
    refused(MPI_COMM_WORLD, "MPI is finalized");
    return failures == 0 ? 0 : 1;
}
