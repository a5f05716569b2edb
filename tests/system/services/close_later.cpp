// Tests close=later: tw_close returns before the file is written; the file gets its name when it is
// complete, and errors are returned later, on all ranks.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: close_later [--only NAME]

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "system/check.hpp"
#include "system/model.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string folder;

std::string path_of(const std::string& name) { return folder + "/" + name; }
bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Runs a function on the model's ranks, in a session with each service that this number of ranks
// permits.
void with_services(const std::function<void(Model&)>& body, int ends_with = TW_OK) {
    std::vector<std::string> services{"service=background",
                                      "service=background; node_size=2; writers=1/node"};
    if (check::state.size > 1) services.push_back("service=servers; servers=1");
    if (check::state.size > 4) services.push_back("service=servers; servers=2; node_size=2");
    const std::string step = check::state.step;
    for (const std::string& service : services) {
        check::step("{} with {}", step, service);
        if (check::state.rank == 0)
            for (const auto& left : std::filesystem::directory_iterator(folder))
                std::filesystem::remove_all(left);
        MPI_Barrier(MPI_COMM_WORLD);
        Model model(MPI_COMM_WORLD, "log=off; close=later; " + service);
        if (model) body(model);
        model.end(ends_with);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check::step(step);
}

void look(const History& h, std::size_t records) {
    if (h.model.rank != 0) return;
    const std::string wrong = h.look(records, false);
    CHECK_TEXT(wrong.empty(), wrong);
}

void write(History& h, int records) {
    for (int r = 0; r < records; ++r) h.step(r);
}

// makes 128 KiB take a quarter of a second
const char* const slowly = "bandwidth=512KiB; piece=8KiB; queue=1MiB";
constexpr int slow_records = 8;

void close_does_not_wait() {
    with_services([](Model& model) {
        History h(model, path_of("later.nc"), slowly, 64, 64);
        write(h, slow_records);
        const double begin = MPI_Wtime();
        tw_file copy = h.file;
        h.close();
        const double took = MPI_Wtime() - begin;
        CHECK_TEXT(took < 0.15, "tw_close took {} s", took);
        CHECK(h.file == nullptr);
        CHECK(tw_end_step(copy) == TW_ECLOSED);
        CHECK(tw_close(&copy) == TW_ECLOSED);
        CHECK(!exists(h.path));
        CHECK(tw_wait(model.session, 1) == TW_OK);
        CHECK(tw_wait(model.session, 0) == TW_OK);
        look(h, slow_records);
        CHECK(model.figure("later.nc", "steps") == slow_records);
        CHECK(tw_wait(model.session, 0) == TW_OK);
    });
}

// Tests that with service inline the file is complete after tw_close.
void inline_is_complete() {
    Model model(MPI_COMM_WORLD, "close=later");
    History h(model, path_of("inline.nc"), "service=inline");
    write(h, 2);
    h.close_and_look(2, false);
    model.end();
}

// Tests one file per step. Files get their final names one after another, in later calls.
void a_file_a_step() {
    with_services([](Model& model) {
        std::vector<std::unique_ptr<History>> files;
        for (int k = 0; k < 25; ++k) {
            const std::string path = path_of("step" + std::to_string(k) + ".nc");
            files.push_back(std::make_unique<History>(model, path, "", 23, 41, k));
            write(*files.back(), 1);
            files.back()->close();
        }
        CHECK(tw_wait(model.session, 3) == TW_OK);
        for (int k = 0; k < 22; ++k) look(*files[static_cast<std::size_t>(k)], 1);
        CHECK(tw_wait(model.session, 0) == TW_OK);
        for (const auto& file : files) look(*file, 1);
    });
}

// Tests that the queues of closing files are limited: a file waits if there is no memory for its
// queue.
void bounded_memory() {
    with_services([](Model& model) {
        std::vector<std::unique_ptr<History>> files;
        for (int k = 0; k < 4; ++k) {
            const std::string path = path_of("bounded" + std::to_string(k) + ".nc");
            files.push_back(std::make_unique<History>(
                model, path, "bandwidth=512KiB; staging=256KiB; queue=200KiB", 64, 64, k));
            write(*files.back(), 2);
            files.back()->close();
            if (k > 0) CHECK(exists(files[static_cast<std::size_t>(k) - 1]->path));
        }
        CHECK(tw_wait(model.session, 0) == TW_OK);
        for (const auto& file : files) look(*file, 2);
    });
}

// Returns the names of the memories that this rank shares with others.
std::set<std::string> shared_memories() {
    std::set<std::string> names;
    for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string name = std::filesystem::read_symlink(descriptor, gone).string();
        if (name.starts_with("/memfd:thalweg")) names.insert(name);
    }
    return names;
}

// Tests several files that are closed one right after the other, again and again: their queues are
// used again.
void queues_are_used_again() {
    with_services([](Model& model) {
        std::set<std::string> first;
        for (int turn = 0; turn < 3; ++turn) {
            for (int k = 0; k < 3; ++k) {
                History h(model, path_of("turn" + std::to_string(k) + ".nc"), slowly, 64, 64, k);
                write(h, slow_records);
                h.close();
            }
            CHECK(tw_wait(model.session, 0) == TW_OK);
            const std::set<std::string> now = shared_memories();
            if (turn == 0) first = now;
            CHECK(std::ranges::includes(now, first));
        }
        CHECK(!first.empty());
    });
}

void the_same_path_again() {
    with_services([](Model& model) {
        History first(model, path_of("again.nc"), slowly, 64, 64, 1);
        write(first, slow_records);
        first.close();
        History second(model, path_of("./again.nc"), "", 64, 64, 2);
        look(first, slow_records);
        write(second, 3);
        second.close();
        tw_file input = nullptr;
        CHECK_TEXT(tw_open(model.session, path_of("again.nc").c_str(), nullptr, &input) == TW_OK,
                   model.error());
        tw_file_info info{};
        CHECK(tw_inq(input, &info) == TW_OK);
        CHECK(info.records == 3);
        CHECK(tw_close(&input) == TW_OK);
        look(second, 3);
    });
}

// A file that fails after tw_close, because there is a folder with its name.
struct Failing {
    Model& model;
    std::string path = path_of("taken.nc");
    explicit Failing(Model& m) : model(m) {
        History h(m, path, "bandwidth=32KiB; piece=1KiB", 23, 41);
        write(h, 2);
        h.close();
        if (m.rank == 0) std::filesystem::create_directory(path);
        MPI_Barrier(m.comm);
    }
    void told(int status) const {
        CHECK_TEXT(status == TW_EIO, tw_strerror(status));
        CHECK_TEXT(model.error().find("taken.nc") != std::string::npos, model.error());
        MPI_Barrier(model.comm);
        if (model.rank == 0) std::filesystem::remove(path);
        MPI_Barrier(model.comm);
    }
};

void failures_are_told_once() {
    with_services([](Model& model) {
        const Failing waited(model);
        // This call returns the error, and the model can continue.
        History other(model, path_of("other.nc"), "", 23, 41, 5);
        write(other, 1);
        other.close();
        waited.told(tw_wait(model.session, 0));
        CHECK(tw_wait(model.session, 0) == TW_OK);
        look(other, 1);
        const Failing created(model);
        tw_file file = nullptr;
        created.told(tw_create(model.session, created.path.c_str(), nullptr, &file));
        CHECK(file == nullptr);
        History again(model, created.path, "", 23, 41, 6);
        write(again, 1);
        again.close();
        CHECK(tw_wait(model.session, 0) == TW_OK);
        look(again, 1);
    });
}

void failures_at_the_end() {
    with_services([](Model& model) { const Failing failing(model); }, TW_EIO);
    if (check::state.rank == 0) std::filesystem::remove(path_of("taken.nc"));
}

// Tests a disk that fails after the close.
void failed_writes() {
    with_services([](Model& model) {
        History h(model, path_of("lost.nc"), slowly, 64, 64);
        write(h, slow_records);
        h.close();
        if (model.rank == 0) std::filesystem::remove(path_of("lost.nc.part"));
        MPI_Barrier(model.comm);
        CHECK(tw_wait(model.session, 0) == TW_EIO);
        CHECK(model.error().find("lost.nc") != std::string::npos);
        CHECK(!exists(h.path));
    });
}

void misfits_are_told_at_once() {
    with_services([](Model& model) {
        tw_file file = nullptr;
        CHECK(tw_create(model.session, path_of("misfit.nc").c_str(), nullptr, &file) == TW_OK);
        CHECK(tw_def_dim(file, "x", 2) == TW_OK);
        CHECK(tw_def_var(file, "v", TW_SHORT, "x", nullptr) == TW_OK);
        const double values[] = {1, 1e9};
        CHECK(tw_put(file, "v", TW_DOUBLE, values, 2) == TW_OK);
        CHECK(tw_close(&file) == TW_ERANGE);
        CHECK(tw_wait(model.session, 0) == TW_OK);
        CHECK(exists(path_of("misfit.nc")));
    });
}

// Tests definitions that fail, so that no service is ever created.
void definitions_that_fail() {
    with_services([](Model& model) {
        for (const char* format : {"format=cdf2", "format=netcdf4"}) {
            const std::string settings = std::string("method=tiles; tiles=50x50; ") + format;
            tw_file file = nullptr;
            CHECK(tw_create(model.session, path_of("unfit.nc").c_str(), settings.c_str(), &file) ==
                  TW_OK);
            CHECK(tw_def_dim(file, "x", 2) == TW_OK);
            CHECK(tw_def_var(file, "v", TW_SHORT, "x", nullptr) == TW_OK);
            CHECK(tw_enddef(file) == TW_ESETTING);
            short values[2] = {0, 0};
            CHECK(tw_get(file, "v", nullptr, 0, TW_SHORT, values, 2) == TW_ESETTING);
            CHECK(tw_close(&file) == TW_ESETTING);
            CHECK(tw_wait(model.session, 0) == TW_OK);
            CHECK(!exists(path_of("unfit.nc")));
        }
    });
}

void arguments() {
    CHECK(tw_wait(nullptr, 0) == TW_EHANDLE);
    with_services([](Model& model) {
        CHECK(tw_wait(model.session, -1) == TW_EARG);
        if (model.size > 1) CHECK(tw_wait(model.session, model.rank) == TW_EMISMATCH);
        tw_file file = nullptr;
        CHECK(tw_create(model.session, path_of("x.nc").c_str(), "close=never", &file) ==
              TW_ESETTING);
    });
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    const std::string only = check::option(argc, argv, "--only", "");
    folder = check::make_folder("close_later");
    const std::vector<std::pair<const char*, void (*)()>> all{
        {"close_does_not_wait", close_does_not_wait},
        {"inline_is_complete", inline_is_complete},
        {"a_file_a_step", a_file_a_step},
        {"bounded_memory", bounded_memory},
        {"queues_are_used_again", queues_are_used_again},
        {"the_same_path_again", the_same_path_again},
        {"failures_are_told_once", failures_are_told_once},
        {"failures_at_the_end", failures_at_the_end},
        {"failed_writes", failed_writes},
        {"misfits_are_told_at_once", misfits_are_told_at_once},
        {"definitions_that_fail", definitions_that_fail},
        {"arguments", arguments},
    };
    for (const auto& [name, body] : all) {
        if (!only.empty() && only != name) continue;
        check::step(name);
        body();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check::verdict("close_later");
}
