// Tests an exception on one rank with an open session: the handler runs, and the program ends.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: unwinding FOLDER SETTINGS abort|finalize|return|again
// The last rank throws in the middle of a step, while the others wait for it. Its handler calls
// MPI_Abort, as a model does, or the program goes on to MPI_Finalize. With `return`, the rank
// leaves the session without an exception. With `again`, all ranks throw, and write the file in
// another session. The handler prints the error. Started by unwinding.sh.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

namespace {

enum class End { good, fails, returns, all_fail };

void write_history(const std::string& folder, const std::string& settings, End end) {
    thalweg::Session io(MPI_COMM_WORLD, settings);
    if (io.role() == thalweg::Role::server) return;
    int rank = 0, ranks = 1;
    MPI_Comm_rank(io.model_comm(), &rank);
    MPI_Comm_size(io.model_comm(), &ranks);
    const auto row = io.decompose("y x", {ranks, 1000}, {{{rank, 0}, {1, 1000}}});
    auto history = io.create(folder + "/history.nc");
    history.def_var("T", thalweg::Type::float32, "time y x", row);
    const std::vector<float> values(1000, 1.0F);
    for (int step = 0; step < 5; ++step) {
        history.put("T", values);
        const bool ends = step == 3 && (rank == ranks - 1 || end == End::all_fail);
        if (ends && end == End::returns) return;
        if (ends && end != End::good) throw std::runtime_error("the model has blown up");
        history.end_step();
        history.sync();
    }
    history.close();
}

}  // namespace

int main(int argc, char** argv) {
    alarm(20);  // end the program if it hangs
    const std::string mode = argv[3];
    MPI_Init(&argc, &argv);
    // A session that begins and ends while an exception is being handled ends normally.
    struct Late {
        ~Late() {
            thalweg::Session io(MPI_COMM_WORLD);
            io.decompose("x", {4}, {});
        }
    };
    try {
        const Late late;
        throw 1;
    } catch (int) {
    }
    try {
        write_history(argv[1], argv[2],
                      mode == "again"    ? End::all_fail
                      : mode == "return" ? End::returns
                                         : End::fails);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "caught: %s\n", error.what());
        if (mode == "abort") MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (mode == "again") write_history(argv[1], argv[2], End::good);
    MPI_Finalize();
}
