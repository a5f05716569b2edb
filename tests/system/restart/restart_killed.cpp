// Writes restarts with the same name, one after another, until it is killed; and checks that the
// remaining file is complete.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: restart_killed --die MICROSECONDS PATH SETTINGS | --look PATH
// Rank 0, a rank of the model, kills itself MICROSECONDS after it has written the first generation.
#include <signal.h>
#include <sys/time.h>

#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/restart/definitions.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t columns = 3000, rows = 50;

double value(int generation, std::int64_t at) {
    return generation + static_cast<double>(at) / static_cast<double>(rows * columns);
}

struct State {
    tw_session session = nullptr;
    tw_restart restart = nullptr;
    bool is_model = false;
    std::int64_t start = 0, count = 0;
    std::vector<double> a, b;

    explicit State(const std::string& settings) {
        const int status = tw_init(MPI_COMM_WORLD, settings.c_str(), &session);
        CHECK_TEXT(status == TW_OK, "%s", tw_error_message(session));
        tw_role role = TW_MODEL;
        int rank = 0, size = 1;
        CHECK(tw_inq_role(session, &role) == TW_OK);
        if (role != TW_MODEL) return;
        is_model = true;
        MPI_Comm comm = MPI_COMM_NULL;
        CHECK(tw_model_comm(session, &comm) == TW_OK);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        start = columns * rank / size;
        count = columns * (rank + 1) / size - start;
        const std::int64_t shape[2] = {rows, columns}, first[2] = {0, start}, n[2] = {rows, count};
        tw_decomposition cells = nullptr;
        CHECK(tw_decompose(session, "y x", 1, shape, first, n, &cells) == TW_OK);
        CHECK(tw_restart_new(session, nullptr, &restart) == TW_OK);
        a.resize(static_cast<std::size_t>(rows * count));
        b = a;
        const auto size_of_all = static_cast<std::int64_t>(a.size());
        CHECK(tw_restart_add(restart, "a", TW_DOUBLE, "y x", cells, a.data(), size_of_all, 0) ==
              TW_OK);
        CHECK(tw_restart_add(restart, "b", TW_DOUBLE, "x y", cells, b.data(), size_of_all, 0) ==
              TW_OK);
    }
    double wanted(int generation, std::size_t i) const {
        const auto at = static_cast<std::int64_t>(i);
        return value(generation, at / count * columns + start + at % count);
    }
    void write(int generation, const std::string& path) {
        for (std::size_t i = 0; i < a.size(); ++i) b[i] = -(a[i] = wanted(generation, i));
        CHECK(tw_put_att(definitions_of(restart), nullptr, "generation", TW_INT, 1, &generation) ==
              TW_OK);
        const int status = tw_restart_write(restart, path.c_str());
        CHECK_TEXT(status == TW_OK, "%s", tw_error_message(session));
    }
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string mode = argc > 2 ? argv[1] : "";
    if (mode == "--die" && argc == 5) {
        State state(argv[4]);
        if (!state.is_model) return 1;  // a server, after the model's end
        const long delay = std::stol(argv[2]);
        for (int generation = 1;; ++generation) {
            state.write(generation, argv[3]);
            if (generation > 1 || check::state.rank != 0) continue;
            ::signal(SIGALRM, [](int) { ::raise(SIGKILL); });
            ::alarm(0);
            struct itimerval timer {};
            timer.it_value.tv_usec = delay;
            ::setitimer(ITIMER_REAL, &timer, nullptr);
        }
    }
    if (mode != "--look") return 2;
    State state("log=off");
    tw_file file = nullptr;
    const int status = tw_restart_read(state.restart, argv[2], &file);
    CHECK_TEXT(status == TW_OK, "%s", tw_error_message(state.session));
    int generation = 0;
    CHECK(tw_get_att(file, "", "generation", TW_INT, 1, &generation) == TW_OK);
    bool right = generation > 0;
    for (std::size_t i = 0; i < state.a.size(); ++i)
        right &= state.a[i] == state.wanted(generation, i) && state.b[i] == -state.a[i];
    CHECK_TEXT(right, "not all of generation %d", generation);
    check::print(check::text("generation %d is whole", generation));
    CHECK(tw_finalize(&state.session) == TW_OK);
    return check::verdict("restart_killed");
}
