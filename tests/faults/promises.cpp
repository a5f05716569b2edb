// Tests promises about files that fail, that are left open, and that are empty.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: promises [--service inline|background|servers:N] [--settings "..."] [--only NAME]
// The library of faults (inject.c) must be preloaded. Servers need N more ranks.

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <netcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "../system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string folder;         // folder of the running test
std::string base_settings;  // settings of all sessions
std::string current;
bool inline_service = true;

// ---- sessions, faults, files -------------------------------------------------------------------

void arm(const char* path, const char* at, const char* kind) {
    using Arm = void (*)(const char*, const char*, const char*);
    const auto function = reinterpret_cast<Arm>(dlsym(RTLD_DEFAULT, "thalweg_fault_arm"));
    CHECK_TEXT(function != nullptr, "the library of faults is not loaded (LD_PRELOAD)");
    if (function != nullptr) function(path, at, kind);
    MPI_Barrier(MPI_COMM_WORLD);
}

/// The communicator of the model, and the number of this rank in it.
struct Model {
    tw_session session = nullptr;
    int rank = 0, ranks = 1;
};

/// Runs the model's part of a session, while the servers work.
void with_model(const std::string& settings, const std::function<void(Model&)>& body) {
    Model m;
    check::step("{}: tw_init", current);
    const std::string all = base_settings + "; " + settings;
    CHECK_TEXT(tw_init(MPI_COMM_WORLD, all.c_str(), &m.session) == TW_OK,
               tw_error_message(m.session));
    tw_role role = TW_MODEL;
    CHECK(tw_inq_role(m.session, &role) == TW_OK);
    if (role == TW_MODEL) {
        MPI_Comm own = MPI_COMM_NULL;
        CHECK(tw_model_comm(m.session, &own) == TW_OK);
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(own, &comm);
        MPI_Comm_rank(comm, &m.rank);
        MPI_Comm_size(comm, &m.ranks);
        check::use(comm);
        body(m);
        check::step("{}: tw_finalize", current);
        if (m.session != nullptr) tw_finalize(&m.session);
        check::use(MPI_COMM_WORLD);
        MPI_Comm_free(&comm);
    } else {
        check::step("{}: tw_finalize of a server", current);
        CHECK(tw_finalize(&m.session) == TW_OK);
    }
    check::step("{}: end of a session", current);
    MPI_Barrier(MPI_COMM_WORLD);
}

/// A one-dimensional variable that is divided evenly among the ranks.
struct Line {
    std::int64_t n, start, count;
    tw_decomposition handle = nullptr;
    Line(const Model& m, std::int64_t length) : n(length) {
        start = n * m.rank / m.ranks;
        count = n * (m.rank + 1) / m.ranks - start;
        CHECK_TEXT(tw_decompose(m.session, "x", 1, &n, &start, &count, &handle) == TW_OK,
                   tw_error_message(m.session));
    }
    std::vector<double> values(std::int64_t file, std::int64_t record) const {
        std::vector<double> v;
        for (std::int64_t i = start; i < start + count; ++i) v.push_back(value(file, record, i));
        return v;
    }
    static double value(std::int64_t file, std::int64_t record, std::int64_t i) {
        return static_cast<double>((file * 1000 + record) * 100000 + i);
    }
};

tw_file create(const Model& m, const std::string& name, const Line& line) {
    tw_file f = nullptr;
    CHECK_TEXT(tw_create(m.session, (folder + "/" + name).c_str(), nullptr, &f) == TW_OK,
               tw_error_message(m.session));
    CHECK(tw_def_var(f, "v", TW_DOUBLE, "time x", line.handle) == TW_OK);
    CHECK_TEXT(tw_enddef(f) == TW_OK, tw_error_message(m.session));
    return f;
}

int put(tw_file f, const Line& line, std::int64_t file, std::int64_t record) {
    const std::vector<double> v = line.values(file, record);
    return tw_put(f, "v", TW_DOUBLE, v.data(), line.count);
}

/// The result of a collective call. It must be the same on all ranks.
struct Outcome {
    int status = TW_OK;
    std::string text;
};
Outcome alike(const Model& m, const char* call, int status) {
    const std::string text =
        status == TW_OK || m.session == nullptr ? "" : tw_error_message(m.session);
    const auto all = check::gather(std::to_string(status) + ": " + text);
    for (const std::string& other : all)
        CHECK_TEXT(other == all[0], "{}: {} gave '{}' and '{}'", current, call, all[0], other);
    return {status, text};
}

/// Ends a step. With services other than inline, ranks may learn of an error at different times,
/// until tw_sync or tw_close.
Outcome end_step(const Model& m, tw_file f) {
    const int status = tw_end_step(f);
    if (inline_service) return alike(m, "tw_end_step", status);
    return {status, status == TW_OK ? "" : tw_error_message(m.session)};
}

void expect_error(const Outcome& told, const char* call, const char* file, const char* words) {
    CHECK_TEXT(told.status == TW_EIO, "{}: {} gave {}: {}", current, call, tw_strerror(told.status),
               told.text);
    for (const char* word : {file, words, check::state.size > 1 ? "rank " : ""})
        CHECK_TEXT(told.text.find(word) != std::string::npos, "{}: {}: the text lacks '{}': {}",
                   current, call, word, told.text);
}

/// Checks every value of a complete file, read by serial netCDF.
void expect_file(const Model& m, const std::string& name, std::int64_t file, std::int64_t records,
                 std::int64_t n) {
    if (m.rank != 0) return;
    const std::string path = folder + "/" + name;
    int id = 0;
    const int status = nc_open(path.c_str(), NC_NOWRITE, &id);
    CHECK_TEXT(status == NC_NOERR, "{}: {}", path, nc_strerror(status));
    if (status != NC_NOERR) return;
    std::size_t there = 0;
    CHECK(nc_inq_dimlen(id, 0, &there) == NC_NOERR);
    CHECK_TEXT(there == static_cast<std::size_t>(records), "{}: {} records", path, there);
    for (std::size_t r = 0; r < there; ++r) {
        std::vector<double> got(static_cast<std::size_t>(n)), wanted;
        const std::size_t start[2] = {r, 0}, count[2] = {1, got.size()};
        for (std::int64_t i = 0; i < n; ++i)
            wanted.push_back(Line::value(file, static_cast<std::int64_t>(r), i));
        CHECK(nc_get_vara_double(id, 0, start, count, got.data()) == NC_NOERR);
        CHECK_TEXT(got == wanted, "{}: record {} is wrong", path, r);
    }
    nc_close(id);
}

bool exists(const std::string& name) { return ::access((folder + "/" + name).c_str(), F_OK) == 0; }

// ---- the tests ---------------------------------------------------------------------------------

/// Writes steps to a bad and a good file until the bad one fails. After that, puts to it must be
/// refused, each call must return the reason, and the good file must get all its records.
void after_a_failure() {
    arm((folder + "/bad.nc").c_str(), "3+", "eio");  // let the writes of the header succeed, and
                                                     // all later writes fail
    with_model("", [](Model& m) {
        const Line line(m, 1000);
        tw_file bad = create(m, "bad.nc", line);
        tw_file good = create(m, "good.nc", line);
        const char* words = "Input/output error";
        Outcome failed;
        for (std::int64_t r = 0; r < 10; ++r) {
            check::step("{}: step {}", current, r);
            const int status = put(bad, line, 1, r);
            if (failed.status != TW_OK) {
                CHECK_TEXT(status == failed.status, "{}: a put after the failure gave {}", current,
                           tw_strerror(status));
                if (inline_service) CHECK(tw_error_message(m.session) == failed.text);
            }
            CHECK(put(good, line, 2, r) == TW_OK);
            const Outcome told = end_step(m, bad);
            if (failed.status != TW_OK) CHECK(told.status == failed.status);
            if (inline_service && failed.status != TW_OK) CHECK(told.text == failed.text);
            if (failed.status == TW_OK && told.status != TW_OK) {
                expect_error(told, "tw_end_step", "bad.nc", words);
                failed = told;
            }
            CHECK_TEXT(tw_end_step(good) == TW_OK, "{}: {}", current, tw_error_message(m.session));
        }
        if (inline_service) CHECK_TEXT(failed.status != TW_OK, "{}: no step has failed", current);
        expect_error(alike(m, "tw_sync", tw_sync(bad, 0)), "tw_sync", "bad.nc", words);
        CHECK(tw_sync(good, 1) == TW_OK);
        expect_error(alike(m, "tw_close", tw_close(&bad)), "tw_close", "bad.nc", words);
        CHECK(bad == nullptr);
        CHECK(alike(m, "tw_close", tw_close(&good)).status == TW_OK);
        alike(m, "tw_finalize", tw_finalize(&m.session));
        expect_file(m, "good.nc", 2, 10, line.n);
        if (m.rank == 0) CHECK(!exists("bad.nc"));
    });
    arm(nullptr, nullptr, nullptr);
}

/// tw_finalize prints the errors on standard error, and the files are complete.
void finalize_with_open_files() {
    with_model("log=warning", [](Model& m) {
        const Line line(m, 321);
        std::vector<tw_file> files;
        for (int i = 0; i < 3; ++i) {
            files.push_back(create(m, "open" + std::to_string(i) + ".nc", line));
            for (std::int64_t r = 0; r < 4; ++r) {
                CHECK(put(files.back(), line, i, r) == TW_OK);
                if (i < 2 || r < 3) CHECK(tw_end_step(files.back()) == TW_OK);
            }
        }
        CHECK(tw_close(&files[1]) == TW_OK);
        std::fflush(stderr);
        const std::string heard = folder + "/stderr" + std::to_string(m.rank);
        const int before = ::dup(STDERR_FILENO);
        const int file = ::open(heard.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0666);
        ::dup2(file, STDERR_FILENO);
        ::close(file);
        const Outcome told = alike(m, "tw_finalize", tw_finalize(&m.session));
        std::fflush(stderr);
        ::dup2(before, STDERR_FILENO);
        ::close(before);
        CHECK(told.status == TW_OK);
        std::ostringstream words;
        words << std::ifstream(heard).rdbuf();
        // One rank prints the error for all.
        std::string all;
        for (const std::string& text : check::gather(words.str())) all += text;
        for (int i = 0; i < 3; ++i) {
            const std::string name = "open" + std::to_string(i) + ".nc";
            CHECK_TEXT((all.find(name) != std::string::npos) == (i != 1),
                       "tw_finalize says of {}: {}", name, all);
            expect_file(m, name, i, 4, line.n);
        }
    });
}

/// Files without definitions; files with definitions, but no data; and files with record variables,
/// but no records.
void empty_files() {
    with_model("", [](Model& m) {
        const Line line(m, 77);
        tw_file f = nullptr;
        const auto path = [](const char* name) { return folder + "/" + name; };
        CHECK(tw_create(m.session, path("nothing.nc").c_str(), nullptr, &f) == TW_OK);
        CHECK(alike(m, "tw_close", tw_close(&f)).status == TW_OK);
        CHECK(tw_create(m.session, path("fixed.nc").c_str(), nullptr, &f) == TW_OK);
        CHECK(tw_def_var(f, "v", TW_DOUBLE, "x", line.handle) == TW_OK);
        CHECK(alike(m, "tw_close", tw_close(&f)).status == TW_OK);
        f = create(m, "records.nc", line);
        CHECK(alike(m, "tw_sync", tw_sync(f, 1)).status == TW_OK);
        CHECK(alike(m, "tw_close", tw_close(&f)).status == TW_OK);
        if (m.rank == 0) {
            for (const char* name : {"nothing.nc", "fixed.nc", "records.nc"}) {
                int id = 0;
                const int status = nc_open(path(name).c_str(), NC_NOWRITE, &id);
                CHECK_TEXT(status == NC_NOERR, "{}: {}", name, nc_strerror(status));
                if (status == NC_NOERR) nc_close(id);
                CHECK(!exists(std::string(name) + ".part"));
            }
            int id = 0;
            std::vector<double> got(77);
            CHECK(nc_open(path("fixed.nc").c_str(), NC_NOWRITE, &id) == NC_NOERR);
            CHECK(nc_get_var_double(id, 0, got.data()) == NC_NOERR);
            CHECK(std::count(got.begin(), got.end(), NC_FILL_DOUBLE) == 77);
            nc_close(id);
        }
        expect_file(m, "records.nc", 0, 0, line.n);
    });
}

struct Test {
    const char* name;
    void (*run)();
};
constexpr Test tests[] = {{"after_a_failure", after_a_failure},
                          {"finalize_with_open_files", finalize_with_open_files},
                          {"empty_files", empty_files}};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    // The number of servers is given as "servers:2", because CMake would divide a text with a
    // semicolon into two arguments.
    const std::string service = check::option(argc, argv, "--service", "inline");
    const auto colon = service.find(':');
    inline_service = service == "inline";
    base_settings = "service=" + service.substr(0, colon);
    if (colon != std::string::npos) base_settings += "; servers=" + service.substr(colon + 1);
    const std::string more = check::option(argc, argv, "--settings", "");
    const std::string only = check::option(argc, argv, "--only", "");
    const std::string root = check::make_folder("promises");
    std::vector<std::string> sets{"method=record; writers=2", "method=direct; publish=close",
                                  "method=serial; piece=4KiB"};
    if (!more.empty()) sets = {more};
    const std::string service_settings = base_settings;
    for (const std::string& set : sets) {
        base_settings = "log=off; " + service_settings + "; " + set;
        for (const Test& test : tests) {
            if (!only.empty() && only != test.name) continue;
            current = std::string(test.name) + " [" + base_settings + "]";
            folder = root + "/" + test.name;
            if (check::state.rank == 0) {
                std::filesystem::remove_all(folder);
                ::mkdir(folder.c_str(), 0777);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            test.run();
        }
    }
    return check::verdict("promises");
}
