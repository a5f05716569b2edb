// Writes files of a run that is killed in the middle of a step, and the same files completely.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: recover --die FOLDER        is killed after two steps and a part of the third
//        recover --reference FOLDER  writes the two steps and closes
//        recover --compare A B       (without mpirun) tests if A has the values of B's records
// Each file is named FORMAT-STORAGE-KIND.nc.

#include <mpi.h>
#include <netcdf.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t rows = 23;
constexpr std::int64_t columns = 41;

struct Rank {
    tw_session session = nullptr;
    tw_decomposition d = nullptr;
    std::int64_t count = 0;

    Rank() {
        // With staging=0, a put is in the file when it returns.
        CHECK_TEXT(tw_init(MPI_COMM_WORLD, "node_size=2; staging=0", &session) == TW_OK,
                   tw_error_message(session));
        const std::int64_t shape[2] = {rows, columns};
        const std::int64_t start[2] = {rows * check::state.rank / check::state.size, 0};
        const std::int64_t box[2] = {rows * (check::state.rank + 1) / check::state.size - start[0],
                                     columns};
        count = box[0] * box[1];
        CHECK(tw_decompose(session, "y x", 1, shape, start, box, &d) == TW_OK);
    }
    void put(tw_file file, const char* name, int step) const {
        const std::vector<float> data(static_cast<std::size_t>(count),
                                      static_cast<float>(step + 1 + check::state.rank));
        CHECK_TEXT(tw_put(file, name, TW_FLOAT, data.data(), count) == TW_OK,
                   tw_error_message(session));
    }
};

struct Kind {
    const char* name;
    std::vector<const char*> records;  // names of the record variables
    bool fixed;                        // the file has a fixed-size variable
    int steps;                         // number of steps that have ended
};

const std::vector<Kind> kinds{
    {"records", {"T", "b"}, true, 2}, {"single", {"b"}, true, 2},     {"loose", {"T"}, false, 2},
    {"fixed", {}, true, 0},           {"begun", {"T", "b"}, true, 0},
};

tw_file write(const Rank& rank, const std::string& path, const std::string& settings,
              const Kind& kind, bool begin_third) {
    tw_file file = nullptr;
    CHECK_TEXT(tw_create(rank.session, path.c_str(), settings.c_str(), &file) == TW_OK,
               tw_error_message(rank.session));
    for (const char* name : kind.records)
        CHECK(tw_def_var(file, name, *name == 'b' ? TW_BYTE : TW_FLOAT, "time y x", rank.d) ==
              TW_OK);
    if (kind.fixed) CHECK(tw_def_var(file, "h", TW_SHORT, "y x", rank.d) == TW_OK);
    CHECK(tw_put_att_text(file, "", "title", "killed") == TW_OK);
    CHECK_TEXT(tw_enddef(file) == TW_OK, tw_error_message(rank.session));
    if (kind.fixed) rank.put(file, "h", 0);
    for (int step = 0; step < kind.steps; ++step) {
        for (const char* name : kind.records) rank.put(file, name, step);
        CHECK_TEXT(tw_end_step(file) == TW_OK, tw_error_message(rank.session));
    }
    if (begin_third && !kind.records.empty()) rank.put(file, kind.records.front(), 9);
    return file;
}

/// Returns the values of all variables in a file with a given number of records; none if it cannot
/// be read.
std::vector<std::vector<double>> values(const std::string& path, std::size_t records) {
    std::vector<std::vector<double>> all;
    int id = 0, n = 0, time = -1;
    if (nc_open(path.c_str(), NC_NOWRITE, &id) != NC_NOERR) return all;
    nc_inq_nvars(id, &n);
    nc_inq_unlimdim(id, &time);
    for (int v = 0; v < n; ++v) {
        int nd = 0, dims[3] = {};
        std::size_t start[3] = {0, 0, 0}, count[3] = {}, total = 1;
        nc_inq_varndims(id, v, &nd);
        nc_inq_vardimid(id, v, dims);
        for (int d = 0; d < nd; ++d) {
            nc_inq_dimlen(id, dims[d], &count[d]);
            if (dims[d] == time) count[d] = records;
            total *= count[d];
        }
        std::vector<double>& data = all.emplace_back(total + 1);
        if (nc_get_vara_double(id, v, start, count, data.data()) != NC_NOERR) data.clear();
    }
    nc_close(id);
    return all;
}

int compare(const std::string& path, const std::string& reference) {
    int id = 0, time = -1;
    std::size_t records = 0;
    if (nc_open(reference.c_str(), NC_NOWRITE, &id) != NC_NOERR) return 1;
    nc_inq_unlimdim(id, &time);
    if (time >= 0) nc_inq_dimlen(id, time, &records);
    nc_close(id);
    const auto expected = values(reference, records);
    return !expected.empty() && values(path, records) == expected ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 4 && std::string(argv[1]) == "--compare") return compare(argv[2], argv[3]);
    check::begin(&argc, &argv, 60);
    const std::string grave = check::option(argc, argv, "--die", "");
    const std::string folder = check::option(argc, argv, "--reference", grave.c_str());
    Rank rank;
    std::vector<tw_file> files;
    std::vector<std::string> storages{"posix"};
    if (THALWEG_TEST_PNETCDF) storages.emplace_back("pnetcdf");
    for (const std::string format : {"cdf1", "cdf2", "cdf5"})
        for (const std::string& storage : storages)
            for (const Kind& kind : kinds) {
                const std::string name = format + "-" + storage + "-" + kind.name + ".nc";
                check::step(name);
                files.push_back(write(rank, folder + "/" + name,
                                      "format=" + format + "; storage=" + storage, kind,
                                      !grave.empty()));
            }
    if (!grave.empty()) {
        tw_file early = nullptr;
        CHECK(tw_create(rank.session, (folder + "/early.nc").c_str(), nullptr, &early) == TW_OK);
        CHECK(tw_def_var(early, "T", TW_FLOAT, "time y x", rank.d) == TW_OK);
        MPI_Barrier(MPI_COMM_WORLD);
        // After a failure, exit normally, so that the caller gets the exit code.
        if (check::state.failures > 0) return check::verdict("recover");
        ::kill(::getpid(), SIGKILL);
        for (;;) ::pause();
    }
    for (tw_file file : files) CHECK_TEXT(tw_close(&file) == TW_OK, tw_error_message(rank.session));
    CHECK(tw_finalize(&rank.session) == TW_OK);
    return check::verdict("recover");
}
