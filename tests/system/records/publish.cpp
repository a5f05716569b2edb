// Tests which records other programs can read while a file is being written, and which a killed run
// leaves.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: publish                     checks files while they are written
//        publish --die FOLDER [--settings S] [--again]  writes two records into FOLDER, begins a
//                                    third, and is killed; with --again, first makes a file of one
//                                    record, and continues it
//        publish --look FOLDER (without mpirun) checks the files that remain in FOLDER

#include <mpi.h>
#include <netcdf.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/look.hpp"
#include "system/pnetcdf.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t rows = 23;
constexpr std::int64_t columns = 41;

float value(std::int64_t record, std::int64_t at) {
    return static_cast<float>((record + 1) * 10000 + at);
}

// Returns the name of the only file in the folder, not counting its lock and, while it is written,
// its logs. Returns "" if there is no file, or if there are several.
std::string only_file(const std::string& folder, bool open) {
    std::string found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string extension = entry.path().extension();
        if (extension == ".lock") continue;
        if (open && (extension == ".places" || extension == ".redo")) continue;
        if (!found.empty()) return "";
        found = entry.path();
    }
    return found;
}

std::string look(const std::string& path, std::size_t wanted_records, bool with_fixed) {
    return look_at(path, rows, columns, wanted_records, with_fixed, value);
}

struct Writer {
    tw_session session = nullptr;
    tw_file file = nullptr;
    std::int64_t start[2] = {0, 0};
    std::int64_t count[2] = {0, columns};

    Writer(const std::string& path, const std::string& settings, bool again = false) {
        CHECK_TEXT(tw_init(MPI_COMM_WORLD, settings.c_str(), &session) == TW_OK, "%s",
                   tw_error_message(session));
        const std::int64_t shape[2] = {rows, columns};
        start[0] = rows * check::state.rank / check::state.size;
        count[0] = rows * (check::state.rank + 1) / check::state.size - start[0];
        tw_decomposition d = nullptr;
        CHECK(tw_decompose(session, "y x", 1, shape, start, count, &d) == TW_OK);
        const int opened = again ? tw_open(session, path.c_str(), "mode=append", &file)
                                 : tw_create(session, path.c_str(), nullptr, &file);
        CHECK_TEXT(opened == TW_OK, "%s", tw_error_message(session));
        CHECK(tw_def_var(file, "T", TW_FLOAT, "time y x", d) == TW_OK);
        CHECK(tw_def_var(file, "h", TW_FLOAT, "y x", d) == TW_OK);
        CHECK_TEXT(tw_enddef(file) == TW_OK, "%s", tw_error_message(session));
    }
    void put(const char* name, std::int64_t record) {
        std::vector<float> data;
        for (std::int64_t y = start[0]; y < start[0] + count[0]; ++y)
            for (std::int64_t x = 0; x < columns; ++x)
                data.push_back(value(record, y * columns + x));
        CHECK(tw_put(file, name, TW_FLOAT, data.data(), static_cast<std::int64_t>(data.size())) ==
              TW_OK);
    }
};

void check_while_writing(const std::string& root, const std::string& settings, bool live) {
    const std::string folder = root + "/folder";
    const std::string path = folder + "/history.nc";
    if (check::state.rank == 0) ::mkdir(folder.c_str(), 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    check::step("%s: create", settings.c_str());
    Writer w(path, settings);
    const auto read = [&](const char* when, std::size_t records, bool with_fixed) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank == 0) {
            const std::string file = only_file(folder, true);
            CHECK_TEXT((file == path) == live, "%s: %s: the file is '%s'", settings.c_str(), when,
                       file.c_str());
            const std::string wrong = look(file, records, with_fixed);
            CHECK_TEXT(wrong.empty(), "%s: %s: %s", settings.c_str(), when, wrong.c_str());
        }
        MPI_Barrier(MPI_COMM_WORLD);
    };
    for (std::int64_t record = 0; record < 4; ++record) {
        check::step("%s: record %lld", settings.c_str(), static_cast<long long>(record));
        w.put("T", record);
        if (record == 2) w.put("h", -1);
        // Steps that have not ended are not visible, even after a sync.
        CHECK_TEXT(tw_sync(w.file, record % 2 == 0 ? 1 : 0) == TW_OK, "%s",
                   tw_error_message(w.session));
        read("sync before the end of a step", static_cast<std::size_t>(record), record >= 2);
        CHECK_TEXT(tw_end_step(w.file) == TW_OK, "%s", tw_error_message(w.session));
        CHECK_TEXT(tw_sync(w.file, record % 2) == TW_OK, "%s", tw_error_message(w.session));
        read("sync after a step", static_cast<std::size_t>(record) + 1, record >= 2);
    }
    check::step("%s: close", settings.c_str());
    CHECK_TEXT(tw_close(&w.file) == TW_OK, "%s", tw_error_message(w.session));
    CHECK(tw_finalize(&w.session) == TW_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        CHECK_TEXT(only_file(folder, false) == path, "%s", settings.c_str());
        const std::string wrong = look(path, 4, true);
        CHECK_TEXT(wrong.empty(), "%s: at the end: %s", settings.c_str(), wrong.c_str());
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

[[noreturn]] void die(const std::string& folder, const std::string& settings, bool again) {
    const std::string path = folder + "/history.nc", all = "node_size=2; " + settings;
    if (again) {
        Writer first(path, all);
        first.put("h", -1);
        first.put("T", 0);
        CHECK(tw_close(&first.file) == TW_OK);
        CHECK(tw_finalize(&first.session) == TW_OK);
    }
    Writer w(path, all, again);
    if (!again) w.put("h", -1);
    for (std::int64_t record = again ? 1 : 0; record < 2; ++record) {
        w.put("T", record);
        CHECK(tw_end_step(w.file) == TW_OK);
    }
    w.put("T", 2);
    // wait until all ranks have ended their last step
    MPI_Barrier(MPI_COMM_WORLD);
    ::kill(::getpid(), SIGKILL);
    for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
    const std::string left = check::option(argc, argv, "--look", "");
    if (!left.empty()) {
        const std::string wrong = look(only_file(left, true), 2, true);
        std::fprintf(stderr, "publish: %s\n",
                     wrong.empty() ? "the killed run's records are there" : wrong.c_str());
        return wrong.empty() ? 0 : 1;
    }
    check::begin(&argc, &argv, 60);
    const std::string grave = check::option(argc, argv, "--die", "");
    if (!grave.empty())
        die(grave, check::option(argc, argv, "--settings", ""),
            check::has_flag(argc, argv, "--again"));
    const std::string root = check::make_folder("publish");
    for (const std::string storage :
         {"storage=posix", "storage=" PNETCDF_BLOCKING, "storage=" PNETCDF, "storage=netcdf4",
          "storage=netcdf4; deflate=1", "storage=netcdf4; deflate=1; service=background"})
        for (const std::string method : {"record", "direct"})
            for (const std::string durable : {"no", "yes"})
                for (const bool live : {false, true})
                    check_while_writing(root,
                                        storage + "; method=" + method + "; durable=" + durable +
                                            "; publish=" + (live ? "live" : "close") +
                                            "; writers=2",
                                        live);
    check::remove_folder(root);
    return check::verdict("publish");
}
