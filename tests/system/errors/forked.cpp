// Tests a process that the model forks, to run a script or by mistake: it cannot use the session,
// and its actions do not change its parent's files.
//
// SPDX-License-Identifier: Apache-2.0

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "system/check.hpp"
#include "system/look.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t columns = 37;
constexpr int records = 5;

float value_of(std::int64_t record, std::int64_t y, std::int64_t x) {
    return static_cast<float>(1000 * record + 100 * y + x);
}

/// In the child, makes all calls that could end a file. Returns 0 if each was refused.
int end_everything(tw_session session, tw_file file) {
    const tw_session same_session = session;
    const tw_file same_file = file;
    int code = 0;
    const auto refused = [&](int status, const char* call) {
        if (status == TW_ESTATE &&
            std::string(tw_error_message(session)).find("a child of process") != std::string::npos)
            return;
        std::fprintf(stderr, "%s: %s\n", call, tw_strerror(status));
        code = 1;
    };
    const float values[columns] = {};
    refused(tw_put(file, "T", TW_FLOAT, values, columns), "tw_put");
    refused(tw_end_step(file), "tw_end_step");
    refused(tw_sync(file, 0), "tw_sync");
    refused(tw_close(&file), "tw_close");
    refused(tw_abandon(&session), "tw_abandon");
    refused(tw_finalize(&session), "tw_finalize");
    return file == same_file && session == same_session ? code : 2;
}

void run(const std::string& folder, const std::string& settings) {
    check::step(settings);
    const auto [rank, size] = std::pair{check::state.rank, check::state.size};
    const std::string path = folder + "/forked.nc";
    tw_session session = nullptr;
    tw_file file = nullptr;
    tw_decomposition row = nullptr;
    CHECK(tw_init(MPI_COMM_WORLD, settings.c_str(), &session) == TW_OK);
    const std::int64_t shape[] = {size, columns}, start[] = {rank, 0}, count[] = {1, columns};
    CHECK(tw_decompose(session, "y x", 1, shape, start, count, &row) == TW_OK);
    CHECK(tw_create(session, path.c_str(), nullptr, &file) == TW_OK);
    CHECK(tw_def_var(file, "T", TW_FLOAT, "time y x", row) == TW_OK);
    CHECK(tw_enddef(file) == TW_OK);
    std::vector<float> values(columns);
    for (int r = 0; r < records; ++r) {
        for (std::int64_t i = 0; i < columns; ++i)
            values[static_cast<std::size_t>(i)] = value_of(r, rank, i);
        CHECK(tw_put(file, "T", TW_FLOAT, values.data(), columns) == TW_OK);
        if (const pid_t child = fork(); child == 0) {
            const int code = r % 2 == 0 ? end_everything(session, file) : 0;
            if (r < 2) std::exit(code);  // runs all the program's exit handlers
            _exit(code);
        } else {
            int status = -1;
            CHECK(waitpid(child, &status, 0) == child);
            CHECK_TEXT(status == 0, "the child of record {} ended with {}", r, status);
        }
        CHECK_TEXT(tw_end_step(file) == TW_OK, tw_error_message(session));
    }
    CHECK_TEXT(tw_close(&file) == TW_OK, tw_error_message(session));
    CHECK(tw_finalize(&session) == TW_OK);
    if (rank != 0) return;
    const std::string wrong =
        look_at(path, size, columns, records, false, [](std::int64_t record, std::int64_t at) {
            return value_of(record, at / columns, at % columns);
        });
    CHECK_TEXT(wrong.empty(), wrong);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 30, MPI_THREAD_MULTIPLE);
    const std::string folder = check::make_folder("forked");
    run(folder, "");
    run(folder, "service=background");
    return check::verdict("forked");
}
