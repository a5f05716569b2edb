// Fixtures for the tests of bad input: checks of a call's code and words, the same on all ranks; a
// session under test; a small file and its reference.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_BAD_INPUT_HPP
#define THALWEG_TESTS_SYSTEM_BAD_INPUT_HPP

#include <mpi.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>
#include "system/check.hpp"
#include "system/compare.hpp"
#include "system/oracle.hpp"
#include "system/values.hpp"
#include "thalweg/thalweg.h"

namespace bad_input {

using Words = std::vector<std::string>;

/// Codes of which one is accepted.
struct Codes : std::vector<int> {
    Codes(int code) : std::vector<int>{code} {}  // NOLINT: one code is a list of one
    Codes(std::initializer_list<int> codes) : std::vector<int>(codes) {}
};

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

inline int rank() { return check::state.rank; }
inline int ranks() { return check::state.size; }
inline int last_rank() { return check::state.size - 1; }
// Returns "rank R"; or "" if there is only one rank, which errors need not name.
inline std::string rank_word(int r) { return ranks() == 1 ? "" : "rank " + std::to_string(r); }

inline bool one_of(int status, const Codes& accepted) {
    return std::find(accepted.begin(), accepted.end(), status) != accepted.end();
}

inline std::string names_of(const Codes& accepted) {
    std::string text;
    for (const int status : accepted)
        text += std::string(text.empty() ? "" : " or ") + tw_strerror(status);
    return text;
}

// Checks the status of this rank's call, and that the text of the error contains the given words.
inline void judge(const char* file, int line, const char* call, int status, const std::string& text,
                  const Codes& accepted, const Words& words) {
    ++check::state.checks;
    if (!one_of(status, accepted)) {
        check::fail(file, line,
                    check::text("%s gave %s (%s), expected %s", call, tw_strerror(status),
                                text.c_str(), names_of(accepted).c_str()));
        return;
    }
    for (const std::string& word : words) {
        ++check::state.checks;
        if (text.find(word) == std::string::npos)
            check::fail(
                file, line,
                check::text("%s: the text lacks \"%s\": %s", call, word.c_str(), text.c_str()));
    }
}

// Checks that code and text are the same on all ranks. One rank reports a difference.
inline void judge_all(const char* file, int line, const char* call, int status,
                      const std::string& text, const Codes& accepted, const Words& words) {
    const std::vector<std::string> all = check::gather(std::to_string(status) + ": " + text);
    ++check::state.checks;
    for (std::size_t r = 1; r < all.size(); ++r)
        if (all[r] != all[0]) {
            if (rank() == 0)
                check::fail(file, line,
                            check::text("%s: rank 0 has %s, rank %zu has %s", call, all[0].c_str(),
                                        r, all[r].c_str()));
            break;
        }
    if (rank() == 0 || all[static_cast<std::size_t>(rank())] != all[0])
        judge(file, line, call, status, text, accepted, words);
}

// Checks a collective call. If it succeeds, there is no text to compare.
#define ALL(session, accepted, words, ...)                                                         \
    do {                                                                                           \
        check::step("%s, line %d: %s", current_test.c_str(), __LINE__, #__VA_ARGS__);              \
        const int status_ = (__VA_ARGS__);                                                         \
        const std::string text_ = status_ == TW_OK ? std::string() : tw_error_message(session);    \
        judge_all(__FILE__, __LINE__, #__VA_ARGS__, status_, text_, accepted, words);              \
    } while (false)

#define HERE(session, accepted, words, ...)                                                        \
    do {                                                                                           \
        check::step("%s, line %d: %s", current_test.c_str(), __LINE__, #__VA_ARGS__);              \
        const int status_ = (__VA_ARGS__);                                                         \
        const std::string text_ = status_ == TW_OK ? std::string() : tw_error_message(session);    \
        judge(__FILE__, __LINE__, #__VA_ARGS__, status_, text_, accepted, words);                  \
    } while (false)

#define OK_ALL(session, ...) ALL(session, TW_OK, {}, __VA_ARGS__)
#define OK_HERE(session, ...) HERE(session, TW_OK, {}, __VA_ARGS__)
#define CODES(...) (Codes{__VA_ARGS__})
#define WORDS(...) (Words{__VA_ARGS__})

inline std::string current_test;
inline std::string folder;         // folder of the job
inline std::string base_settings;  // settings of the session under test

// ---- a session and files -----------------------------------------------------------------------

struct Session {
    tw_session handle = nullptr;
    explicit Session(const std::string& more = "") {
        std::string settings = "log=off; service=inline";  // ranks learn of errors at once with
                                                           // this service
        if (!base_settings.empty()) settings += "; " + base_settings;
        if (!more.empty()) settings += "; " + more;
        OK_ALL(handle, tw_init(MPI_COMM_WORLD, settings.c_str(), &handle));
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        // A test may leave the session open: ending it must not hang.
        check::step("%s: tw_finalize", current_test.c_str());
        tw_finalize(&handle);
    }
    operator tw_session() const { return handle; }  // NOLINT: a handle with an owner
};

inline std::string path_of(const std::string& name) { return folder + "/" + name; }

inline bool exists(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
}

inline std::int64_t entries(const std::string& of) {
    std::int64_t n = 0;
    std::error_code error;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(of, error)) ++n;
    return n;
}

// A dimension of length 4 ranks + 3, of which each rank has a contiguous part.
struct Line {
    std::int64_t length = 4 * static_cast<std::int64_t>(ranks()) + 3;
    std::int64_t start = 0;
    std::int64_t count = 0;
    tw_decomposition handle = nullptr;

    explicit Line(tw_session session, const char* name = "x", std::int64_t own_length = 0) {
        if (own_length > 0) length = own_length;
        start = length * rank() / ranks();
        count = length * (rank() + 1) / ranks() - start;
        OK_ALL(session, tw_decompose(session, name, 1, &length, &start, &count, &handle));
    }

    template <class T>
    std::vector<T> values(T from) const {
        std::vector<T> result;
        for (std::int64_t i = 0; i < count; ++i)
            result.push_back(static_cast<T>(from + static_cast<T>((start + i) % 100)));
        return result;
    }
    template <class T>
    std::vector<T> all_values(T from) const {
        std::vector<T> result;
        for (std::int64_t i = 0; i < length; ++i)
            result.push_back(static_cast<T>(from + static_cast<T>(i % 100)));
        return result;
    }
};

// Compares a file with expected values. It has a record variable "T" (float, "time x") and a
// fixed-size variable "h" (float, "x"). records[r] are the values of record r; empty for a record
// of fill values.
inline void expect_file(const std::string& path, std::int64_t length,
                        const std::vector<std::vector<float>>& records,
                        const std::vector<float>& fixed) {
    if (rank() == 0) {
        const std::string expected = path + ".expected";
        {
            Oracle oracle(expected, "cdf2");
            oracle.dim("time", 0);
            oracle.dim("x", length);
            const int t = oracle.var("T", TW_FLOAT, {"time", "x"});
            const int h = oracle.var("h", TW_FLOAT, {"x"});
            oracle.enddef();
            const auto n = static_cast<std::size_t>(length);
            if (!fixed.empty())
                oracle.require(oracle.put(h, TW_FLOAT, {0}, {n}, fixed.data()), "put");
            for (std::size_t r = 0; r < records.size(); ++r) {
                const std::vector<float> fill(n, NC_FILL_FLOAT);
                oracle.require(oracle.put(t, TW_FLOAT, {r, 0}, {1, n},
                                          (records[r].empty() ? fill : records[r]).data()),
                               "put");
            }
            oracle.close();
        }
        const std::string what = difference(expected, path);
        CHECK_TEXT(what.empty(), "%s: %s: %s", current_test.c_str(), path.c_str(), what.c_str());
        ::unlink(expected.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

inline tw_file create_two(tw_session session, const std::string& path, const Line& line,
                          const char* settings = "format=cdf2") {
    tw_file file = nullptr;
    OK_ALL(session, tw_create(session, path.c_str(), settings, &file));
    OK_HERE(session, tw_def_var(file, "T", TW_FLOAT, "time x", line.handle));
    OK_HERE(session, tw_def_var(file, "h", TW_FLOAT, "x", line.handle));
    return file;
}

inline int put(tw_file file, const char* name, const std::vector<float>& values) {
    return tw_put(file, name, TW_FLOAT, values.data(), static_cast<std::int64_t>(values.size()));
}

// One function for each kind of mistake; see the table in bad_input.cpp.
void decompositions();
void lists();
void settings();
void paths();
void in_use();
void definitions();
void disagreements();
void puts();
void missing();
void collective_puts();
void late_attributes();
void values_out_of_range();
void formats();
void header_limit();
void sessions();
void reading();

}  // namespace bad_input

#endif
