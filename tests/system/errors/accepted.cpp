// Tests runs that end abnormally after tw_end_step has accepted steps: no step is lost, and no rank
// waits forever.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: accepted HOW FOLDER SETTINGS FILE_SETTINGS   writes accepted.nc there and ends
//        accepted look FOLDER LEAST MOST             recovers it, and checks the number of records
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../look.hpp"
#include "thalweg/thalweg.hpp"

namespace {

constexpr int steps = 30, rows = 4, columns = 50;
int rank = 0, ranks = 1;
std::optional<thalweg::Session> static_session;
std::optional<thalweg::File> static_file;

float value(std::int64_t record, std::int64_t element) {
    return static_cast<float>(record < 0 ? 7 * element : 1000 * record + element);
}

struct Run {
    tw_session session = nullptr;
    tw_file file = nullptr;
    std::vector<float> data = std::vector<float>(rows * columns);

    bool good(const char* call, int status) const {
        if (status != TW_OK)
            std::fprintf(stderr, "[rank %d] %s: %s\n", rank, call, tw_error_message(session));
        return status == TW_OK;
    }
    int put(const char* name, std::int64_t record) {
        for (int i = 0; i < rows * columns; ++i) data[i] = value(record, rank * rows * columns + i);
        return tw_put(file, name, TW_FLOAT, data.data(), rows * columns);
    }
    bool begin(const std::string& folder, const char* settings, const char* file_settings) {
        if (!good("tw_init", tw_init(MPI_COMM_WORLD, settings, &session))) std::exit(2);
        tw_role role = TW_MODEL;
        tw_inq_role(session, &role);
        if (role == TW_SERVER) return false;
        MPI_Comm model = MPI_COMM_NULL;
        tw_model_comm(session, &model);
        MPI_Comm_rank(model, &rank);
        MPI_Comm_size(model, &ranks);
        const std::int64_t shape[] = {rows * ranks, columns}, start[] = {rows * rank, 0};
        const std::int64_t count[] = {rows, columns};
        tw_decomposition d = nullptr;
        bool all = good("tw_decompose", tw_decompose(session, "y x", 1, shape, start, count, &d));
        all = all && good("tw_create", tw_create(session, (folder + "/accepted.nc").c_str(),
                                                 file_settings, &file));
        all = all && good("tw_def_var", tw_def_var(file, "T", TW_FLOAT, "time y x", d));
        all = all && good("tw_def_var", tw_def_var(file, "U", TW_FLOAT, "time y x", d));
        all = all && good("tw_def_var", tw_def_var(file, "h", TW_FLOAT, "y x", d));
        all = all && good("tw_put", put("h", -1));
        for (int s = 0; s < steps && all; ++s) {
            all = good("tw_put", put("T", s)) && good("tw_put", put("U", s));
            all = all && good("tw_end_step", tw_end_step(file));
        }
        if (!all) std::exit(2);
        return true;
    }
    // Closes the file, which must fail on all ranks.
    void close_fails() {
        if (tw_close(&file) != TW_OK) return;
        std::fprintf(stderr, "[rank %d] tw_close did not fail\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
};

void end(Run& run, const std::string& how) {
    if (how == "late attribute") {
        tw_put_att(run.file, "T", "who", TW_INT, 1, &rank);
        run.close_fails();
    } else if (how == "sync and close") {
        if (rank == 0 && tw_sync(run.file, 0) == TW_OK) MPI_Abort(MPI_COMM_WORLD, 2);
        run.close_fails();
    } else if (how == "missing") {
        run.put("T", steps);
        if (rank == 0) run.put("U", steps);
        run.close_fails();
    } else if (how == "another step") {  // an error on one rank only
        run.put("T", steps);
        run.put("U", steps);
        if (rank == 0) tw_end_step(run.file);
        run.close_fails();
    } else if (how == "cancel") {
        if (rank == 0)
            tw_cancel(&run.session, "a test");
        else
            run.close_fails();
    } else if (how == "abandon") {
        tw_abandon(&run.session);
        MPI_Finalize();
        std::exit(0);
    } else if (how == "MPI_Finalize") {
        MPI_Finalize();
        std::exit(0);
    } else {  // an error after all data were written
        if (how == "one with static objects") {
            MPI_Comm model = MPI_COMM_NULL;
            tw_model_comm(run.session, &model);
            static_session.emplace(model, "log=off");
            static_file.emplace(static_session->create("static.nc"));
        }
        usleep(700000);
        const bool all = how.rfind("all ", 0) == 0;
        if (!all && rank != ranks - 1) {
            if (how == "one in tw_close") tw_close(&run.file);
            if (how == "one in tw_end_step") tw_end_step(run.file);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (how == "abort") MPI_Abort(MPI_COMM_WORLD, 3);
        if (how == "terminate") throw std::runtime_error("a test");
        std::exit(3);
    }
}

int look(const std::string& folder, std::size_t least, std::size_t most) {
    const std::string path = folder + "/accepted.nc";
    char text[1000] = "";
    if (tw_recover(path.c_str(), TW_KEEP_LONGER, text, sizeof text) != TW_OK) {
        std::fprintf(stderr, "%s\n", text);
        return 1;
    }
    int id = 0, y = 0, time = 0;
    std::size_t length = 0, records = 0;
    if (nc_open(path.c_str(), NC_NOWRITE, &id) != NC_NOERR ||
        nc_inq_dimid(id, "y", &y) != NC_NOERR || nc_inq_dimlen(id, y, &length) != NC_NOERR ||
        nc_inq_unlimdim(id, &time) != NC_NOERR || nc_inq_dimlen(id, time, &records) != NC_NOERR)
        return 1;
    nc_close(id);
    const std::size_t wanted = std::clamp(records, least, most);
    const std::string wrong =
        look_at(path, static_cast<std::int64_t>(length), columns, wanted, true, value);
    if (!wrong.empty()) std::fprintf(stderr, "%s (%s)\n", wrong.c_str(), text);
    return wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string how = argv[1], folder = argv[2];
    if (how == "look") return look(folder, std::stoul(argv[3]), std::stoul(argv[4]));
    MPI_Init(&argc, &argv);
    Run run;
    if (run.begin(folder, argv[3], argv[4])) end(run, how);
    tw_finalize(&run.session);
    MPI_Finalize();
    return 0;
}
