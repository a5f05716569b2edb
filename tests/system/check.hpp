// Checks for test programs that run under mpirun.
//
// SPDX-License-Identifier: Apache-2.0
//
// A failed check prints rank, file and line, and is counted. The program continues, so that the
// ranks stay together. verdict() gathers the counts: one failed check on any rank fails the job.
// A watchdog ends a rank that waits forever, and prints the last named step of each rank.
#pragma once

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/text.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace check {

struct State {
    MPI_Comm comm = MPI_COMM_WORLD;  // communicator of the ranks that test together
    int rank = 0;                    // rank in that communicator
    int size = 1;
    long checks = 0;
    long failures = 0;
    unsigned limit = 60;                       // time limit of each step in seconds
    std::string test;                          // name that steps begin with
    std::vector<std::string> folders;          // that this rank has made; removed by verdict()
    char step[800] = "before the first step";  // fixed memory, because a signal handler reads it
};

inline State state;

// Prints a line by a single call, so that lines of different ranks do not mix.
inline void print(const std::string& line) {
    const std::string whole = line + "\n";
    std::fwrite(whole.data(), 1, whole.size(), stderr);
    std::fflush(stderr);
}

inline void fail(const char* file, int line, const std::string& what) {
    ++state.failures;
    // Print only the first failures, because a loop may fail each time.
    if (state.failures > 40) return;
    const char* name = std::strrchr(file, '/');
    print(text("[rank {}] {}:{}: FAILED: {} (in step: {})", state.rank, name ? name + 1 : file,
               line, what, state.step));
    if (state.failures == 40)
        print(text("[rank {}] (further failures are only counted)", state.rank));
}

inline void on_alarm(int) {
    // Only async-signal-safe calls are allowed here.
    char line[1000];
    std::size_t n = 0;
    const auto add = [&](const char* s) {
        while (*s != '\0' && n < sizeof line - 1) line[n++] = *s++;
    };
    char digits[12];
    int k = 0;
    int value = state.rank;
    do {
        digits[k++] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value > 0 && k < 11);
    add("[rank ");
    while (k > 0 && n < sizeof line - 1) line[n++] = digits[--k];
    add("] HANG: the time limit is over in step: ");
    add(state.step);
    if (n < sizeof line) line[n++] = '\n';
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, n);
    ::sleep(2);  // give other ranks time to print before the first abort ends the job
    std::abort();
}

// Sets the name of this rank's next step, and restarts the watchdog.
template <class... Values>
void step(std::string_view form, const Values&... values) {
    const std::string before = state.test.empty() ? "" : state.test + ": ";
    std::snprintf(state.step, sizeof state.step, "%s", (before + text(form, values...)).c_str());
    ::alarm(state.limit);
}

// @param threads, level  requested and provided thread level of MPI_Init_thread
inline void begin(int* argc, char*** argv, unsigned limit_seconds, int threads = MPI_THREAD_SINGLE,
                  int* level = nullptr) {
    // Remove settings from the environment, which would override those under test.
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (std::strncmp(*entry, "THALWEG_", 8) == 0) {
            const char* end = std::strchr(*entry, '=');
            if (end != nullptr) names.emplace_back(*entry, static_cast<std::size_t>(end - *entry));
        }
    for (const std::string& name : names)
        if (name.rfind("THALWEG_TEST", 0) != 0) ::unsetenv(name.c_str());
#if defined(__SANITIZE_ADDRESS__)
    __lsan_disable();  // memory that MPI allocates at its start is no leak
#endif
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(argc, argv, threads, &provided);
    if (level != nullptr) *level = provided;
#if defined(__SANITIZE_ADDRESS__)
    __lsan_enable();
#endif
    MPI_Comm_rank(MPI_COMM_WORLD, &state.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &state.size);
    state.limit = limit_seconds;
    if (const char* own = std::getenv("THALWEG_TEST_LIMIT"))
        state.limit = static_cast<unsigned>(std::atoi(own));
    struct sigaction action {};
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, nullptr);
    step("start");
}

// Makes the ranks of a communicator test together from now on.
inline void use(MPI_Comm comm) {
    state.comm = comm;
    MPI_Comm_rank(comm, &state.rank);
    MPI_Comm_size(comm, &state.size);
}

// Adds up the counts of all ranks, removes the folders, prints the verdict on rank 0 and ends MPI.
// Returns the exit status.
inline int verdict(const char* program) {
    step("verdict");
    std::vector<long> failures(static_cast<std::size_t>(state.size));
    long checks = 0;
    MPI_Gather(&state.failures, 1, MPI_LONG, failures.data(), 1, MPI_LONG, 0, state.comm);
    MPI_Reduce(&state.checks, &checks, 1, MPI_LONG, MPI_SUM, 0, state.comm);
    long total = 0;
    std::string where;
    if (state.rank == 0) {
        for (std::size_t r = 0; r < failures.size(); ++r)
            if (failures[r] > 0) {
                total += failures[r];
                where += (where.empty() ? "" : ", ") + std::to_string(r);
            }
        if (total == 0)
            print(text("{}: PASSED on {} ranks, {} checks", program, state.size, checks));
        else
            print(text("{}: FAILED: {} of {} checks, on ranks {} of {}", program, total, checks,
                       where, state.size));
    }
    MPI_Bcast(&total, 1, MPI_LONG, 0, state.comm);
    std::error_code ignored;
    for (const std::string& folder : state.folders) std::filesystem::remove_all(folder, ignored);
    ::alarm(0);
#if defined(__SANITIZE_ADDRESS__)
    // Check for leaks here, while MPI's modules are still loaded, so that their leaks can be
    // distinguished from those of the library. The check at exit could not do so, and is skipped.
    const bool leaks = __lsan_do_recoverable_leak_check() != 0;
    MPI_Finalize();
    std::fflush(nullptr);
    ::_exit(total == 0 && !leaks ? 0 : 1);
#else
    MPI_Finalize();
    return total == 0 ? 0 : 1;
#endif
}

// Returns true on every rank if `here` is true on every rank.
inline bool everywhere(bool here) {
    int mine = here ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, state.comm);
    return all == 1;
}

inline std::string broadcast(const std::string& from_rank_0) {
    int length = static_cast<int>(from_rank_0.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, state.comm);
    std::string result = from_rank_0;
    result.resize(static_cast<std::size_t>(length));
    MPI_Bcast(result.data(), length, MPI_CHAR, 0, state.comm);
    return result;
}

// Returns the texts of all ranks, on every rank.
inline std::vector<std::string> gather(const std::string& mine) {
    const int length = static_cast<int>(mine.size());
    const auto ranks = static_cast<std::size_t>(state.size);
    std::vector<int> lengths(ranks);
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, state.comm);
    std::vector<int> offsets(ranks, 0);
    int total = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        offsets[r] = total;
        total += lengths[r];
    }
    std::string all(static_cast<std::size_t>(total), '\0');
    MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                   MPI_CHAR, state.comm);
    std::vector<std::string> result;
    for (std::size_t r = 0; r < ranks; ++r)
        result.push_back(
            all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
    return result;
}

// Makes an empty folder for the program's files, with the same path on every rank; all ranks must
// be on one machine. It is in memory if possible, because thousands of small files are written.
inline std::string make_folder(const char* program) {
    std::string path;
    if (state.rank == 0) {
        const char* base = std::getenv("THALWEG_TEST_DIR");
        if (base == nullptr) base = std::getenv("TMPDIR");
        if (base == nullptr) base = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        path = std::string(base) + "/thalweg_" + program + "_XXXXXX";
        if (::mkdtemp(path.data()) == nullptr) {
            print("cannot make a folder " + path);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    path = broadcast(path);
    if (state.rank == 0) state.folders.push_back(path);
    return path;
}

// Returns the value of "--name value" on the command line, or the default.
inline std::string option(int argc, char** argv, const char* name, const char* otherwise) {
    for (int i = 1; i + 1 < argc; ++i)
        if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
    return otherwise;
}

inline bool has_flag(int argc, char** argv, const char* name) {
    for (int i = 1; i < argc; ++i)
        if (std::strcmp(argv[i], name) == 0) return true;
    return false;
}

}  // namespace check

#define CHECK_TEXT(condition, ...)                                                                 \
    do {                                                                                           \
        ++check::state.checks;                                                                     \
        if (!(condition))                                                                          \
            check::fail(__FILE__, __LINE__,                                                        \
                        std::string(#condition ": ") + check::text(__VA_ARGS__));                  \
    } while (false)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        ++check::state.checks;                                                                     \
        if (!(condition)) check::fail(__FILE__, __LINE__, #condition);                             \
    } while (false)
