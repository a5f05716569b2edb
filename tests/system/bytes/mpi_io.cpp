// Tests storage=pnetcdf without flags for the launcher: files must be right, or the error must name
// the setting to change. Also tests processes started by another MPI's launcher.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: mpi_io [--before]   --before: the program opens a file by MPI-IO before tw_init
//        mpi_io --alone      with the environment of another MPI's launcher: an error

#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/content.hpp"
#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t columns = 37;

// Writes a file by many writers with small adjacent parts, so that MPI-IO's aggregators must read,
// change and write it.
int write(tw_session session, const std::string& path, const char* settings, std::string& text) {
    const std::int64_t rows = 5 * check::state.size;
    const std::int64_t shape[2] = {rows, columns};
    const std::int64_t start[2] = {5 * check::state.rank, 0}, count[2] = {5, columns};
    tw_decomposition d = nullptr;
    tw_file file = nullptr;
    CHECK(tw_decompose(session, "y x", 1, shape, start, count, &d) == TW_OK);
    CHECK(tw_create(session, path.c_str(), settings, &file) == TW_OK);
    CHECK(tw_def_var(file, "T", TW_SHORT, "time y x", d) == TW_OK);
    CHECK(tw_def_var(file, "U", TW_DOUBLE, "time y x", d) == TW_OK);
    int code = tw_enddef(file);
    for (int step = 0; step < 3 && code == TW_OK; ++step) {
        std::vector<short> t;
        for (std::int64_t i = 0; i < 5 * columns; ++i)
            t.push_back(static_cast<short>(100 * check::state.rank + i + step));
        const std::vector<double> u(t.begin(), t.end());
        CHECK(tw_put(file, "T", TW_SHORT, t.data(), std::ssize(t)) == TW_OK);
        CHECK(tw_put(file, "U", TW_DOUBLE, u.data(), std::ssize(u)) == TW_OK);
        code = tw_end_step(file);
    }
    text = tw_error_message(session);
    const int closed = tw_close(&file);
    return code != TW_OK ? code : closed;
}

void judge(bool before) {
    tw_session session = nullptr;
    CHECK(tw_init(MPI_COMM_WORLD, "log=off; method=columns", &session) == TW_OK);
    std::string text;
    CHECK(write(session, "wanted.nc", "storage=posix", text) == TW_OK);
    for (const char* storage : {"pnetcdf-blocking", "pnetcdf"}) {
        const std::string settings = std::string("storage=") + storage;
        const int code = write(session, "got.nc", settings.c_str(), text);
        if (code == TW_OK) {
            CHECK(content_of("got.nc") == content_of("wanted.nc"));
        } else {
            CHECK_TEXT(code == TW_EUNSUPPORTED && before, text);
            CHECK_TEXT(text.find("OMPI_MCA_io=^ompio") != std::string::npos, text);
        }
    }
    CHECK(tw_finalize(&session) == TW_OK);
}

// Checks the error if MPI_Init does not know of the other processes.
void judge_alone() {
    tw_session session = nullptr;
    CHECK(tw_init(MPI_COMM_WORLD, "log=off", &session) == TW_EMPI);
    const std::string text = tw_error_message(session);
    CHECK(tw_finalize(&session) == TW_OK);
    CHECK_TEXT(
        text.find("MPICH") != std::string::npos && text.find("Open MPI") != std::string::npos,
        text);
    CHECK_TEXT(text.find("4 processes") != std::string::npos, text);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string how = argc > 1 ? argv[1] : "";
    if (how == "--alone") {
        judge_alone();
        return check::verdict("mpi_io");
    }
    if (how == "--before") {
        MPI_File file = MPI_FILE_NULL;
        CHECK(MPI_File_open(MPI_COMM_SELF, ("own" + std::to_string(check::state.rank)).c_str(),
                            MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                            &file) == MPI_SUCCESS);
        MPI_File_close(&file);
    }
    judge(how == "--before");
    return check::verdict("mpi_io");
}
