// Tests which records other programs can read while a file is being written; batches_killed.cpp
// looks at the files of killed runs.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "system/model.hpp"
#include "system/pnetcdf.hpp"

namespace {

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

void check_while_writing(const std::string& root, const std::string& settings, bool live) {
    const std::string folder = root + "/folder";
    if (check::state.rank == 0) ::mkdir(folder.c_str(), 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    check::step("{}: create", settings);
    Model model(MPI_COMM_WORLD, settings);
    History h(model, folder + "/history.nc", "");
    const auto read = [&](const char* when, std::int64_t records, bool with_fixed) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank == 0) {
            History open(h);
            open.path = only_file(folder, true);
            CHECK_TEXT((open.path == h.path) == live, "{}: {}: the file is '{}'", settings, when,
                       open.path);
            const std::string wrong = open.look(static_cast<std::size_t>(records), with_fixed);
            CHECK_TEXT(wrong.empty(), "{}: {}: {}", settings, when, wrong);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    };
    const auto sync = [&](int durable) {
        CHECK_TEXT(tw_sync(h.file, durable) == TW_OK, model.error());
    };
    for (int record = 0; record < 4; ++record) {
        check::step("{}: record {}", settings, record);
        h.put("T", record);
        if (record == 2) h.put("h", -1);
        // Steps that have not ended are not visible, even after a sync.
        sync(record % 2 == 0 ? 1 : 0);
        read("sync before the end of a step", record, record >= 2);
        CHECK_TEXT(tw_end_step(h.file) == TW_OK, model.error());
        sync(record % 2);
        read("sync after a step", record + 1, record >= 2);
    }
    check::step("{}: close", settings);
    h.close_and_look(4, true);
    model.end();
    if (check::state.rank == 0) {
        CHECK_TEXT(only_file(folder, false) == h.path, settings);
        std::filesystem::remove_all(folder);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
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
    return check::verdict("publish");
}
