// Fixtures for the tests of bad input: a session under test, and a small file and its reference.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>
#include "system/calls.hpp"
#include "system/compare.hpp"
#include "system/oracle.hpp"
#include "thalweg/thalweg.h"

namespace bad_input {

using namespace calls;  // NOLINT: for session, text() and the like

using Numbers = std::vector<std::int64_t>;

inline int rank() { return check::state.rank; }
inline int ranks() { return check::state.size; }
inline int last_rank() { return check::state.size - 1; }
// Returns "rank R"; or "" if there is only one rank, which errors need not name.
inline std::string rank_word(int r) { return ranks() == 1 ? "" : "rank " + std::to_string(r); }

inline std::string folder;         // folder of the job
inline std::string base_settings;  // settings of the session under test

/// A session under test. The first one is that of the macros.
struct Session {
    tw_session handle = nullptr;
    explicit Session(const std::string& more = "") {
        // Ranks learn of errors at once with this service.
        const std::string settings = "log=off; service=inline; " + base_settings + "; " + more;
        OK(tw_init(MPI_COMM_WORLD, settings.c_str(), &handle));
        if (session == nullptr) session = handle;
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        // A test may leave the session open: ending it must not hang.
        check::step("tw_finalize");
        if (session == handle) session = nullptr;
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

    Line() {
        start = length * rank() / ranks();
        count = length * (rank() + 1) / ranks() - start;
        OK(tw_decompose(session, "x", 1, &length, &start, &count, &handle));
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
        CHECK_TEXT(what.empty(), "{}: {}", path, what);
        ::unlink(expected.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

inline tw_file create_two(const std::string& path, const Line& line,
                          const char* settings = "format=cdf2") {
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), settings, &file));
    OK(tw_def_var(file, "T", TW_FLOAT, "time x", line.handle));
    OK(tw_def_var(file, "h", TW_FLOAT, "x", line.handle));
    return file;
}

inline int put(tw_file file, const char* name, const std::vector<float>& values) {
    return tw_put(file, name, TW_FLOAT, values.data(), static_cast<std::int64_t>(values.size()));
}

// One function for each kind of mistake; see the table in bad_input.cpp.
void decompositions();
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
void header_limit();
void sessions();

}  // namespace bad_input
