// Fixtures for the tests of names and folders: a model whose ranks work in folders of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "system/calls.hpp"

namespace names {

using calls::session;
namespace fs = std::filesystem;

constexpr std::int64_t rows = 24, columns = 6;

inline std::string root;

inline double value(std::int64_t record, std::int64_t at) {
    return static_cast<double>((record + 1) * 10000 + at);
}

/// A session, which is also that of the macros, and the rows that this rank holds.
struct Model {
    tw_session session = nullptr;
    tw_decomposition d = nullptr;
    std::int64_t start = 0, count = 0;
    MPI_Comm comm = MPI_COMM_NULL;

    explicit Model(const std::string& settings) {
        OK(tw_init(MPI_COMM_WORLD, ("log=off; " + settings).c_str(), &session));
        calls::session = session;
        tw_role role = TW_MODEL;
        OK(tw_inq_role(session, &role));
        if (role == TW_SERVER) return;
        OK(tw_model_comm(session, &comm));
        int rank = 0, size = 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        start = rows * rank / size;
        count = rows * (rank + 1) / size - start;
        const std::int64_t shape[] = {rows, columns}, first[] = {start, 0}, n[] = {count, columns};
        OK(tw_decompose(session, "y x", 1, shape, first, n, &d));
    }
    ~Model() { end(); }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    explicit operator bool() const { return comm != MPI_COMM_NULL; }
    void end() {
        if (session != nullptr) OK(tw_finalize(&session));
    }

    std::vector<double> values(std::int64_t record) const {
        std::vector<double> all;
        for (std::int64_t i = start * columns; i < (start + count) * columns; ++i)
            all.push_back(value(record, i));
        return all;
    }
    void define(tw_file file) const { OK(tw_def_var(file, "T", TW_DOUBLE, "time y x", d)); }
    void step(tw_file file, std::int64_t record) const {
        const std::vector<double> data = values(record);
        OK(tw_put(file, "T", TW_DOUBLE, data.data(), count * columns));
        OK(tw_end_step(file));
    }
    /// Checks that the file has a given number of records with the expected values.
    void look(const std::string& path, std::int64_t records) const {
        tw_file file = nullptr;
        OK(tw_open(session, path.c_str(), nullptr, &file));
        if (file == nullptr) return;
        tw_file_info info{};
        OK(tw_inq(file, &info));
        const std::int64_t n = info.records;
        CHECK_TEXT(n == records, "{}: {} records", path, n);
        for (std::int64_t r = 0; r < n; ++r) {
            std::vector<double> data(static_cast<std::size_t>(count * columns));
            OK(tw_get(file, "T", d, r, TW_DOUBLE, data.data(), count * columns));
            CHECK_TEXT(data == values(r), "{}: record {}", path, r);
        }
        OK(tw_close(&file));
    }
};

/// Returns the names of a folder's files, including hidden ones.
inline std::string list(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : " ") + name;
    return all;
}

inline std::string mine(const char* where) {
    return root + "/" + where + std::to_string(check::state.rank);
}

/// Changes the working folder of this rank. All ranks use different folders.
inline void go(const char* where) { CHECK(::chdir(mine(where).c_str()) == 0); }

inline void make_folders() {
    for (const char* where : {"here", "away", "far"}) {
        fs::remove_all(mine(where));
        fs::create_directory(mine(where));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/// Checks that only rank 0's first folder has files, and that these are the given ones.
inline void only_here(const std::string& wanted) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        for (int r = 0; r < check::state.size; ++r)
            for (const char* where : {"here", "away", "far"}) {
                const bool first = r == 0 && std::strcmp(where, "here") == 0;
                const std::string names = list(root + "/" + where + std::to_string(r));
                CHECK_TEXT(names == (first ? wanted : ""), "{}{} has: {}", where, r, names);
            }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

struct Kind {
    std::string session, file;
};
inline std::vector<Kind> kinds() {
    std::vector<Kind> all{{"", "storage=posix"},
                          {"node_size=2", "storage=posix; service=background; writers=2"},
                          {"", "storage=" PNETCDF},
                          {"", "format=netcdf4; method=direct"},
                          {"", "format=netcdf4; deflate=1; service=background"}};
    if (check::state.size > 1) {
        all.push_back({"servers=1", "service=servers"});
        all.push_back({"servers=1", "service=servers; format=netcdf4"});
    }
    return all;
}

// Functions of the tests. Each test has its own folders.
void folders();
void sets_of_files();
void appended();
void restarts();
void settings();
void two_writers();
void a_tile_in_use();
void locked();
void links();
void spellings();
void too_many_files();

}  // namespace names
