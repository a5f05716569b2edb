// Runs the model of restarts, which check_kills.py kills, from the newest of its restarts to the
// end. Arguments: folder, settings, milliseconds that a step takes, and 1 to hold lists of columns
// with few open files.
//
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <thread>

#include "restart_model.hpp"

using namespace histories;

namespace {

std::string restart_of(const std::string& folder, int step) {
    return folder + "/restart_" + std::to_string(step) + ".nc";
}

/// Returns the number of the step of the latest restart; 0: there is none. Collective.
int newest(const std::string& folder) {
    int found = 0;
    for (int n = 1; n <= steps && check::state.rank == 0; ++n)
        if (std::filesystem::exists(restart_of(folder, n))) found = n;
    MPI_Bcast(&found, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return found;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    if (argc != 5) return 2;
    const std::string folder = argv[1];
    const int pause = std::stoi(argv[3]);
    const int done = newest(folder);
    Runner run({folder, MPI_COMM_WORLD, argv[2], argv[4][0] == '1'});
    if (done > 0) run.load(restart_of(folder, done));
    for (int n = done + 1; n <= steps; ++n) {
        run.step(n);
        if (n % 9 == 0) run.save(restart_of(folder, n));
        std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    }
    run.end();
    return check::verdict("history_victim");
}
