// A model whose steps take time, for jobs on several hosts that tests disturb. Every rank prints
// errors of its calls, and rank 0 prints the number of committed records.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: model PATH --settings S --steps N --pace MILLISECONDS [--rows N]
// In double T(time, y, x) with x = 1024, element (t, y, x) is 1e7 (t + 1) + 1024 y + x. After every
// step that is committed, rank 0 prints "committed N". Exit code 0: all calls succeeded. 3: some
// failed, on every rank.

#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t columns = 1024;

bool is_model(tw_session session) {
    tw_role role = TW_SERVER;
    return tw_inq_role(session, &role) == TW_OK && role == TW_MODEL;
}

/// Checks the result of a call: prints an error once. @return true if the call succeeded
bool good(tw_session session, int status, const char* call) {
    if (status != TW_OK)
        check::print(check::text("[rank {}] {}: {}: {}", check::state.rank, call,
                                 tw_strerror(status), tw_error_message(session)));
    return status == TW_OK;
}

bool run(tw_session session, const std::string& path, long steps, long pace, std::int64_t rows) {
    MPI_Comm comm = MPI_COMM_NULL;
    tw_model_comm(session, &comm);
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const std::int64_t shape[2] = {rows, columns};
    const std::int64_t start[2] = {rows * rank / size, 0};
    const std::int64_t count[2] = {rows * (rank + 1) / size - start[0], columns};
    tw_decomposition cells = nullptr;
    tw_file file = nullptr;
    if (!good(session, tw_decompose(session, "y x", 1, shape, start, count, &cells),
              "tw_decompose") ||
        !good(session, tw_create(session, path.c_str(), nullptr, &file), "tw_create"))
        return false;
    bool well = good(session, tw_def_var(file, "T", TW_DOUBLE, "time y x", cells), "tw_def_var") &&
                good(session, tw_enddef(file), "tw_enddef");
    std::vector<double> data(static_cast<std::size_t>(count[0] * columns));
    for (long t = 0; t < steps && well; ++t) {
        for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = 1e7 * static_cast<double>(t + 1) + static_cast<double>(start[0] * columns) +
                      static_cast<double>(i);
        ::usleep(static_cast<useconds_t>(pace * 1000));
        well =
            good(session,
                 tw_put(file, "T", TW_DOUBLE, data.data(), static_cast<std::int64_t>(data.size())),
                 "tw_put") &&
            good(session, tw_end_step(file), "tw_end_step") &&
            good(session, tw_sync(file, 0), "tw_sync");
        if (well && rank == 0) check::print("committed " + std::to_string(t + 1));
    }
    return good(session, tw_close(&file), "tw_close") && well;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check::state.rank);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 1);
    const std::string settings = check::option(argc, argv, "--settings", "");
    tw_session session = nullptr;
    bool well = good(session, tw_init(MPI_COMM_WORLD, settings.c_str(), &session), "tw_init");
    if (well && is_model(session))
        well = run(session, argv[1], std::stol(check::option(argc, argv, "--steps", "3")),
                   std::stol(check::option(argc, argv, "--pace", "0")),
                   std::stoll(check::option(argc, argv, "--rows", "64")));
    well = good(nullptr, tw_finalize(&session), "tw_finalize") && well;
    MPI_Finalize();
    return well ? 0 : 3;
}
