// Makes many short-lived objects in one session: decompositions that are freed, files that are
// written and closed. Memory must not grow after the first third of them.
//
// many [--decompositions N] [--files N] [--settings "service=..."]
//
// Prints a line of JSON for each kind: seconds of one, and the resident memory of the rank that
// grew most.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "system/calls.hpp"

using calls::session;

namespace {

/// Bytes that may be kept for each object. The library keeps a handle of 56 bytes, and this program
/// a copy of it. ROMIO, through which PnetCDF writes headers, keeps 32 bytes for each file on rank
/// 0, and so prevents the allocator from joining free memory around them.
constexpr std::int64_t slack_each = 256;
/// Bytes in which the allocator and MPI keep unused memory.
constexpr std::int64_t slack_files = std::int64_t(64) << 10;
/// Bytes that the session keeps for its summary of each of the last 1000 files.
constexpr std::int64_t figures_of_file = 2048 + 256;
constexpr std::int64_t slack_decompositions = std::int64_t(128) << 10;

std::vector<int> processes;  // processes of all ranks, servers included
std::string folder;
bool all_good = true;

std::vector<std::int64_t> resident() {
    std::vector<std::int64_t> bytes;
    for (const int process : processes) {
        std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
        std::int64_t pages = 0;
        statm >> pages >> pages;
        bytes.push_back(pages * sysconf(_SC_PAGESIZE));
    }
    return bytes;
}

/// Calls act(n) many times, and compares the memory after a third of the calls with that at the
/// end.
template <class Act>
void repeat(const std::string& settings, const char* what, int n, std::int64_t slack, Act&& act) {
    if (n < 3) return;
    std::vector<std::int64_t> before;
    const double start = MPI_Wtime();
    for (int i = 0; i < n && all_good; ++i) {
        check::step("{}: {} {}", settings, what, i);
        all_good = act(i);
        if (i + 1 == n / 3) {
            MPI_Barrier(check::state.comm);
            before = resident();
        }
    }
    CHECK_TEXT(all_good, tw_error_message(session));
    if (!all_good) return;
    const double seconds = MPI_Wtime() - start;
    MPI_Barrier(check::state.comm);
    if (check::state.rank != 0) return;
    const std::vector<std::int64_t> after = resident();
    std::size_t worst = 0;
    for (std::size_t r = 0; r < after.size(); ++r)
        if (after[r] - before[r] > after[worst] - before[worst]) worst = r;
    const std::int64_t growth = after[worst] - before[worst];
    std::printf(
        "{\"settings\": \"%s\", \"what\": \"%s\", \"n\": %d, \"ranks\": %zu, \"seconds_each\": "
        "%.6f, \"rank\": %zu, \"resident_third\": %lld, \"resident_end\": %lld, "
        "\"growth_each\": %.1f}\n",
        settings.c_str(), what, n, processes.size(), seconds / n, worst,
        static_cast<long long>(before[worst]), static_cast<long long>(after[worst]),
        static_cast<double>(growth) / (n - n / 3));
    std::fflush(stdout);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK_TEXT(growth <= slack + slack_each * (n - n / 3), "{}: {}: rank {} grew by {} bytes",
               settings, what, worst, growth);
#endif
}

struct Part {
    std::int64_t shape[2], start[2], count[2];
    std::vector<float> values;

    explicit Part(int length) {
        const int rank = check::state.rank, size = check::state.size;
        shape[0] = 2 * size;
        shape[1] = length;
        start[0] = 2 * rank;
        start[1] = 0;
        count[0] = 2;
        count[1] = length;
        values.assign(static_cast<std::size_t>(2 * length), 0);
    }
    void set(int i) {
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = static_cast<float>(i + check::state.rank * 1000) + static_cast<float>(k);
    }
};

/// Makes a new decomposition: boxes and lists in turn.
bool one_decomposition(int i) {
    const Part part(8 + i % 1000);
    tw_decomposition d = nullptr;
    bool good = false;
    if (i % 2 == 0) {
        good = tw_decompose(session, "y x", 1, part.shape, part.start, part.count, &d) == TW_OK;
    } else {
        std::vector<std::int64_t> indices;
        for (std::int64_t k = 0; k < part.shape[1]; ++k)
            indices.push_back(check::state.size * k + check::state.rank);
        const std::int64_t length = check::state.size * part.shape[1];
        good = tw_decompose_list(session, "n", &length, "n", part.shape[1], indices.data(),
                                 TW_LIST_UNIQUE, &d) == TW_OK;
    }
    return good && tw_free_decomposition(&d) == TW_OK;
}

std::vector<tw_file> copies;  // copies of the handles of closed files

std::string path_of(int i) { return folder + "/file_" + std::to_string(i) + ".nc"; }

bool keep(tw_file file) {
    copies.push_back(file);
    return true;
}

/// Checks that all copies of handles of closed files, of the first files as of the last, are
/// refused with TW_ECLOSED and that no two are equal.
void expect_closed() {
    const float value = 1;
    for (const tw_file copy : copies) {
        CHECK(tw_put(copy, "T", TW_FLOAT, &value, 1) == TW_ECLOSED);
        CHECK(std::string(tw_error_message(session)).find("closed") != std::string::npos);
        tw_file again = copy;
        CHECK(tw_close(&again) == TW_ECLOSED);
    }
    std::sort(copies.begin(), copies.end());
    CHECK(std::adjacent_find(copies.begin(), copies.end()) == copies.end());
    copies = {};
}

/// Checks that the summary contains all files, and the first ones in detail.
void expect_summary(int files) {
    const char* json = nullptr;
    CHECK(tw_summary(session, TW_SUMMARY_JSON, &json) == TW_OK);
    const std::string text = json;
    std::size_t detailed = 0;
    for (auto at = text.find("\"path\""); at != std::string::npos;
         at = text.find("\"path\"", at + 1))
        ++detailed;
    const std::size_t most = 1000;
    const auto n = static_cast<std::size_t>(files);
    CHECK_TEXT(detailed == std::min(n, most), "{} in detail", detailed);
    const std::string others =
        "\"other_files\": {\n    \"files\": " + std::to_string(n - std::min(n, most)) + ",";
    CHECK_TEXT((text.find(others) != std::string::npos) == (n > most), others);
}

/// Writes file `i`: a small variable with one record. Removes the file written 20 calls before.
bool one_file(int i, tw_decomposition d, Part& part) {
    tw_file file = nullptr;
    part.set(i);
    const bool good = tw_create(session, path_of(i).c_str(), nullptr, &file) == TW_OK &&
                      tw_def_var(file, "T", TW_FLOAT, "time y x", d) == TW_OK &&
                      tw_put_att_text(file, "T", "units", "K") == TW_OK && keep(file) &&
                      tw_put(file, "T", TW_FLOAT, part.values.data(),
                             static_cast<std::int64_t>(part.values.size())) == TW_OK &&
                      tw_end_step(file) == TW_OK && tw_close(&file) == TW_OK;
    if (i >= 20 && check::state.rank == 0) ::unlink(path_of(i - 20).c_str());
    return good;
}

/// Opens and reads the same file, with a new decomposition each time.
bool one_read(int i, int last, Part& part) {
    tw_file file = nullptr;
    tw_decomposition d = nullptr;
    std::vector<float> values(part.values.size(), -1);
    const bool good =
        tw_decompose(session, "y x", 1, part.shape, part.start, part.count, &d) == TW_OK &&
        tw_open(session, path_of(last - i % 10).c_str(), nullptr, &file) == TW_OK &&
        tw_get(file, "T", d, 0, TW_FLOAT, values.data(),
               static_cast<std::int64_t>(values.size())) == TW_OK &&
        tw_close(&file) == TW_OK && tw_free_decomposition(&d) == TW_OK;
    part.set(last - i % 10);
    CHECK(values == part.values);
    return good;
}

void run(const std::string& settings, int decompositions, int files) {
    check::step("{}: tw_init", settings);
    all_good = true;
    if (tw_init(MPI_COMM_WORLD, ("log=off; " + settings).c_str(), &session) != TW_OK) {
        CHECK_TEXT(false, "{}: {}", settings, tw_error_message(session));
        (void)tw_finalize(&session);
        return;
    }
    tw_role role = TW_MODEL;
    CHECK(tw_inq_role(session, &role) == TW_OK);
    if (role == TW_MODEL) {
        MPI_Comm model = MPI_COMM_NULL;
        CHECK(tw_model_comm(session, &model) == TW_OK);
        check::use(model);
        repeat(settings, "decompositions", decompositions, slack_decompositions, one_decomposition);
        copies.reserve(static_cast<std::size_t>(std::max(files, 0)));
        Part part(16);
        tw_decomposition d = nullptr;
        CHECK(tw_decompose(session, "y x", 1, part.shape, part.start, part.count, &d) == TW_OK);
        if (files > 2)
            repeat(settings, "files", files, slack_files + figures_of_file * (files - files / 3),
                   [&](int i) { return one_file(i, d, part); });
        CHECK(tw_free_decomposition(&d) == TW_OK);
        CHECK(tw_wait(session, 0) == TW_OK);
        expect_closed();
        expect_summary(std::max(files, 0));
        if (files > 20)
            repeat(settings, "reads", files, slack_files,
                   [&](int i) { return one_read(i, files - 1, part); });
        check::use(MPI_COMM_WORLD);
    }
    check::step("{}: tw_finalize", settings);
    check::state.limit = 60;
    CHECK(tw_finalize(&session) == TW_OK);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    processes.resize(static_cast<std::size_t>(check::state.size));
    int process = ::getpid();
    MPI_Allgather(&process, 1, MPI_INT, processes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const int decompositions = std::stoi(check::option(argc, argv, "--decompositions", "300"));
    const int files = std::stoi(check::option(argc, argv, "--files", "300"));
    const std::string one = check::option(argc, argv, "--settings", "");
    folder = check::make_folder("many");
    std::vector<std::string> all{"service=inline", "service=background",
                                 "service=background; close=later"};
    if (check::state.size > 1) all.emplace_back("servers=1; service=servers");
    if (!one.empty()) all = {one};
    for (const std::string& settings : all) {
        // A server waits in tw_init until the others have ended.
        ::alarm(0);
        check::state.limit = 0;
        run(settings, decompositions, files);
    }
    check::state.limit = 60;
    return check::verdict("many");
}
