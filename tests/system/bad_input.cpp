// Bad input: a clear error, the same on every rank, no hang, and nothing lost that was good.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: bad_input [--only NAME] [--settings "..."] [--keep]
// Every test runs under several methods, drivers and node sizes. A collective call must give the
// same code and the same text on all ranks; the texts must hold the words that a user needs to find
// the fault: file, variable, rank, value.

#include <mpi.h>
#include <sys/mount.h>
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

#include "check.hpp"
#include "compare.hpp"
#include "oracle.hpp"
#include "thalweg/thalweg.h"
#include "values.hpp"

namespace {

using Words = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

int rank() { return check::state.rank; }
int ranks() { return check::state.size; }
int last_rank() { return check::state.size - 1; }
// A single rank need not be named.
std::string rank_word(int r) { return ranks() == 1 ? "" : "rank " + std::to_string(r); }

bool one_of(int status, const std::vector<int>& accepted) {
    return std::find(accepted.begin(), accepted.end(), status) != accepted.end();
}

std::string names_of(const std::vector<int>& accepted) {
    std::string text;
    for (const int status : accepted)
        text += std::string(text.empty() ? "" : " or ") + tw_strerror(status);
    return text;
}

// The status of this rank's call, with the words its text lacks.
void judge(const char* file, int line, const char* call, int status, const std::string& text,
           const std::vector<int>& accepted, const Words& words) {
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

// Code and text must be the same everywhere; one rank says so.
void judge_all(const char* file, int line, const char* call, int status, const std::string& text,
               const std::vector<int>& accepted, const Words& words) {
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

// Collective calls: on success there is no text to compare.
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

#define OK_ALL(session, ...) ALL(session, (std::vector<int>{TW_OK}), Words{}, __VA_ARGS__)
#define OK_HERE(session, ...) HERE(session, (std::vector<int>{TW_OK}), Words{}, __VA_ARGS__)
#define CODES(...) (std::vector<int>{__VA_ARGS__})
#define WORDS(...) (Words{__VA_ARGS__})

std::string current_test;
std::string folder;         // of the job
std::string base_settings;  // of the session under test
std::string storage_word;   // "storage=..." or ""

// ---- a session and files -----------------------------------------------------------------------

struct Session {
    tw_session handle = nullptr;
    explicit Session(const std::string& more = "") {
        std::string settings = "log=off";
        if (!base_settings.empty()) settings += "; " + base_settings;
        if (!more.empty()) settings += "; " + more;
        OK_ALL(handle, tw_init(MPI_COMM_WORLD, settings.c_str(), &handle));
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        // What the test did not look at is looked at here: an end without a hang.
        check::step("%s: tw_finalize", current_test.c_str());
        tw_finalize(&handle);
    }
    operator tw_session() const { return handle; }  // NOLINT: a handle with an owner
};

std::string path_of(const std::string& name) { return folder + "/" + name; }

bool exists(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
}

std::int64_t entries(const std::string& of) {
    std::int64_t n = 0;
    std::error_code error;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(of, error)) ++n;
    return n;
}

// One dimension, a contiguous part for each rank; length 4 ranks + 3.
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

// The reference for files of one record variable "T" (float, "time x") and one fixed variable "h"
// (float, "x"); records[r] are the values of record r, empty for a record of fill values.
void expect_file(const std::string& path, std::int64_t length,
                 const std::vector<std::vector<float>>& records, const std::vector<float>& fixed) {
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

tw_file create_two(tw_session session, const std::string& path, const Line& line,
                   const char* settings = "format=cdf2") {
    tw_file file = nullptr;
    OK_ALL(session, tw_create(session, path.c_str(), settings, &file));
    OK_HERE(session, tw_def_var(file, "T", TW_FLOAT, "time x", line.handle));
    OK_HERE(session, tw_def_var(file, "h", TW_FLOAT, "x", line.handle));
    return file;
}

int put(tw_file file, const char* name, const std::vector<float>& values) {
    return tw_put(file, name, TW_FLOAT, values.data(), static_cast<std::int64_t>(values.size()));
}

// ---- decompositions ----------------------------------------------------------------------------

void decompositions() {
    Session s;
    tw_decomposition d = nullptr;
    const std::int64_t p = ranks();
    {  // every rank holds its own element and its neighbour's
        const Numbers shape{p + 1};
        const Numbers start{static_cast<std::int64_t>(rank())};
        const Numbers count{2};
        if (p > 1)
            ALL(s, CODES(TW_EOVERLAP), WORDS("rank 0", "rank 1", "x"),
                tw_decompose(s, "x", 1, shape.data(), start.data(), count.data(), &d));
        CHECK(d == nullptr);
    }
    {  // two blocks of the last rank share a corner
        const Numbers shape{10, 10};
        const Numbers start{0, 0, 4, 4};
        const Numbers count{5, 5, 5, 5};
        ALL(s, CODES(TW_EOVERLAP), WORDS(rank_word(last_rank()), "4, 4"),
            tw_decompose(s, "y x", rank() == last_rank() ? 2 : 0, shape.data(), start.data(),
                         count.data(), &d));
    }
    {  // all ranks hold all
        const Numbers shape{7, 3, 5};
        const Numbers start{0, 0, 0};
        if (p > 1)
            ALL(s, CODES(TW_EOVERLAP), WORDS("rank"),
                tw_decompose(s, "z y x", 1, shape.data(), start.data(), shape.data(), &d));
    }
    {  // blocks outside the shape, on one rank
        const Numbers shape{100};
        const bool bad = rank() == last_rank();
        for (const auto& [from, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{
                 {98, 5}, {-1, 2}, {100, 1}, {huge, 1}, {1, huge}, {huge, huge}}) {
            const Numbers start{bad ? from : rank()};
            const Numbers count{bad ? n : 1};
            ALL(s, CODES(TW_EBOUNDS),
                WORDS(rank_word(last_rank()), "x", std::to_string(from), "100"),
                tw_decompose(s, "x", 1, shape.data(), start.data(), count.data(), &d));
        }
        const Numbers start{rank()};
        const Numbers count{bad ? -3 : 1};
        ALL(s, CODES(TW_ESHAPE, TW_EARG), WORDS(rank_word(last_rank()), "-3"),
            tw_decompose(s, "x", 1, shape.data(), start.data(), count.data(), &d));
    }
    if (p > 1) {  // the ranks do not agree
        const Numbers shape{rank() == last_rank() ? 21 : 20, 5};
        ALL(s, CODES(TW_EMISMATCH), WORDS(rank_word(last_rank()), "20", "21"),
            tw_decompose(s, "y x", 0, shape.data(), nullptr, nullptr, &d));
        const Numbers same{20, 5};
        ALL(s, CODES(TW_EMISMATCH), WORDS(rank_word(last_rank()), "lat", "row"),
            tw_decompose(s, rank() == last_rank() ? "row x" : "lat x", 0, same.data(), nullptr,
                         nullptr, &d));
        ALL(s, CODES(TW_EMISMATCH), WORDS(rank_word(last_rank())),
            tw_decompose(s, rank() == last_rank() ? "x y" : "y x", 0, same.data(), nullptr, nullptr,
                         &d));
        ALL(s, CODES(TW_EMISMATCH), WORDS(rank_word(last_rank())),
            tw_decompose(s, rank() == last_rank() ? "y" : "y x", 0, same.data(), nullptr, nullptr,
                         &d));
    }
    {  // lengths that are none
        for (const std::int64_t bad :
             {std::int64_t{0}, std::int64_t{-4}, std::numeric_limits<std::int64_t>::min()}) {
            const Numbers shape{5, bad};
            ALL(s, CODES(TW_ESHAPE, TW_EARG), WORDS("x", std::to_string(bad)),
                tw_decompose(s, "y x", 0, shape.data(), nullptr, nullptr, &d));
        }
        const Numbers shape{std::int64_t{1} << 40, std::int64_t{1} << 40};
        ALL(s, CODES(TW_ESHAPE, TW_EARG), WORDS("1099511627776"),
            tw_decompose(s, "y x", 0, shape.data(), nullptr, nullptr, &d));
    }
    {  // names
        const Numbers shape(40, 1);
        ALL(s, CODES(TW_EEXISTS, TW_EARG), WORDS("lon"),
            tw_decompose(s, "lon lon", 0, shape.data(), nullptr, nullptr, &d));
        ALL(s, CODES(TW_EARG), Words{}, tw_decompose(s, "", 0, shape.data(), nullptr, nullptr, &d));
        ALL(s, CODES(TW_EARG), Words{},
            tw_decompose(s, "  ", 0, shape.data(), nullptr, nullptr, &d));
        std::string many;
        for (int i = 0; i < 40; ++i) many += " d" + std::to_string(i);
        ALL(s, CODES(TW_EARG, TW_EUNSUPPORTED, TW_ESHAPE), WORDS("40"),
            tw_decompose(s, many.c_str(), 0, shape.data(), nullptr, nullptr, &d));
    }
    {  // pointers, on one rank
        const Numbers shape{50};
        const Numbers start{rank()};
        const Numbers count{1};
        const bool bad = rank() == last_rank();
        ALL(s, CODES(TW_EARG), Words{},
            tw_decompose(s, bad ? nullptr : "x", 1, shape.data(), start.data(), count.data(), &d));
        ALL(s, CODES(TW_EARG), Words{},
            tw_decompose(s, "x", 1, bad ? nullptr : shape.data(), start.data(), count.data(), &d));
        ALL(s, CODES(TW_EARG), Words{},
            tw_decompose(s, "x", 1, shape.data(), bad ? nullptr : start.data(), count.data(), &d));
        ALL(s, CODES(TW_EARG), Words{},
            tw_decompose(s, "x", 1, shape.data(), start.data(), bad ? nullptr : count.data(), &d));
        ALL(s, CODES(TW_EARG), WORDS("-1"),
            tw_decompose(s, "x", bad ? -1 : 1, shape.data(), start.data(), count.data(), &d));
        ALL(s, CODES(TW_EARG), Words{},
            tw_decompose(s, "x", 1, shape.data(), start.data(), count.data(), bad ? nullptr : &d));
        const Numbers halo{bad ? -2 : 1};
        ALL(s, CODES(TW_EARG, TW_ESHAPE), WORDS("-2"),
            tw_decompose_halo(s, "x", 1, shape.data(), start.data(), count.data(), halo.data(),
                              nullptr, &d));
        HERE(s, CODES(TW_EHANDLE), Words{},
             tw_decompose(nullptr, "x", 1, shape.data(), start.data(), count.data(), &d));
    }
    // And the session goes on.
    const Line line(s);
    CHECK(line.handle != nullptr);
}

// ---- settings ----------------------------------------------------------------------------------

void expect_init(const std::vector<int>& accepted, const Words& words, const char* settings) {
    tw_session s = nullptr;
    ALL(s, accepted, words, tw_init(MPI_COMM_WORLD, settings, &s));
    OK_ALL(s, tw_finalize(&s));
    CHECK(s == nullptr);
}

void settings() {
    expect_init(CODES(TW_ESETTING), WORDS("colour"), "colour=red");
    expect_init(CODES(TW_ESETTING), WORDS("method", "fastest"), "method=fastest");
    expect_init(CODES(TW_ESETTING), WORDS("method"), "method");
    expect_init(CODES(TW_ESETTING), WORDS("method"), "method=");
    expect_init(CODES(TW_ESETTING), Words{}, "=record");
    expect_init(CODES(TW_ESETTING), WORDS("storage", "tape"), "method=record; storage=tape");
    expect_init(CODES(TW_ESETTING), WORDS("format", "cdf3"), "format=cdf3");
    for (const char* bad :
         {"lots", "-1", "64KB and more", "1e", "99999999999999999999999", "0x", "1 GiB 2"})
        expect_init(CODES(TW_ESETTING), WORDS("buffer", bad),
                    (std::string("buffer=") + bad).c_str());
    for (const char* bad : {"many", "0", "-2", "2/rack", "/node", "1.5"})
        expect_init(CODES(TW_ESETTING), WORDS("writers", bad),
                    (std::string("writers=") + bad).c_str());
    expect_init(CODES(TW_ESETTING), WORDS("node_size", "-1"), "node_size=-1");
    expect_init(CODES(TW_ESETTING), WORDS("durable", "perhaps"), "durable=perhaps");
    expect_init(CODES(TW_ESETTING), WORDS("log", "loud"), "log=loud");
    expect_init(CODES(TW_OK), Words{}, " method = record ;; buffer = 1MiB ; ");
    if (ranks() > 1) {
        tw_session s = nullptr;
        ALL(s, CODES(TW_EMISMATCH, TW_ESETTING), WORDS("rank", "method"),
            tw_init(MPI_COMM_WORLD, rank() == last_rank() ? "method=serial" : "method=record", &s));
        OK_ALL(s, tw_finalize(&s));
        // A bad value on one rank only.
        ALL(s, CODES(TW_ESETTING, TW_EMISMATCH), WORDS("rank"),
            tw_init(MPI_COMM_WORLD, rank() == last_rank() ? "method=fastest" : "method=record",
                    &s));
        OK_ALL(s, tw_finalize(&s));
    }
    // Environment.
    ::setenv("THALWEG_METHOD", "fastest", 1);
    expect_init(CODES(TW_ESETTING), WORDS("method", "environment", "fastest"), nullptr);
    ::setenv("THALWEG_METHOD", "record", 1);
    expect_init(CODES(TW_OK), Words{}, "method=serial");
    ::unsetenv("THALWEG_METHOD");
    // Configuration file.
    const std::string config = path_of("config.toml");
    const auto write = [&](const char* text) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank() == 0) std::ofstream(config) << text;
        MPI_Barrier(MPI_COMM_WORLD);
    };
    const std::string name = "config=" + config;
    expect_init(CODES(TW_ESETTING, TW_EIO), WORDS("config.toml", "No such file"), name.c_str());
    write("method = \"fastest\"\n");
    expect_init(CODES(TW_ESETTING), WORDS("config.toml", "method", "fastest"), name.c_str());
    write("colour = \"red\"\n");
    expect_init(CODES(TW_ESETTING), WORDS("config.toml", "colour"), name.c_str());
    write("method = \n = [");
    expect_init(CODES(TW_ESETTING), WORDS("config.toml", "line"), name.c_str());
    write("method = { a = 1 }\n");
    expect_init(CODES(TW_ESETTING), WORDS("config.toml", "method"), name.c_str());
    expect_init(CODES(TW_ESETTING, TW_EIO), WORDS(folder), ("config=" + folder).c_str());
    // Precedence: environment over call over file; the header's reserve shows which one held.
    write("header_pad = 20000\nnode_size = 2\n");
    const auto begin_of_data = [&](const char* call_settings) {
        tw_session s = nullptr;
        OK_ALL(s, tw_init(MPI_COMM_WORLD, (name + "; " + call_settings).c_str(), &s));
        tw_file f = nullptr;
        const std::string path = path_of("pad.nc");
        OK_ALL(s, tw_create(s, path.c_str(), storage_word.c_str(), &f));
        OK_HERE(s, tw_def_dim(f, "x", 1));
        OK_HERE(s, tw_def_var(f, "a", TW_INT, "x", nullptr));
        OK_ALL(s, tw_close(&f));
        OK_ALL(s, tw_finalize(&s));
        struct stat info {};
        ::stat(path.c_str(), &info);
        return static_cast<std::int64_t>(info.st_size) - 4;
    };
    // The header itself takes some bytes.
    const auto near = [](std::int64_t begin, std::int64_t pad) {
        return begin >= pad && begin < pad + 500;
    };
    std::int64_t begin = begin_of_data("");
    CHECK_TEXT(near(begin, 20000), "%lld", static_cast<long long>(begin));
    begin = begin_of_data("header_pad=40000");
    CHECK_TEXT(near(begin, 40000), "%lld", static_cast<long long>(begin));
    ::setenv("THALWEG_HEADER_PAD", "60000", 1);
    begin = begin_of_data("header_pad=40000");
    CHECK_TEXT(near(begin, 60000), "%lld", static_cast<long long>(begin));
    ::unsetenv("THALWEG_HEADER_PAD");

    Session s;
    tw_file f = nullptr;
    ALL(s, CODES(TW_ESETTING), WORDS("colour"),
        tw_create(s, path_of("s.nc").c_str(), "colour=red", &f));
    ALL(s, CODES(TW_ESETTING), WORDS("method", "fastest"),
        tw_create(s, path_of("s.nc").c_str(), "method=fastest", &f));
    // What belongs to the session cannot be changed by a file.
    ALL(s, CODES(TW_ESETTING), WORDS("node_size"),
        tw_create(s, path_of("s.nc").c_str(), "node_size=1", &f));
    if (ranks() > 1)
        ALL(s, CODES(TW_EMISMATCH, TW_ESETTING), WORDS("rank"),
            tw_create(s, path_of("s.nc").c_str(),
                      rank() == last_rank() ? "method=serial" : "method=slabs", &f));
    CHECK(f == nullptr);
    CHECK(!exists(path_of("s.nc")));
}

// ---- paths -------------------------------------------------------------------------------------

void paths() {
    Session s;
    tw_file f = nullptr;
    const std::string inside = path_of("inside");
    if (rank() == 0) {
        ::mkdir(inside.c_str(), 0777);
        ::mkdir((inside + "/folder").c_str(), 0777);
        std::ofstream(inside + "/plain") << "not a folder";
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const auto refuse = [&](const std::string& path, const Words& words) {
        ALL(s, CODES(TW_EIO), words, tw_create(s, path.c_str(), nullptr, &f));
        CHECK(f == nullptr);
        // Should it have been accepted, the name must be free for the next test.
        if (f != nullptr) tw_close(&f);
    };
    refuse(inside + "/folder", {"folder", "Is a directory"});
    refuse(inside + "/missing/a.nc", {"missing", "No such file or directory"});
    refuse(inside + "/plain/a.nc", {"plain", "Not a directory"});
    refuse(inside + "/" + std::string(300, 'n') + ".nc", {"File name too long"});
    if (::access("/sys", W_OK) != 0 || ::geteuid() == 0)
        refuse("/sys/thalweg.nc", {"/sys/thalweg.nc", "cannot create"});  // the reason varies
    ALL(s, CODES(TW_EARG, TW_EIO), Words{}, tw_create(s, "", nullptr, &f));
    ALL(s, CODES(TW_EARG), Words{}, tw_create(s, nullptr, nullptr, &f));
    ALL(s, CODES(TW_EARG, TW_EMISMATCH), Words{},
        tw_create(s, rank() == last_rank() ? nullptr : (inside + "/a.nc").c_str(), nullptr, &f));
    ALL(s, CODES(TW_EARG), Words{},
        tw_create(s, (inside + "/a.nc").c_str(), nullptr, rank() == last_rank() ? nullptr : &f));
    HERE(s, CODES(TW_EHANDLE), Words{},
         tw_create(nullptr, (inside + "/a.nc").c_str(), nullptr, &f));
    if (ranks() > 1)
        ALL(s, CODES(TW_EMISMATCH), WORDS("rank"),
            tw_create(s, (inside + (rank() == last_rank() ? "/b.nc" : "/a.nc")).c_str(), nullptr,
                      &f));
    CHECK(f == nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    // Nothing is left behind by what failed.
    CHECK_TEXT(entries(inside) == 2, "%s has %lld entries, expected 2", inside.c_str(),
               static_cast<long long>(entries(inside)));
    MPI_Barrier(MPI_COMM_WORLD);

    // An older file of the same name stays whole until the new one is complete.
    const Line line(s);
    const std::string path = inside + "/old.nc";
    if (rank() == 0) std::ofstream(path) << "old contents";
    MPI_Barrier(MPI_COMM_WORLD);
    tw_file file = create_two(s, path, line);
    OK_ALL(s, tw_enddef(file));
    OK_HERE(s, put(file, "T", line.values<float>(1)));
    OK_ALL(s, tw_end_step(file));
    if (rank() == 0) {
        std::string old;
        std::getline(std::ifstream(path), old);
        CHECK(old == "old contents");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK_ALL(s, tw_close(&file));
    expect_file(path, line.length, {line.all_values<float>(1)}, {});

    // The folder vanishes while the file is written: said at the close, by all.
    const std::string gone = inside + "/gone";
    if (rank() == 0) ::mkdir(gone.c_str(), 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    file = create_two(s, gone + "/a.nc", line);
    OK_ALL(s, tw_enddef(file));
    OK_HERE(s, put(file, "T", line.values<float>(1)));
    OK_ALL(s, tw_end_step(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) std::filesystem::remove_all(gone);
    MPI_Barrier(MPI_COMM_WORLD);
    ALL(s, CODES(TW_EIO, TW_ENETCDF), WORDS("a.nc"), tw_close(&file));
    CHECK(file == nullptr);
}

void in_use() {
    Session s;
    const Line line(s);
    const std::string path = path_of("used.nc");
    if (rank() == 0) [[maybe_unused]]
        const int made = ::symlink(folder.c_str(), path_of("link").c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    tw_file first = create_two(s, path, line);
    tw_file second = nullptr;
    for (const std::string& name :
         {path, folder + "/./used.nc", folder + "//used.nc",
          folder + "/link/../" + std::filesystem::path(folder).filename().string() + "/used.nc",
          folder + "/link/used.nc"}) {
        // "link/.." is the parent of the folder that the link names.
        ALL(s, CODES(TW_EINUSE), WORDS("used.nc"), tw_create(s, name.c_str(), nullptr, &second));
        CHECK(second == nullptr);
        if (second != nullptr) tw_close(&second);
    }
    OK_HERE(s, put(first, "T", line.values<float>(2)));
    OK_HERE(s, put(first, "h", line.values<float>(3)));
    OK_ALL(s, tw_end_step(first));
    OK_ALL(s, tw_close(&first));
    expect_file(path, line.length, {line.all_values<float>(2)}, line.all_values<float>(3));
    // Closed: the name is free again.
    first = create_two(s, path, line);
    OK_ALL(s, tw_close(&first));
    expect_file(path, line.length, {}, {});
}

// ---- definitions -------------------------------------------------------------------------------

void definitions() {
    Session s;
    const Line line(s);
    const Numbers shape{5, line.length};
    tw_decomposition two = nullptr;
    OK_ALL(s, tw_decompose(s, "y x", 0, shape.data(), nullptr, nullptr, &two));
    const Numbers other_length{line.length + 1};
    tw_decomposition other = nullptr;
    OK_ALL(s, tw_decompose(s, "x", 0, other_length.data(), nullptr, nullptr, &other));

    const std::string path = path_of("definitions.nc");
    tw_file f = nullptr;
    OK_ALL(s, tw_create(s, path.c_str(), "format=cdf5", &f));
    OK_HERE(s, tw_def_dim(f, "z", 7));
    HERE(s, CODES(TW_EEXISTS), WORDS("z", "definitions.nc"), tw_def_dim(f, "z", 7));
    HERE(s, CODES(TW_EEXISTS), WORDS("z"), tw_def_dim(f, "z", 8));
    HERE(s, CODES(TW_EARG), Words{}, tw_def_dim(f, "", 3));
    HERE(s, CODES(TW_EARG), Words{}, tw_def_dim(f, nullptr, 3));
    HERE(s, CODES(TW_EARG), WORDS("a/b"), tw_def_dim(f, "a/b", 3));
    HERE(s, CODES(TW_EARG), Words{}, tw_def_dim(f, std::string(300, 'n').c_str(), 3));
    HERE(s, CODES(TW_EARG, TW_ESHAPE), WORDS("q", "-5"), tw_def_dim(f, "q", -5));
    HERE(s, CODES(TW_EHANDLE), Words{}, tw_def_dim(nullptr, "q", 5));
    OK_HERE(s, tw_def_dim(f, "time", TW_UNLIMITED));
    HERE(s, CODES(TW_EEXISTS, TW_EARG, TW_EFORMAT, TW_ESTATE), WORDS("time", "again"),
         tw_def_dim(f, "again", TW_UNLIMITED));

    OK_HERE(s, tw_def_var(f, "T", TW_FLOAT, "time x", line.handle));
    HERE(s, CODES(TW_EEXISTS), WORDS("T", "definitions.nc"),
         tw_def_var(f, "T", TW_FLOAT, "x", line.handle));
    HERE(s, CODES(TW_EARG), Words{}, tw_def_var(f, "", TW_FLOAT, "x", line.handle));
    HERE(s, CODES(TW_EARG), Words{}, tw_def_var(f, nullptr, TW_FLOAT, "x", line.handle));
    HERE(s, CODES(TW_EARG, TW_ESHAPE), Words{}, tw_def_var(f, "b", TW_FLOAT, nullptr, line.handle));
    HERE(s, CODES(TW_EARG), WORDS("a/b"), tw_def_var(f, "a/b", TW_FLOAT, "x", line.handle));
    for (const int bad : {0, -1, 12, 99})
        HERE(s, CODES(TW_ETYPE), WORDS("b", std::to_string(bad)),
             tw_def_var(f, "b", static_cast<tw_type>(bad), "x", line.handle));
    HERE(s, CODES(TW_ENOTFOUND), WORDS("b", "nowhere"),
         tw_def_var(f, "b", TW_FLOAT, "z nowhere", nullptr));
    HERE(s, CODES(TW_ENOTFOUND, TW_ESHAPE), WORDS("b"),
         tw_def_var(f, "b", TW_FLOAT, "time z", line.handle));
    HERE(s, CODES(TW_ENOTFOUND, TW_ESHAPE), WORDS("b"), tw_def_var(f, "b", TW_FLOAT, "x", two));
    HERE(s, CODES(TW_ENOTFOUND, TW_ESHAPE), WORDS("b"),
         tw_def_var(f, "b", TW_FLOAT, "z y x", line.handle));
    HERE(s, CODES(TW_ESHAPE, TW_EARG, TW_EFORMAT, TW_ENOTFOUND), WORDS("b", "time"),
         tw_def_var(f, "b", TW_FLOAT, "x time", line.handle));
    HERE(s, CODES(TW_ESHAPE),
         WORDS("b", "x", std::to_string(line.length), std::to_string(line.length + 1)),
         tw_def_var(f, "b", TW_FLOAT, "x", other));
    HERE(s, CODES(TW_EHANDLE), Words{}, tw_def_var(nullptr, "b", TW_FLOAT, "x", line.handle));
    // A definition that failed leaves nothing behind: the name is free.
    OK_HERE(s, tw_def_var(f, "b", TW_SHORT, "y x", two));

    const double one = 1;
    HERE(s, CODES(TW_ENOTFOUND), WORDS("nothing"),
         tw_put_att(f, "nothing", "a", TW_DOUBLE, 1, &one));
    HERE(s, CODES(TW_EARG), Words{}, tw_put_att(f, "T", "", TW_DOUBLE, 1, &one));
    HERE(s, CODES(TW_EARG), Words{}, tw_put_att(f, "T", nullptr, TW_DOUBLE, 1, &one));
    HERE(s, CODES(TW_EARG), Words{}, tw_put_att(f, "T", "a", TW_DOUBLE, 1, nullptr));
    HERE(s, CODES(TW_EARG, TW_ESHAPE), WORDS("-1"), tw_put_att(f, "T", "a", TW_DOUBLE, -1, &one));
    HERE(s, CODES(TW_ETYPE), WORDS("77"),
         tw_put_att(f, "T", "a", static_cast<tw_type>(77), 1, &one));
    HERE(s, CODES(TW_EARG), WORDS("a/b"), tw_put_att(f, "T", "a/b", TW_DOUBLE, 1, &one));
    HERE(s, CODES(TW_EARG), Words{}, tw_put_att_text(f, "T", "a", nullptr));
    HERE(s, CODES(TW_ETYPE), WORDS("_FillValue", "T"),
         tw_put_att(f, "T", "_FillValue", TW_DOUBLE, 1, &one));
    HERE(s, CODES(TW_ESHAPE, TW_EARG, TW_ETYPE), WORDS("_FillValue", "T"),
         tw_put_att(f, "T", "_FillValue", TW_FLOAT, 0, &one));
    HERE(s, CODES(TW_EHANDLE), Words{}, tw_put_att(nullptr, "T", "a", TW_DOUBLE, 1, &one));
    HERE(s, CODES(TW_EHANDLE), Words{}, tw_enddef(nullptr));

    OK_ALL(s, tw_enddef(f));
    HERE(s, CODES(TW_ESTATE), WORDS("definitions.nc"), tw_def_dim(f, "late", 3));
    HERE(s, CODES(TW_ESTATE), WORDS("definitions.nc"),
         tw_def_var(f, "late", TW_FLOAT, "x", line.handle));
    const float fill = 2;
    HERE(s, CODES(TW_ESTATE), WORDS("_FillValue"),
         tw_put_att(f, "T", "_FillValue", TW_FLOAT, 1, &fill));
    OK_HERE(s, put(f, "T", line.values<float>(2)));
    HERE(s, CODES(TW_ESTATE), WORDS("definitions.nc"),
         tw_def_var(f, "late", TW_FLOAT, "x", line.handle));
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    CHECK(exists(path));
}

// One definition differs on the last rank.
void disagreements() {
    if (ranks() < 2) return;
    Session s;
    const Line line(s);
    const Numbers both{3, line.length};
    tw_decomposition wide = nullptr;
    OK_ALL(s, tw_decompose(s, "y x", 0, both.data(), nullptr, nullptr, &wide));
    const bool odd = rank() == last_rank();
    const float fill[2] = {1, 2};
    struct Way {
        const char* what;
        Words words;
        std::function<void(tw_file)> define;
    };
    const std::vector<Way> ways{
        {"name",
         {"T", "S"},
         [&](tw_file f) { tw_def_var(f, odd ? "S" : "T", TW_FLOAT, "x", line.handle); }},
        {"type",
         {"T"},
         [&](tw_file f) { tw_def_var(f, "T", odd ? TW_DOUBLE : TW_FLOAT, "x", line.handle); }},
        {"length", {"z", "4", "5"}, [&](tw_file f) { tw_def_dim(f, "z", odd ? 4 : 5); }},
        {"record", {"z"}, [&](tw_file f) { tw_def_dim(f, "z", odd ? TW_UNLIMITED : 5); }},
        {"missing",
         {"U"},
         [&](tw_file f) {
             if (!odd) tw_def_var(f, "U", TW_INT, "x", line.handle);
         }},
        {"more",
         {"U"},
         [&](tw_file f) {
             if (odd) tw_def_var(f, "U", TW_INT, "x", line.handle);
         }},
        {"order of dimensions",
         {"T"},
         [&](tw_file f) { tw_def_var(f, "T", TW_INT, odd ? "x y" : "y x", wide); }},
        {"replicated",
         {"T"},
         [&](tw_file f) {
             tw_def_dim(f, "x", line.length);
             tw_def_var(f, "T", TW_INT, "x", odd ? nullptr : line.handle);
         }},
        {"attribute value",
         {"units", "T", "K", "degC"},
         [&](tw_file f) {
             tw_def_var(f, "T", TW_INT, "x", line.handle);
             tw_put_att_text(f, "T", "units", odd ? "degC" : "K");
         }},
        {"attribute missing",
         {"units", "T"},
         [&](tw_file f) {
             tw_def_var(f, "T", TW_INT, "x", line.handle);
             if (!odd) tw_put_att_text(f, "T", "units", "K");
         }},
        {"global attribute",
         {"valid", "1", "2"},
         [&](tw_file f) {
             tw_def_var(f, "T", TW_INT, "x", line.handle);
             tw_put_att(f, "", "valid", TW_FLOAT, 1, odd ? fill : fill + 1);
         }},
        {"attribute type",
         {"valid"},
         [&](tw_file f) {
             const std::int32_t zero = 0;
             tw_put_att(f, "", "valid", odd ? TW_INT : TW_FLOAT, 1, &zero);
         }},
    };
    int number = 0;
    for (const Way& way : ways) {
        const std::string name = "odd" + std::to_string(number) + ".nc";
        const std::string path = path_of(name);
        tw_file f = nullptr;
        OK_ALL(s, tw_create(s, path.c_str(), nullptr, &f));
        way.define(f);
        Words words = way.words;
        words.push_back(rank_word(last_rank()));
        words.push_back(name);
        const std::string before = current_test;
        current_test += std::string(" (") + way.what + ")";
        if (number % 2 == 0)
            ALL(s, CODES(TW_EMISMATCH), words, tw_enddef(f));
        else
            ALL(s, CODES(TW_EMISMATCH), words, tw_end_step(f));
        // Later calls are refused with the reason, and nothing is published.
        HERE(s, CODES(TW_EMISMATCH, TW_ESTATE, TW_ENOTFOUND), Words{},
             put(f, "T", line.values<float>(1)));
        ALL(s, CODES(TW_EMISMATCH, TW_ESTATE), WORDS(name), tw_end_step(f));
        ALL(s, CODES(TW_EMISMATCH, TW_OK, TW_ESTATE), Words{}, tw_close(&f));
        CHECK(f == nullptr);
        CHECK(!exists(path));
        current_test = before;
        ++number;
    }
    {  // found at the close, when it comes late
        const std::string path = path_of("late.nc");
        tw_file f = create_two(s, path, line);
        OK_ALL(s, tw_enddef(f));
        OK_HERE(s, put(f, "T", line.values<float>(5)));
        OK_ALL(s, tw_end_step(f));
        OK_HERE(s, tw_put_att_text(f, nullptr, "history", odd ? "mine" : "ours"));
        ALL(s, CODES(TW_EMISMATCH),
            WORDS("history", "mine", "ours", "late.nc", rank_word(last_rank())), tw_close(&f));
        CHECK(f == nullptr);
    }
    {  // the data of the steps are there all the same, without what is disputed
        const std::string path = path_of("late2.nc");
        tw_file f = create_two(s, path, line);
        OK_ALL(s, tw_enddef(f));
        OK_HERE(s, put(f, "T", line.values<float>(5)));
        OK_ALL(s, tw_end_step(f));
        if (odd) OK_HERE(s, tw_put_att_text(f, "T", "units", "K"));
        ALL(s, CODES(TW_EMISMATCH), WORDS("units", "T"), tw_close(&f));
    }
}

// ---- puts and steps ----------------------------------------------------------------------------

void puts() {
    Session s;
    const Line line(s);
    const std::string path = path_of("puts.nc");
    tw_file f = nullptr;
    OK_ALL(s, tw_create(s, path.c_str(), "format=cdf2", &f));
    OK_HERE(s, tw_def_var(f, "T", TW_FLOAT, "time x", line.handle));
    OK_HERE(s, tw_def_var(f, "c", TW_CHAR, "time x", line.handle));
    OK_HERE(s, tw_def_var(f, "r", TW_INT, "time", nullptr));
    OK_ALL(s, tw_enddef(f));
    const std::vector<float> t = line.values<float>(1);
    const std::vector<char> c = line.values<char>(32);
    const std::int32_t r = 42;
    const std::int64_t n = line.count;
    const std::string count = std::to_string(n);
    // Only one rank errs; the others must not notice.
    if (rank() == last_rank()) {
        HERE(s, CODES(TW_ENOTFOUND), WORDS("nothing", "puts.nc"),
             tw_put(f, "nothing", TW_FLOAT, t.data(), n));
        HERE(s, CODES(TW_ENOTFOUND, TW_EARG), Words{}, tw_put(f, "", TW_FLOAT, t.data(), n));
        HERE(s, CODES(TW_EARG, TW_ENOTFOUND), Words{}, tw_put(f, nullptr, TW_FLOAT, t.data(), n));
        HERE(s, CODES(TW_ETYPE), WORDS("T", "char"), tw_put(f, "T", TW_CHAR, t.data(), n));
        HERE(s, CODES(TW_ETYPE), WORDS("c", "float"), tw_put(f, "c", TW_FLOAT, t.data(), n));
        HERE(s, CODES(TW_ETYPE), WORDS("42"),
             tw_put(f, "T", static_cast<tw_type>(42), t.data(), n));
        HERE(s, CODES(TW_ESHAPE), WORDS("T", count, std::to_string(n + 1)),
             tw_put(f, "T", TW_FLOAT, t.data(), n + 1));
        HERE(s, CODES(TW_ESHAPE), WORDS("T", count, "0"), tw_put(f, "T", TW_FLOAT, t.data(), 0));
        HERE(s, CODES(TW_ESHAPE, TW_EARG), WORDS("T", "-7"),
             tw_put(f, "T", TW_FLOAT, t.data(), -7));
        HERE(s, CODES(TW_ESHAPE), WORDS("T"), tw_put(f, "T", TW_FLOAT, t.data(), huge));
        HERE(s, CODES(TW_EARG), WORDS("T"), tw_put(f, "T", TW_FLOAT, nullptr, n));
        HERE(s, CODES(TW_EARG), WORDS("T"), tw_put_deferred(f, "T", TW_FLOAT, nullptr, n));
        HERE(s, CODES(TW_ESHAPE), WORDS("r", "2"), tw_put(f, "r", TW_INT, &r, 2));
        const Numbers extent{n, n, n};
        const Numbers stride{4, 4, 4};
        HERE(s, CODES(TW_ESHAPE), WORDS("T", "3"),
             tw_put_strided(f, "T", TW_FLOAT, t.data(), 3, extent.data(), stride.data(), TW_COPY));
        HERE(s, CODES(TW_ESHAPE, TW_EARG), WORDS("T"),
             tw_put_strided(f, "T", TW_FLOAT, t.data(), 0, extent.data(), stride.data(), TW_COPY));
        HERE(s, CODES(TW_ESHAPE, TW_EARG), WORDS("T"),
             tw_put_strided(f, "T", TW_FLOAT, t.data(), -1, extent.data(), stride.data(), TW_COPY));
        const Numbers longer{n + 1};
        HERE(s, CODES(TW_ESHAPE), WORDS("T", count, std::to_string(n + 1)),
             tw_put_strided(f, "T", TW_FLOAT, t.data(), 1, longer.data(), stride.data(), TW_COPY));
        HERE(s, CODES(TW_EARG), Words{},
             tw_put_strided(f, "T", TW_FLOAT, t.data(), 1, nullptr, stride.data(), TW_COPY));
        HERE(s, CODES(TW_EARG), Words{},
             tw_put_strided(f, "T", TW_FLOAT, t.data(), 1, extent.data(), nullptr, TW_COPY));
        HERE(s, CODES(TW_EARG), WORDS("9"),
             tw_put_strided(f, "T", TW_FLOAT, t.data(), 1, extent.data(), stride.data(), 9));
        HERE(s, CODES(TW_EHANDLE), Words{}, tw_put(nullptr, "T", TW_FLOAT, t.data(), n));
    }
    for (int step = 0; step < 2; ++step) {
        OK_HERE(s, tw_put(f, "T", TW_FLOAT, t.data(), n));
        OK_HERE(s, tw_put(f, "c", TW_CHAR, c.data(), n));
        OK_HERE(s, tw_put(f, "r", TW_INT, &r, 1));
        OK_ALL(s, tw_end_step(f));
    }
    const tw_file copy = f;
    OK_ALL(s, tw_close(&f));
    CHECK(f == nullptr);
    if (rank() == 0) {
        const std::string expected = path + ".expected";
        Oracle oracle(expected, "cdf2");
        oracle.dim("time", 0);
        oracle.dim("x", line.length);
        const int tv = oracle.var("T", TW_FLOAT, {"time", "x"});
        const int cv = oracle.var("c", TW_CHAR, {"time", "x"});
        const int rv = oracle.var("r", TW_INT, {"time"});
        oracle.enddef();
        for (std::size_t step = 0; step < 2; ++step) {
            const auto length = static_cast<std::size_t>(line.length);
            oracle.require(
                oracle.put(tv, TW_FLOAT, {step, 0}, {1, length}, line.all_values<float>(1).data()),
                "put");
            oracle.require(
                oracle.put(cv, TW_CHAR, {step, 0}, {1, length}, line.all_values<char>(32).data()),
                "put");
            oracle.require(oracle.put(rv, TW_INT, {step}, {1}, &r), "put");
        }
        oracle.close();
        const std::string what = difference(expected, path);
        CHECK_TEXT(what.empty(), "%s", what.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // A copy of the handle of a closed file.
    tw_file stale = copy;
    HERE(s, CODES(TW_ECLOSED), WORDS("puts.nc"), tw_put(stale, "T", TW_FLOAT, t.data(), n));
    HERE(s, CODES(TW_ECLOSED), Words{}, tw_put_deferred(stale, "T", TW_FLOAT, t.data(), n));
    HERE(s, CODES(TW_ECLOSED), Words{}, tw_def_dim(stale, "q", 2));
    HERE(s, CODES(TW_ECLOSED), Words{}, tw_def_var(stale, "q", TW_INT, "", nullptr));
    HERE(s, CODES(TW_ECLOSED), Words{}, tw_put_att_text(stale, nullptr, "q", "q"));
    HERE(s, CODES(TW_ECLOSED), Words{}, tw_enddef(stale));
    HERE(s, CODES(TW_ECLOSED), Words{}, tw_end_step(stale));
    HERE(s, CODES(TW_ECLOSED), Words{}, tw_sync(stale, 0));
    HERE(s, CODES(TW_ECLOSED), Words{}, tw_close(&stale));
    std::int64_t length = 0;
    HERE(s, CODES(TW_ECLOSED), Words{}, tw_inq_dim(copy, "x", &length));
    HERE(s, CODES(TW_EHANDLE, TW_EARG), Words{}, tw_close(nullptr));
    HERE(s, CODES(TW_EHANDLE), Words{}, tw_close(&f));
    HERE(s, CODES(TW_EHANDLE), Words{}, tw_end_step(nullptr));
    HERE(s, CODES(TW_EHANDLE), Words{}, tw_sync(nullptr, 0));
}

void missing() {
    Session s;
    const Line line(s);
    const std::string path = path_of("missing.nc");
    tw_file f = create_two(s, path, line);
    OK_ALL(s, tw_enddef(f));
    const std::vector<float> values = line.values<float>(7);
    const bool late = rank() == last_rank();
    // Step 0: the last rank forgets T. Step 1: rank 0 forgets T and the last one h.
    if (!late || ranks() == 1) OK_HERE(s, put(f, "T", values));
    if (ranks() > 1) {
        ALL(s, CODES(TW_EMISSING), WORDS("T", rank_word(last_rank()), "missing.nc"),
            tw_end_step(f));
        // Again, without doing anything: the same answer.
        ALL(s, CODES(TW_EMISSING), WORDS("T", rank_word(last_rank())), tw_end_step(f));
        if (late) OK_HERE(s, put(f, "T", values));
    }
    OK_ALL(s, tw_end_step(f));
    if (ranks() > 1) {
        if (rank() != 0) OK_HERE(s, put(f, "T", line.values<float>(9)));
        if (!late) OK_HERE(s, put(f, "h", line.values<float>(8)));
        ALL(s, CODES(TW_EMISSING), WORDS("rank"), tw_end_step(f));
        if (rank() == 0) OK_HERE(s, put(f, "T", line.values<float>(9)));
        ALL(s, CODES(TW_EMISSING), WORDS("h", rank_word(last_rank())), tw_end_step(f));
        if (late) OK_HERE(s, put(f, "h", line.values<float>(8)));
    } else {
        OK_HERE(s, put(f, "T", line.values<float>(9)));
        OK_HERE(s, put(f, "h", line.values<float>(8)));
    }
    OK_ALL(s, tw_end_step(f));
    // Step 2: nobody puts anything: a record of fill values.
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    expect_file(path, line.length, {line.all_values<float>(7), line.all_values<float>(9), {}},
                line.all_values<float>(8));
    if (ranks() > 1) {  // the close finds it, too, and does not hang
        f = create_two(s, path_of("missing2.nc"), line);
        OK_ALL(s, tw_enddef(f));
        OK_HERE(s, put(f, "T", values));
        OK_ALL(s, tw_end_step(f));
        if (!late) OK_HERE(s, put(f, "h", values));
        ALL(s, CODES(TW_EMISSING), WORDS("h", rank_word(last_rank())), tw_close(&f));
    }
}

// The ranks are in different collective calls.
void different_calls() {
    if (ranks() < 2) return;
    Session s;
    const Line line(s);
    const std::string path = path_of("calls.nc");
    tw_file f = create_two(s, path, line);
    OK_ALL(s, tw_enddef(f));
    const bool odd = rank() == last_rank();
    OK_HERE(s, put(f, "T", line.values<float>(1)));
    OK_ALL(s, tw_end_step(f));
    OK_HERE(s, put(f, "T", line.values<float>(2)));
    const Words words{"calls.nc", "tw_sync", "tw_end_step", rank_word(last_rank())};
    ALL(s, CODES(TW_EMISMATCH), words, odd ? tw_sync(f, 0) : tw_end_step(f));
    // Nothing was done: the step is still open, with what was put.
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    expect_file(path, line.length, {line.all_values<float>(1), line.all_values<float>(2)}, {});
    // Calls of different files.
    tw_file a = create_two(s, path_of("a.nc"), line);
    tw_file b = create_two(s, path_of("b.nc"), line);
    OK_ALL(s, tw_enddef(a));
    OK_ALL(s, tw_enddef(b));
    ALL(s, CODES(TW_EMISMATCH), WORDS("a.nc", "b.nc"), tw_end_step(odd ? b : a));
    OK_ALL(s, tw_end_step(b));
    OK_ALL(s, tw_close(&a));
    OK_ALL(s, tw_close(&b));
    expect_file(path_of("a.nc"), line.length, {}, {});
    expect_file(path_of("b.nc"), line.length, {{}}, {});
}

// Where a step exceeds the staging budget the puts are collective, and so are their errors.
void collective_puts() {
    Session s;
    const Line line(s);
    const std::string path = path_of("collective.nc");
    tw_file f = create_two(s, path, line, "format=cdf2; staging=0");
    OK_ALL(s, tw_enddef(f));
    const bool odd = rank() == last_rank();
    const std::vector<float> t = line.values<float>(1);
    const std::vector<float> h = line.values<float>(2);
    ALL(s, CODES(TW_ESHAPE), WORDS("T", "collective.nc", rank_word(last_rank())),
        tw_put(f, "T", TW_FLOAT, t.data(), line.count + (odd ? 1 : 0)));
    ALL(s, CODES(TW_ENOTFOUND), WORDS("nothing", "collective.nc"),
        tw_put(f, odd ? "nothing" : "T", TW_FLOAT, t.data(), line.count));
    OK_ALL(s, put(f, "T", t));
    // Again: the later one counts.
    OK_ALL(s, put(f, "T", h));
    OK_ALL(s, put(f, "h", h));
    OK_ALL(s, tw_end_step(f));
    // A deferred put stays local.
    if (!odd) OK_HERE(s, tw_put_deferred(f, "T", TW_FLOAT, t.data(), line.count));
    if (ranks() > 1) ALL(s, CODES(TW_EMISSING), WORDS("T", rank_word(last_rank())), tw_end_step(f));
    if (odd) OK_HERE(s, tw_put_deferred(f, "T", TW_FLOAT, t.data(), line.count));
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    expect_file(path, line.length, {line.all_values<float>(2), line.all_values<float>(1)},
                line.all_values<float>(2));
    if (ranks() == 1) return;
    f = create_two(s, path_of("order.nc"), line, "staging=0");
    OK_ALL(s, tw_enddef(f));
    ALL(s, CODES(TW_EMISMATCH), WORDS("'T'", "'h'", "order.nc", rank_word(last_rank())),
        tw_put(f, odd ? "h" : "T", TW_FLOAT, t.data(), line.count));
    OK_ALL(s, put(f, "h", t));
    OK_ALL(s, tw_close(&f));
    expect_file(path_of("order.nc"), line.length, {}, line.all_values<float>(1));
}

// More variables than fit a word, or a line of shared memory.
void many_variables() {
    Session s;
    const Line line(s);
    constexpr int many = 2300;
    const std::string path = path_of("many.nc");
    tw_file f = nullptr;
    OK_ALL(s, tw_create(s, path.c_str(), nullptr, &f));
    const auto name = [](int v) { return "v" + std::to_string(v); };
    check::step("%s: define", current_test.c_str());
    int bad = 0;
    for (int v = 0; v < many; ++v)
        bad += tw_def_var(f, name(v).c_str(), TW_SHORT, v % 3 == 0 ? "x" : "time x", line.handle) !=
               TW_OK;
    CHECK_TEXT(bad == 0, "%s", tw_error_message(s));
    OK_ALL(s, tw_enddef(f));
    const bool odd = rank() == last_rank();
    for (int step = 0; step < 2; ++step) {
        check::step("%s: put, step %d", current_test.c_str(), step);
        for (int v = 0; v < many; ++v) {
            if (odd && step == 1 && v == 2201) continue;
            const std::vector<std::int16_t> values(static_cast<std::size_t>(line.count),
                                                   static_cast<std::int16_t>(v + step));
            bad += tw_put(f, name(v).c_str(), TW_SHORT, values.data(), line.count) != TW_OK;
        }
        CHECK_TEXT(bad == 0, "%s", tw_error_message(s));
        if (step == 1 && ranks() > 1)
            ALL(s, CODES(TW_EMISSING), WORDS("v2201", rank_word(last_rank())), tw_end_step(f));
        if (step == 1 && odd) {
            const std::vector<std::int16_t> values(static_cast<std::size_t>(line.count), 2202);
            OK_HERE(s, tw_put(f, "v2201", TW_SHORT, values.data(), line.count));
        }
        OK_ALL(s, tw_end_step(f));
    }
    OK_ALL(s, tw_close(&f));
    if (rank() == 0) {
        int id = 0;
        CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
        for (int v = 0; v < many; v += 13) {
            const bool fixed = v % 3 == 0;
            std::vector<short> got(static_cast<std::size_t>(line.length * (fixed ? 1 : 2)));
            CHECK(nc_get_var_short(id, v, got.data()) == NC_NOERR);
            CHECK(got.front() == v + (fixed ? 1 : 0));
            CHECK(got.back() == v + 1);
        }
        nc_close(id);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

// Attributes after the data: more than the reserved space holds, and again and again.
void late_attributes() {
    Session s;
    const Line line(s);
    for (const std::size_t length : {std::size_t{100}, std::size_t{100000}}) {
        const std::string path = path_of("late.nc");
        tw_file f = create_two(s, path, line);
        OK_HERE(s, tw_put_att_text(f, "T", "units", "K"));
        OK_ALL(s, tw_enddef(f));
        OK_HERE(s, put(f, "T", line.values<float>(3)));
        OK_HERE(s, put(f, "h", line.values<float>(4)));
        OK_ALL(s, tw_end_step(f));
        const std::string text(length, 'x');
        OK_HERE(s, tw_put_att_text(f, nullptr, "history", "first"));
        OK_HERE(s, tw_put_att_text(f, nullptr, "history", text.c_str()));
        OK_HERE(s, tw_put_att_text(f, "T", "units", "degC, not K"));
        OK_ALL(s, tw_close(&f));
        if (rank() == 0) {
            int id = 0;
            const auto n = static_cast<std::size_t>(line.length);
            std::vector<float> t(n);
            std::vector<float> h(n);
            std::string got(length, ' ');
            std::string units(11, ' ');
            CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
            CHECK(nc_get_var_float(id, 0, t.data()) == NC_NOERR);
            CHECK(nc_get_var_float(id, 1, h.data()) == NC_NOERR);
            CHECK(t == line.all_values<float>(3));
            CHECK(h == line.all_values<float>(4));
            std::size_t stored = 0;
            CHECK(nc_inq_attlen(id, NC_GLOBAL, "history", &stored) == NC_NOERR && stored == length);
            CHECK(stored == length &&
                  nc_get_att_text(id, NC_GLOBAL, "history", got.data()) == NC_NOERR);
            CHECK(got == text);
            CHECK(nc_inq_attlen(id, 0, "units", &stored) == NC_NOERR && stored == units.size());
            CHECK(stored == units.size() &&
                  nc_get_att_text(id, 0, "units", units.data()) == NC_NOERR);
            CHECK(units == "degC, not K");
            nc_close(id);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

void nobody() {
    Session s;
    const Numbers shape{6, 5};
    tw_decomposition none = nullptr;
    OK_ALL(s, tw_decompose(s, "y x", 0, shape.data(), nullptr, nullptr, &none));
    const Numbers zeros{0, 0};
    tw_decomposition empty = nullptr;  // an empty box on each rank
    OK_ALL(s, tw_decompose(s, "y x", 1, shape.data(), zeros.data(), zeros.data(), &empty));
    const std::string path = path_of("nobody.nc");
    tw_file f = nullptr;
    OK_ALL(s, tw_create(s, path.c_str(), "format=cdf1", &f));
    OK_HERE(s, tw_def_var(f, "a", TW_SHORT, "time y x", none));
    OK_HERE(s, tw_def_var(f, "b", TW_BYTE, "x y", empty));
    OK_HERE(s, tw_put(f, "a", TW_DOUBLE, nullptr, 0));
    OK_HERE(s, tw_put(f, "b", TW_BYTE, nullptr, 0));
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    if (rank() == 0) {
        const std::string expected = path + ".expected";
        Oracle oracle(expected, "cdf1");
        oracle.dim("time", 0);
        oracle.dim("y", 6);
        oracle.dim("x", 5);
        const int a = oracle.var("a", TW_SHORT, {"time", "y", "x"});
        oracle.var("b", TW_BYTE, {"x", "y"});
        oracle.enddef();
        const std::vector<short> fill(30, NC_FILL_SHORT);
        oracle.require(oracle.put(a, TW_SHORT, {0, 0, 0}, {1, 6, 5}, fill.data()), "put");
        oracle.close();
        const std::string what = difference(expected, path);
        CHECK_TEXT(what.empty(), "%s", what.c_str());
    }
    // A file without any definition.
    OK_ALL(s, tw_create(s, path_of("empty.nc").c_str(), "format=cdf2", &f));
    OK_ALL(s, tw_close(&f));
    CHECK(exists(path_of("empty.nc")));
    MPI_Barrier(MPI_COMM_WORLD);
}

// ---- values ------------------------------------------------------------------------------------

void values_out_of_range() {
    Session s;
    const Line line(s);
    const std::string path = path_of("range.nc");
    tw_file f = nullptr;
    OK_ALL(s, tw_create(s, path.c_str(), "format=cdf2", &f));
    OK_HERE(s, tw_def_var(f, "b", TW_BYTE, "time x", line.handle));
    OK_HERE(s, tw_def_var(f, "g", TW_SHORT, "time x", line.handle));
    OK_ALL(s, tw_enddef(f));
    for (int step = 0; step < 3; ++step) {
        std::vector<std::int32_t> b = line.values<std::int32_t>(0);
        if (step == 1 && rank() == last_rank()) b.back() = 300;
        OK_HERE(s, tw_put(f, "b", TW_INT, b.data(), line.count));
        OK_HERE(s, tw_put(f, "g", TW_INT, b.data(), line.count));
        if (step == 1)
            ALL(s, CODES(TW_ERANGE), WORDS("b", "range.nc", "1"), tw_end_step(f));
        else
            OK_ALL(s, tw_end_step(f));
    }
    // It was said; the file is complete.
    OK_ALL(s, tw_close(&f));
    if (rank() == 0) {
        const std::string expected = path + ".expected";
        Oracle oracle(expected, "cdf2");
        oracle.dim("time", 0);
        oracle.dim("x", line.length);
        const int bv = oracle.var("b", TW_BYTE, {"time", "x"});
        const int gv = oracle.var("g", TW_SHORT, {"time", "x"});
        oracle.enddef();
        for (std::size_t step = 0; step < 3; ++step) {
            std::vector<std::int32_t> b = line.all_values<std::int32_t>(0);
            std::vector<std::int32_t> g = b;
            if (step == 1) {
                b.back() = NC_FILL_BYTE;
                g.back() = 300;
            }
            const auto n = static_cast<std::size_t>(line.length);
            oracle.require(oracle.put(bv, TW_INT, {step, 0}, {1, n}, b.data()), "put");
            oracle.require(oracle.put(gv, TW_INT, {step, 0}, {1, n}, g.data()), "put");
        }
        oracle.close();
        const std::string what = difference(expected, path);
        CHECK_TEXT(what.empty(), "%s", what.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // Pending until the close.
    OK_ALL(s, tw_create(s, path.c_str(), "format=cdf2", &f));
    OK_HERE(s, tw_def_var(f, "b", TW_BYTE, "x", line.handle));
    OK_ALL(s, tw_enddef(f));
    const std::vector<std::int32_t> big(static_cast<std::size_t>(line.count), 1000);
    OK_HERE(s, tw_put(f, "b", TW_INT, big.data(), line.count));
    ALL(s, CODES(TW_ERANGE), WORDS("b", "range.nc"), tw_close(&f));
    CHECK(f == nullptr);
    CHECK(exists(path));
    MPI_Barrier(MPI_COMM_WORLD);
}

// ---- formats -----------------------------------------------------------------------------------

void formats() {
    Session s;
    // What a format cannot hold is said by the definition or by its end, on all ranks alike.
    const auto refuse = [&](const char* format, const Words& words,
                            const std::function<int(tw_file)>& define) {
        tw_file f = nullptr;
        const std::string path = path_of("format.nc");
        OK_ALL(s, tw_create(s, path.c_str(), (std::string("format=") + format).c_str(), &f));
        int status = define(f);
        if (status == TW_OK) status = tw_enddef(f);
        ALL(s, CODES(TW_EFORMAT), words, status);
        check::step("%s: tw_close", current_test.c_str());
        tw_close(&f);
    };
    const auto variable = [&](const char* name, tw_type type, const char* dims,
                              const Numbers& shape, bool records) {
        return [&s, name, type, dims, shape, records](tw_file f) {
            tw_decomposition d = nullptr;
            OK_ALL(s, tw_decompose(s, dims, 0, shape.data(), nullptr, nullptr, &d));
            const std::string of_record = std::string("time ") + dims;
            int status = tw_def_var(f, name, type, records ? of_record.c_str() : dims, d);
            if (status == TW_OK)
                status = tw_def_var(f, "second", TW_INT, records ? "time" : "", nullptr);
            return status;
        };
    };
    for (const char* format : {"cdf1", "cdf2"}) {
        for (const tw_type type : {TW_UBYTE, TW_USHORT, TW_UINT, TW_INT64, TW_UINT64}) {
            refuse(format, {"v", type_name(type), format, "cdf5"},
                   variable("v", type, "y x", {3, 4}, false));
            refuse(format, {"units", type_name(type), format, "cdf5"}, [&](tw_file f) {
                const std::uint64_t zero = 0;
                return tw_put_att(f, nullptr, "units", type, 1, &zero);
            });
        }
        refuse(format, {"v", format, "cdf5"},
               variable("v", TW_FLOAT, "y x", {1 << 16, (1 << 14) + 1}, false));
        refuse(format, {"v", format, "cdf5"},
               variable("v", TW_FLOAT, "y x", {1 << 16, (1 << 14) + 1}, true));
        refuse(format, {"x", format, "cdf5"},
               variable("v", TW_BYTE, "x", {std::int64_t{1} << 31}, true));
    }
    refuse("cdf1", {"v", "cdf1", "cdf2"},
           variable("v", TW_FLOAT, "y x", {1 << 15, (1 << 14) + 1}, false));
    refuse("cdf1", {"v", "cdf1", "cdf2"},
           variable("v", TW_FLOAT, "y x", {1 << 15, (1 << 14) + 1}, true));

    // Without a wish, a format that can is taken.
    const auto chosen = [&](const char* name, tw_type type, const Numbers& shape) {
        tw_file f = nullptr;
        const std::string path = path_of("chosen.nc");
        OK_ALL(s, tw_create(s, path.c_str(), "format=auto", &f));
        OK_HERE(s, variable(name, type, "y x", shape, true)(f));
        OK_ALL(s, tw_close(&f));
        char magic[4] = {};
        std::ifstream(path).read(magic, sizeof magic);
        MPI_Barrier(MPI_COMM_WORLD);
        return static_cast<int>(magic[3]);
    };
    CHECK(chosen("v", TW_FLOAT, {10, 10}) == 2);
    CHECK(chosen("v", TW_UINT, {10, 10}) == 5);
    CHECK(chosen("v", TW_FLOAT, {1 << 16, (1 << 14) + 1}) == 5);
}

// ---- a full disk -------------------------------------------------------------------------------

// Steps of 1 MiB until the file may grow no further: the failing step and everything after it
// say so on all ranks; the steps before it can be read.
void fill_up(tw_session s, const std::string& path, const Words& reason,
             const std::function<void()>& limit, const std::function<void()>& unlimit) {
    const std::int64_t n = (1 << 18);
    const Line line(s, "x", n);
    tw_file f = create_two(s, path, line);
    OK_ALL(s, tw_enddef(f));
    MPI_Barrier(MPI_COMM_WORLD);
    limit();
    int good = 0;
    int status = TW_OK;
    std::string text;
    for (int step = 0; step < 8 && status == TW_OK; ++step) {
        check::step("%s: step %d", current_test.c_str(), step);
        status = put(f, "T", line.values<float>(static_cast<float>(step)));
        const int ended = tw_end_step(f);
        if (status == TW_OK) status = ended;
        text = status == TW_OK ? "" : tw_error_message(s);
        if (status == TW_OK) ++good;
    }
    Words words = reason;
    words.push_back(std::filesystem::path(path).filename().string());
    judge_all(__FILE__, __LINE__, "the step that does not fit", status, text, {TW_EIO, TW_ENETCDF},
              words);
    CHECK_TEXT(good >= 1 && good <= 5, "%d steps", good);
    // The error stays.
    HERE(s, CODES(TW_EIO, TW_ENETCDF), words, put(f, "T", line.values<float>(0)));
    ALL(s, CODES(TW_EIO, TW_ENETCDF), words, tw_end_step(f));
    ALL(s, CODES(TW_EIO, TW_ENETCDF), words, tw_sync(f, 0));
    ALL(s, CODES(TW_EIO, TW_ENETCDF), words, tw_close(&f));
    CHECK(f == nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    // The ended steps are readable, under the file's name or the one it had while it was written.
    if (rank() == 0) {
        bool found = false;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(
                 std::filesystem::path(path).parent_path(), error)) {
            int id = 0;
            if (nc_open(entry.path().c_str(), NC_NOWRITE, &id) != NC_NOERR) continue;
            int time = 0;
            std::size_t records = 0;
            int var = 0;
            if (nc_inq_unlimdim(id, &time) == NC_NOERR &&
                nc_inq_dimlen(id, time, &records) == NC_NOERR &&
                nc_inq_varid(id, "T", &var) == NC_NOERR) {
                bool equal = records == static_cast<std::size_t>(good);
                for (std::size_t r = 0; equal && r < records; ++r) {
                    std::vector<float> values(static_cast<std::size_t>(n));
                    const std::size_t start[2] = {r, 0};
                    const std::size_t count[2] = {1, static_cast<std::size_t>(n)};
                    equal = nc_get_vara_float(id, var, start, count, values.data()) == NC_NOERR &&
                            values == line.all_values<float>(static_cast<float>(r));
                }
                found = found || equal;
            }
            nc_close(id);
        }
        CHECK_TEXT(found, "no file in the folder of %s holds the %d records that were written",
                   path.c_str(), good);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    unlimit();
    MPI_Barrier(MPI_COMM_WORLD);
    // The session goes on with other files.
    const Line small(s, "y");
    tw_file g = nullptr;
    const std::string other = path_of("after.nc");
    OK_ALL(s, tw_create(s, other.c_str(), nullptr, &g));
    OK_HERE(s, tw_def_var(g, "T", TW_FLOAT, "y", small.handle));
    OK_HERE(s, put(g, "T", small.values<float>(1)));
    OK_ALL(s, tw_close(&g));
    CHECK(exists(other));
    MPI_Barrier(MPI_COMM_WORLD);
}

void size_limit() {
    Session s("buffer=256KiB; staging=16MiB");
    struct rlimit before {};
    getrlimit(RLIMIT_FSIZE, &before);
    const std::string place = path_of("limited");
    if (rank() == 0) ::mkdir(place.c_str(), 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    fill_up(
        s, place + "/limited.nc", {"File too large"},
        [&] {
            struct rlimit small = before;
            small.rlim_cur = 7 << 19;  // 3.5 MiB
            setrlimit(RLIMIT_FSIZE, &small);
        },
        [&] { setrlimit(RLIMIT_FSIZE, &before); });
}

void full_disk() {
    const std::string place = path_of("full");
    int mounted = 0;
    if (rank() == 0) {
        ::mkdir(place.c_str(), 0777);
        mounted = ::mount("thalweg", place.c_str(), "tmpfs", 0, "size=3584k") == 0 ? 1 : 0;
        if (mounted == 0)
            check::print("bad_input: full_disk is left out: no right to mount a small tmpfs");
    }
    MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (mounted == 0) return;
    {
        Session s("buffer=256KiB; staging=16MiB");
        fill_up(
            s, place + "/full.nc", {"No space left on device"}, [] {}, [] {});
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) CHECK_TEXT(::umount(place.c_str()) == 0, "umount %s", place.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
}

// ---- sessions ----------------------------------------------------------------------------------

void sessions() {
    for (int status = -30; status <= 5; ++status) CHECK(tw_strerror(status) != nullptr);
    CHECK(std::string(tw_strerror(TW_ESHAPE)).find("TW_ESHAPE") == 0);
    CHECK(tw_error_message(nullptr) != nullptr);
    CHECK(tw_init(MPI_COMM_WORLD, nullptr, nullptr) == TW_EARG);
    tw_session s = nullptr;
    CHECK(tw_init(MPI_COMM_NULL, nullptr, &s) == TW_EARG);
    tw_finalize(&s);
    CHECK(tw_finalize(nullptr) != TW_OK);
    s = nullptr;
    CHECK(tw_finalize(&s) != TW_OK);
    CHECK(tw_print_config(nullptr) == TW_EHANDLE);
    const char* json = nullptr;
    CHECK(tw_summary(nullptr, &json) == TW_EHANDLE);
    MPI_Barrier(MPI_COMM_WORLD);
    {  // finalize closes what is open
        const std::string path = path_of("open.nc");
        OK_ALL(s, tw_init(MPI_COMM_WORLD, base_settings.c_str(), &s));
        CHECK(std::string(tw_error_message(s)).empty());
        const Line line(s);
        tw_file f = create_two(s, path, line);
        OK_HERE(s, put(f, "T", line.values<float>(4)));
        OK_ALL(s, tw_end_step(f));
        OK_HERE(s, put(f, "h", line.values<float>(5)));
        ALL(s, CODES(TW_EARG), Words{}, tw_summary(s, nullptr));
        OK_ALL(s, tw_finalize(&s));
        CHECK(s == nullptr);
        expect_file(path, line.length, {line.all_values<float>(4)}, line.all_values<float>(5));
    }
    if (ranks() > 1) {  // and tells what went wrong with it
        OK_ALL(s, tw_init(MPI_COMM_WORLD, base_settings.c_str(), &s));
        const Line line(s);
        tw_file f = create_two(s, path_of("open2.nc"), line);
        OK_ALL(s, tw_enddef(f));
        if (rank() == 0) OK_HERE(s, put(f, "h", line.values<float>(5)));
        check::step("%s: tw_finalize", current_test.c_str());
        const int status = tw_finalize(&s);
        judge_all(__FILE__, __LINE__, "tw_finalize", status, "", {TW_EMISSING}, {});
        CHECK(s == nullptr);
    }
    {  // sessions on parts of the ranks, side by side
        MPI_Comm half = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, -rank(), &half);
        tw_session own = nullptr;
        CHECK(tw_init(half, base_settings.c_str(), &own) == TW_OK);
        MPI_Comm_free(&half);  // the session works on its own copy
        const std::int64_t n = 3;
        const std::int64_t zero = 0;
        int place = 0;
        tw_decomposition d = nullptr;
        // Ranks of the half are numbered backwards: only its rank 0 holds something.
        place = rank() >= ranks() - 2 ? 1 : 0;
        CHECK(tw_decompose(own, "x", place, &n, &zero, &n, &d) == TW_OK);
        tw_file f = nullptr;
        const std::string path = path_of("half" + std::to_string(rank() % 2) + ".nc");
        CHECK(tw_create(own, path.c_str(), nullptr, &f) == TW_OK);
        CHECK(tw_def_var(f, "v", TW_INT, "x", d) == TW_OK);
        const std::vector<std::int32_t> v{1, 2, 3};
        CHECK(tw_put(f, "v", TW_INT, v.data(), place * 3) == TW_OK);
        CHECK(tw_close(&f) == TW_OK);
        CHECK(tw_finalize(&own) == TW_OK);
        MPI_Barrier(MPI_COMM_WORLD);
        if (place == 1) {
            int id = 0;
            std::vector<std::int32_t> got(3);
            CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
            CHECK(nc_get_var_int(id, 0, got.data()) == NC_NOERR);
            CHECK(got == v);
            nc_close(id);
        }
    }
}

void reading() {
    Session s;
    const Line line(s);
    const std::string path = path_of("read.nc");
    tw_file f = create_two(s, path, line);
    OK_HERE(s, put(f, "T", line.values<float>(1)));
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    ALL(s, CODES(TW_EIO), WORDS("none.nc", "No such file"),
        tw_open(s, path_of("none.nc").c_str(), nullptr, &f));
    ALL(s, CODES(TW_EIO, TW_EFORMAT), WORDS(folder), tw_open(s, folder.c_str(), nullptr, &f));
    if (rank() == 0) std::ofstream(path_of("text.nc")) << "this is not a netCDF file at all";
    MPI_Barrier(MPI_COMM_WORLD);
    ALL(s, CODES(TW_EFORMAT, TW_EIO, TW_ENETCDF), WORDS("text.nc"),
        tw_open(s, path_of("text.nc").c_str(), nullptr, &f));
    ALL(s, CODES(TW_EARG), Words{}, tw_open(s, nullptr, nullptr, &f));
    CHECK(f == nullptr);
    OK_ALL(s, tw_open(s, path.c_str(), nullptr, &f));
    std::int64_t n = 0;
    OK_HERE(s, tw_inq_dim(f, "time", &n));
    CHECK(n == 1);
    OK_HERE(s, tw_inq_dim(f, "x", &n));
    CHECK(n == line.length);
    HERE(s, CODES(TW_ENOTFOUND), WORDS("nothing", "read.nc"), tw_inq_dim(f, "nothing", &n));
    std::vector<float> got(static_cast<std::size_t>(line.count));
    const auto room = static_cast<std::int64_t>(got.size());
    ALL(s, CODES(TW_ENOTFOUND), WORDS("nothing"),
        tw_get(f, "nothing", line.handle, 0, TW_FLOAT, got.data(), room));
    ALL(s, CODES(TW_EBOUNDS), WORDS("T", "1"),
        tw_get(f, "T", line.handle, 1, TW_FLOAT, got.data(), room));
    ALL(s, CODES(TW_EBOUNDS), WORDS("T", "-1"),
        tw_get(f, "T", line.handle, -1, TW_FLOAT, got.data(), room));
    ALL(s, CODES(TW_ETYPE), WORDS("T"), tw_get(f, "T", line.handle, 0, TW_CHAR, got.data(), room));
    // Wrong on one rank: an error on all.
    const bool odd = rank() == last_rank();
    ALL(s, CODES(TW_ESHAPE), WORDS("T"),
        tw_get(f, "T", line.handle, 0, TW_FLOAT, got.data(), odd ? room + 1 : room));
    ALL(s, CODES(TW_EARG), WORDS("T"),
        tw_get(f, "T", line.handle, 0, TW_FLOAT, odd ? nullptr : got.data(), room));
    if (ranks() > 1)
        ALL(s, CODES(TW_EMISMATCH, TW_OK), Words{},
            tw_get(f, odd ? "h" : "T", line.handle, 0, TW_FLOAT, got.data(), room));
    HERE(s, CODES(TW_ESTATE, TW_EUNSUPPORTED), WORDS("read.nc"), tw_def_dim(f, "q", 2));
    HERE(s, CODES(TW_ESTATE, TW_EUNSUPPORTED), WORDS("read.nc"), put(f, "T", got));
    OK_ALL(s, tw_get(f, "T", line.handle, 0, TW_FLOAT, got.data(), room));
    CHECK(got == line.values<float>(1));
    OK_ALL(s, tw_close(&f));
}

struct Test {
    const char* name;
    void (*run)();
};

const std::vector<Test> tests{{"decompositions", decompositions},
                              {"settings", settings},
                              {"paths", paths},
                              {"in_use", in_use},
                              {"definitions", definitions},
                              {"disagreements", disagreements},
                              {"puts", puts},
                              {"missing", missing},
                              {"different_calls", different_calls},
                              {"collective_puts", collective_puts},
                              {"many_variables", many_variables},
                              {"late_attributes", late_attributes},
                              {"nobody", nobody},
                              {"values_out_of_range", values_out_of_range},
                              {"formats", formats},
                              {"size_limit", size_limit},
                              {"full_disk", full_disk},
                              {"sessions", sessions},
                              {"reading", reading}};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string root = check::make_folder("bad_input");
    const std::string only = check::option(argc, argv, "--only", "");
    std::vector<std::string> sets{
        "",
        "method=record; node_size=2; writers=1/node",
        "method=slabs; writers=3; node_size=3",
        "method=serial",
        "method=direct",
        "storage=pnetcdf; pnetcdf_mode=blocking",
        "storage=pnetcdf; pnetcdf_mode=nonblocking; method=direct; node_size=1"};
    if (check::has_flag(argc, argv, "--settings"))
        sets = {check::option(argc, argv, "--settings", "")};
    for (const std::string& set : sets) {
        base_settings = set;
        folder = root + "/set" + std::to_string(&set - sets.data());
        if (rank() == 0) ::mkdir(folder.c_str(), 0777);
        MPI_Barrier(MPI_COMM_WORLD);
        storage_word = set.find("storage=pnetcdf") == std::string::npos ? "" : "storage=pnetcdf";
        for (const Test& test : tests) {
            if (!only.empty() && only != test.name) continue;
            current_test = std::string(test.name) + " [" + set + "]";
            const double begin = MPI_Wtime();
            test.run();
            check::step("%s: end", current_test.c_str());
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank() == 0 && check::has_flag(argc, argv, "--verbose"))
                check::print(check::text("%s: %.2f s", current_test.c_str(), MPI_Wtime() - begin));
        }
    }
    if (rank() == 0 && !check::has_flag(argc, argv, "--keep")) {
        std::error_code ignored;
        std::filesystem::remove_all(root, ignored);
    }
    return check::verdict("bad_input");
}
