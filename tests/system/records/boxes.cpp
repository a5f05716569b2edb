// Tests tw_put_box with all services: whatever boxes the ranks put, the file must be the one that
// the same boxes make in plain arrays.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: boxes [--seed N] [--cases N] [--seconds N] [--verbose]
// Ranks put into rows of their own, so that the order between ranks does not matter.

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "box_case.hpp"
#include "system/check.hpp"
#include "system/model.hpp"
#include "system/random.hpp"

using namespace box_case;  // NOLINT: the cases that this program runs

namespace {

struct Service {
    std::string session, file;
};
std::vector<Service> services() {
    std::vector<Service> all{{"", "service=background"}};
    const int ranks = check::state.size;
    if (ranks > 1) all.push_back({"servers=1", "service=servers"});
    if (ranks > 2) all.push_back({"servers=2:last; node_size=2", "service=servers"});
    if (ranks > 3) all.push_back({"servers=2; node_size=2", "service=servers"});
    if (ranks > 4) all.push_back({"servers=3; node_size=2", "service=servers"});
    if (ranks > 4) all.push_back({"servers=3:last; node_size=3", "service=servers"});
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    const std::uint64_t seed = std::stoull(check::option(argc, argv, "--seed", "1"));
    const long cases = std::stol(check::option(argc, argv, "--cases", "40"));
    const double seconds = std::stod(check::option(argc, argv, "--seconds", "3"));
    folder = check::make_folder("boxes");
    fixed_cases_inline();
    long done = 0;
    for (const Service& s : services()) {
        const std::string settings = "log=off; " + s.session;
        {
            Model m(MPI_COMM_WORLD, settings);
            if (m) {
                fixed_cases(m, s.file, settings);
                const double begin = MPI_Wtime();
                for (long k = 0; k < cases; ++k) {
                    int over = MPI_Wtime() - begin > seconds ? 1 : 0;
                    MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, m.comm);
                    if (over != 0) break;
                    const Case c =
                        make_case(mix(seed, static_cast<std::uint64_t>(k)), m.size, s.file);
                    if (!run(m, c, check::text("%s; case %ld", settings.c_str(), k))) break;
                    ++done;
                }
            }
            m.end();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (check::state.rank == 0) {
        check::print(check::text("boxes: %ld cases", done));
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    return check::verdict("boxes");
}
