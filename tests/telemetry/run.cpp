// A small model whose run is analysed afterwards: it writes the given files, with a record variable
// for each type of access, and reads the first one again.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: run STEPS MILLISECONDS [FILE...]
// The settings come from the environment. After an error, prints its text and returns 1.

#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t rows = 60, columns = 500;

tw_session session = nullptr;
int failures = 0;

void check(int status, const char* what) {
    if (status == TW_OK) return;
    ++failures;
    std::fprintf(stderr, "%s: %s: %s\n", what, tw_strerror(status), tw_error_message(session));
}

/// The rows of this rank.
struct Part {
    std::int64_t first = 0, number = rows;
    std::vector<float> values(int step) const {
        std::vector<float> v(static_cast<std::size_t>(number * columns));
        for (std::size_t i = 0; i < v.size(); ++i)
            v[i] = static_cast<float>(step) + static_cast<float>(first * columns) +
                   static_cast<float>(i);
        return v;
    }
};

void write(const char* path, tw_decomposition cells, const Part& part, int steps, int pause) {
    tw_file file = nullptr;
    check(tw_create(session, path, nullptr, &file), "tw_create");
    if (file == nullptr) return;
    check(tw_def_dim(file, "time", TW_UNLIMITED), "tw_def_dim");
    check(tw_def_var(file, "T", TW_FLOAT, "time y x", cells), "tw_def_var");
    check(tw_def_var(file, "wind \"speed\"", TW_DOUBLE, "time y x", cells), "tw_def_var");
    for (int step = 0; step < steps; ++step) {
        const std::vector<float> values = part.values(step);
        const auto n = static_cast<std::int64_t>(values.size());
        check(tw_put(file, "T", TW_FLOAT, values.data(), n), "tw_put");
        check(
            tw_put_array(file, "wind \"speed\"", tw_dense(TW_FLOAT, values.data(), n), TW_DEFERRED),
            "tw_put_array");
        check(tw_end_step(file), "tw_end_step");
        usleep(static_cast<useconds_t>(pause) * 1000);
    }
    check(tw_close(&file), "tw_close");
}

void read(const char* path, tw_decomposition cells, const Part& part) {
    tw_file file = nullptr;
    check(tw_open(session, path, nullptr, &file), "tw_open");
    if (file == nullptr) return;
    std::vector<float> values(static_cast<std::size_t>(part.number * columns));
    check(tw_get(file, "T", cells, 0, TW_FLOAT, values.data(),
                 static_cast<std::int64_t>(values.size())),
          "tw_get");
    if (values != part.values(0)) check(TW_EINTERNAL, "wrong values");
    check(tw_close(&file), "tw_close");
}

void model(int steps, int pause, char** files, int number) {
    MPI_Comm comm = MPI_COMM_NULL;
    check(tw_model_comm(session, &comm), "tw_model_comm");
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    Part part;
    part.first = rows * rank / size;
    part.number = rows * (rank + 1) / size - part.first;
    const std::int64_t shape[] = {rows, columns}, start[] = {part.first, 0};
    const std::int64_t count[] = {part.number, columns};
    tw_decomposition cells = nullptr;
    check(tw_decompose(session, "y x", 1, shape, start, count, &cells), "tw_decompose");
    for (int f = 0; f < number; ++f) write(files[f], cells, part, steps, pause);
    const char* const storage = std::getenv("THALWEG_STORAGE");
    const bool kept = storage == nullptr || std::string(storage) != "memory";
    if (number > 0 && steps > 0 && kept) read(files[0], cells, part);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc < 3) {
        std::fprintf(stderr, "usage: run STEPS MILLISECONDS [FILE...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check(tw_init(MPI_COMM_WORLD, nullptr, &session), "tw_init");
    tw_role role = TW_MODEL;
    tw_inq_role(session, &role);
    if (failures == 0 && role == TW_MODEL)
        model(std::atoi(argv[1]), std::atoi(argv[2]), argv + 3, argc - 3);
    check(tw_finalize(&session), "tw_finalize");
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
