// Checks that the time of calls grows linearly with the number of names, of boxes and of
// decompositions, and not with its square.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: many_names [N]
// Compares the processor time of N and of 4 N. Run it with one rank: ranks that wait use time, too.

#include <dlfcn.h>
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

long resolved_paths = 0;

}  // namespace

// Counts the paths whose symbolic links the library follows.
extern "C" char* realpath(const char* __restrict path, char* __restrict to) noexcept {
    using Call = char* (*)(const char*, char*);
    static const auto next = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "realpath"));
    ++resolved_paths;
    return next(path, to);
}

namespace {

// Linear growth and growth as n log n give a factor of 4 to 5, quadratic growth 16.
constexpr double most_growth = 9;
// Shorter times cannot be measured well.
constexpr double least_seconds = 0.02;

tw_session session = nullptr;

#define OK(call) CHECK_TEXT((call) == TW_OK, "%s", tw_error_message(session))

double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

std::string name(const char* begin, int number) { return begin + std::to_string(number); }

tw_decomposition whole(const char* dims, std::int64_t length) {
    const std::int64_t start = 0;
    tw_decomposition d = nullptr;
    OK(tw_decompose(session, dims, 1, &length, &start, &length, &d));
    return d;
}

void define_variables(tw_file f, tw_decomposition d, int n) {
    for (int i = 0; i < n; ++i) {
        const std::string var = name("v", i);
        OK(tw_def_var(f, var.c_str(), TW_FLOAT, "time x", d));
        OK(tw_put_att_text(f, var.c_str(), "units", "K"));
    }
}

void put_step(tw_file f, int n) {
    const float values[4] = {1, 2, 3, 4};
    for (int i = 0; i < n; ++i) OK(tw_put(f, name("v", i).c_str(), TW_FLOAT, values, 4));
    OK(tw_end_step(f));
}

void inquire(tw_file f, int n) {
    for (int i = 0; i < n; ++i) {
        const char* var = nullptr;
        int nd = 0, na = 0;
        tw_type type{};
        OK(tw_inq_name(f, TW_VARIABLE, nullptr, i, &var));
        OK(tw_inq_var(f, var, &type, &nd, &na));
        CHECK(nd == 2 && na == 1);
        OK(tw_inq_var_dim(f, var, 1, &var, nullptr));
    }
}

// Writes and reads many variables.
void variables(const char* path, const char* settings, int n) {
    const tw_decomposition d = whole("x", 4);
    tw_file f = nullptr;
    OK(tw_create(session, path, settings, &f));
    define_variables(f, d, n);
    put_step(f, n);
    put_step(f, n);
    OK(tw_close(&f));

    OK(tw_open(session, path, nullptr, &f));
    std::vector<float> read(static_cast<std::size_t>(4 * n));
    for (int i = 0; i < n; ++i)
        OK(tw_get_array(f, name("v", i).c_str(), d, 1,
                        tw_dense(TW_FLOAT, &read[std::size_t(4) * i], 4), TW_DEFERRED));
    OK(tw_read(f));
    CHECK(read[3] == 4 && read.back() == 4);
    inquire(f, n);
    OK(tw_close(&f));
}

void append(const char* path, int n) {
    tw_file f = nullptr;
    OK(tw_open(session, path, "mode=append", &f));
    define_variables(f, whole("x", 4), n);
    OK(tw_close(&f));
}

void attributes(int n) {
    tw_file f = nullptr;
    OK(tw_create(session, "attributes.nc", nullptr, &f));
    for (int i = 0; i < n; ++i) OK(tw_put_att(f, nullptr, name("a", i).c_str(), TW_INT, 1, &i));
    OK(tw_def_dim(f, "x", 3));
    OK(tw_def_var(f, "v", TW_FLOAT, "x", nullptr));
    OK(tw_enddef(f));
    for (int i = 0; i < n; ++i) OK(tw_put_att(f, "v", name("b", i).c_str(), TW_INT, 1, &i));
    OK(tw_close(&f));
    OK(tw_open(session, "attributes.nc", nullptr, &f));
    for (int i = 0; i < n; ++i) {
        int value = -1;
        OK(tw_get_att(f, "v", name("b", i).c_str(), TW_INT, 1, &value));
        CHECK(value == i);
        OK(tw_get_att(f, nullptr, name("a", i).c_str(), TW_INT, 1, &value));
        CHECK(value == i);
    }
    OK(tw_close(&f));
}

void dimensions(int n) {
    tw_file f = nullptr;
    OK(tw_create(session, "dimensions.nc", nullptr, &f));
    for (int i = 0; i < n; ++i) OK(tw_def_dim(f, name("d", i).c_str(), 1 + i % 5));
    for (int i = 0; i < n; ++i)
        OK(tw_def_var(f, name("v", i).c_str(), TW_BYTE, name("d", i).c_str(), nullptr));
    OK(tw_close(&f));
    OK(tw_open(session, "dimensions.nc", nullptr, &f));
    for (int i = 0; i < n; ++i) {
        std::int64_t length = 0;
        OK(tw_inq_dim(f, name("d", i).c_str(), &length));
        CHECK(length == 1 + i % 5);
    }
    OK(tw_close(&f));
}

void decompositions(int n) {
    std::vector<tw_decomposition> all;
    for (int i = 0; i < n; ++i) all.push_back(whole("x", i + 1));
    for (int i = 0; i < n; ++i) all.push_back(whole("x", i + 1));
    tw_file f = nullptr;
    OK(tw_create(session, "decompositions.nc", nullptr, &f));
    for (int i = 0; i < n; i += 16) {
        const std::string dim = name("x", i);
        const tw_decomposition d = whole(dim.c_str(), 2);
        OK(tw_def_var(f, name("v", i).c_str(), TW_BYTE, dim.c_str(), d));
    }
    OK(tw_close(&f));
    for (tw_decomposition& d : all) OK(tw_free_decomposition(&d));
}

void restart(int n) {
    const tw_decomposition d = whole("x", 4);
    std::vector<double> values(static_cast<std::size_t>(4 * n), 7);
    tw_restart r = nullptr;
    OK(tw_restart_new(session, nullptr, &r));
    for (int i = 0; i < n; ++i)
        OK(tw_restart_add(r, name("v", i).c_str(), TW_DOUBLE, "x", d, &values[std::size_t(4) * i],
                          4, 0));
    OK(tw_restart_write(r, "restart.nc"));
    OK(tw_restart_read(r, "restart.nc", nullptr));
    OK(tw_restart_free(&r));
}

// Tests a decomposition in which every second element is a box.
void boxes(int n) {
    std::vector<std::int64_t> start, count(static_cast<std::size_t>(n), 1);
    for (int i = 0; i < n; ++i) start.push_back(2 * i);
    const std::int64_t shape = 2 * std::int64_t(n);
    tw_decomposition d = nullptr;
    OK(tw_decompose(session, "x", n, &shape, start.data(), count.data(), &d));
    tw_file f = nullptr;
    OK(tw_create(session, "boxes.nc", nullptr, &f));
    OK(tw_def_var(f, "v", TW_FLOAT, "time x", d));
    OK(tw_def_var(f, "w", TW_FLOAT, "time x", d));
    std::vector<float> values(static_cast<std::size_t>(n), 3);
    OK(tw_put(f, "v", TW_FLOAT, values.data(), n));
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t first[2] = {0, (7 * i) % n}, length[2] = {1, 1};
        OK(tw_put_box(f, "w", TW_FLOAT, first, length, nullptr, values.data()));
    }
    OK(tw_end_step(f));
    OK(tw_put_record(f, "v", d, 1, TW_FLOAT, values.data(), n));
    OK(tw_end_step(f));
    OK(tw_close(&f));
    OK(tw_open(session, "boxes.nc", nullptr, &f));
    std::fill(values.begin(), values.end(), 0.0F);
    OK(tw_get(f, "v", d, 1, TW_FLOAT, values.data(), n));
    CHECK(values.front() == 3 && values.back() == 3);
    OK(tw_close(&f));
    OK(tw_free_decomposition(&d));
}

// Writes records of so many variables that the time of the other calls is small.
void steps(int n) {
    const tw_decomposition d = whole("x", 4);
    tw_file f = nullptr;
    OK(tw_create(session, "steps.nc", "format=cdf5; service=inline", &f));
    for (int i = 0; i < n; ++i) OK(tw_def_var(f, name("v", i).c_str(), TW_FLOAT, "time x", d));
    for (int step = 0; step < 3; ++step) put_step(f, n);
    OK(tw_close(&f));
}

// Tests that a file is created alike beside few and beside many open files.
void open_files() {
    std::vector<tw_file> files(60, nullptr);
    std::vector<long> resolved;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const long before = resolved_paths;
        OK(tw_create(session, (name("open", static_cast<int>(i)) + ".nc").c_str(), nullptr,
                     &files[i]));
        OK(tw_enddef(files[i]));
        resolved.push_back(resolved_paths - before);
    }
    CHECK(resolved.front() > 0);
    CHECK_TEXT(resolved.back() <= resolved.front(), "%ld paths resolved, %ld beside %zu files",
               resolved.front(), resolved.back(), files.size() - 1);
    tw_file again = nullptr;
    std::filesystem::create_symlink(".", "link");
    CHECK(tw_create(session, "link/open7.nc", nullptr, &again) == TW_EINUSE);
    for (tw_file& f : files) OK(tw_close(&f));
}

double seconds_of(const std::function<void(int)>& run, int n) {
    const double begin = user_seconds();
    run(n);
    return user_seconds() - begin;
}

void compare(const char* what, int n, const std::function<void(int)>& run) {
    check::step("%s", what);
    double growth = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const double few = seconds_of(run, n), many = seconds_of(run, 4 * n);
        growth = many / std::max(few, least_seconds);
        check::print(
            check::text("many_names: %s: %.3f s of %d, %.3f s of %d", what, few, n, many, 4 * n));
        if (growth <= most_growth) return;
    }
    CHECK_TEXT(growth <= most_growth, "%s: four times as many take %.1f times as long", what,
               growth);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 300);
    const std::string folder = check::make_folder("many_names");
    std::filesystem::current_path(folder);
    const int n = argc > 1 ? std::stoi(argv[1]) : 4000;
    CHECK(tw_init(MPI_COMM_WORLD, nullptr, &session) == TW_OK);
    const auto compare_variables = [](const char* settings, int few) {
        const std::string path = std::string(settings) + ".nc";
        compare(settings, few, [&](int count) {
            if (check::state.rank == 0) std::filesystem::remove_all(path);
            MPI_Barrier(MPI_COMM_WORLD);
            variables(path.c_str(), settings, count);
            if (path != "files=variable.nc") append(path.c_str(), count);
        });
    };
    for (const char* settings : {"format=cdf5", "service=background", "files=tiles"})
        compare_variables(settings, n);
    compare_variables("format=netcdf4", n / 40);
    compare_variables("files=variable", n / 16);
    compare("attributes", 4 * n, attributes);
    compare("dimensions", 2 * n, dimensions);
    compare("decompositions", 2 * n, decompositions);
    compare("restart", n, restart);
    compare("steps", 4 * n, steps);
    open_files();
    compare("boxes", 8 * n, boxes);
    OK(tw_finalize(&session));
    std::filesystem::current_path("/");
    std::filesystem::remove_all(folder);
    return check::verdict("many_names");
}
