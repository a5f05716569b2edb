// Tests system calls that fail when files are read, continued, or replaced: each call, each kind of
// fault, on one rank.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: reading [--settings "..."] [--every N]   with the library of faults preloaded (inject.c)
//        reading --grow FILE --at N [--created "..."] | --look FILE
//
// Short and interrupted reads give the right data. A read that fails returns TW_EIO on every rank,
// with the file, the variable and the rank, and the same call succeeds afterwards. An error of
// reading ahead is returned by the read that requests the data. A continued file keeps its records,
// a restart its last complete file. With --every N, only every N-th call is tested. --grow adds
// records to a file until rank 0 is killed, in its N-th call that writes; --look checks that the
// committed records are there.
#include <dlfcn.h>
#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

#if defined(__SANITIZE_ADDRESS__)
/// Suppresses reports of memory that these libraries leak if a system call fails.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5\nleak:libnetcdf\n"; }
#endif

namespace {

int rank() { return check::state.rank; }
int ranks() { return check::state.size; }

// ---- faults ----

/// Makes calls fail on one rank, or on all ranks (-1). On the other ranks, calls are only counted.
/// Collective.
void arm(const std::string& path, int victim, const std::string& at, const std::string& kind) {
    using Arm = void (*)(const char*, const char*, const char*);
    const auto function = reinterpret_cast<Arm>(dlsym(RTLD_DEFAULT, "thalweg_fault_arm"));
    CHECK_TEXT(function != nullptr, "the library of faults is not loaded (LD_PRELOAD)");
    MPI_Barrier(MPI_COMM_WORLD);
    const bool here = victim < 0 || victim == rank();
    if (function != nullptr) function(path.c_str(), here ? at.c_str() : "", kind.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
}
void disarm() { arm("", -1, "", ""); }

/// Returns the sum over all ranks of the calls that failed. Collective.
long fired() {
    using Fired = long (*)(char*, std::size_t);
    const auto function = reinterpret_cast<Fired>(dlsym(RTLD_DEFAULT, "thalweg_fault_fired"));
    long mine = function == nullptr ? 0 : function(nullptr, 0), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

// ---- files ----

// The lengths are constants, because a program with another number of ranks checks the files.
constexpr std::int64_t ny = 30;
constexpr std::int64_t nx = 40;
constexpr std::int64_t cells = ny * nx;
constexpr std::int64_t records = 3;

int value(std::int64_t record, std::int64_t at) { return static_cast<int>(10000 * record + at); }

/// Checks a file by serial netCDF-C. Returns the error, or "".
std::string look(const std::string& path, std::int64_t least) {
    int id = 0;
    if (const int s = nc_open(path.c_str(), NC_NOWRITE, &id); s != NC_NOERR) return nc_strerror(s);
    int time = 0, variable = 0;
    std::size_t n = 0;
    std::string wrong;
    if (nc_inq_dimid(id, "time", &time) != NC_NOERR || nc_inq_dimlen(id, time, &n) != NC_NOERR ||
        nc_inq_varid(id, "T", &variable) != NC_NOERR)
        wrong = "no records";
    if (n < static_cast<std::size_t>(least)) wrong = check::text("only {} records", n);
    std::vector<int> got(cells), wanted(cells);
    for (std::size_t r = 0; r < n && wrong.empty(); ++r) {
        const std::size_t start[3] = {r, 0, 0}, count[3] = {1, ny, nx};
        std::iota(wanted.begin(), wanted.end(), value(static_cast<std::int64_t>(r), 0));
        const int s = nc_get_vara_int(id, variable, start, count, got.data());
        if (s != NC_NOERR) wrong = check::text("record {}: {}", r, nc_strerror(s));
        if (s == NC_NOERR && got != wanted) wrong = check::text("record {} is wrong", r);
    }
    nc_close(id);
    return wrong;
}

/// The result of a call, the same on all ranks.
struct Outcome {
    int status = TW_OK;
    std::string text;
};

class Program {
public:
    Program(const std::string& settings, long every)
        : every_(every), folder_(check::make_folder("reading")) {
        CHECK(tw_init(MPI_COMM_WORLD, ("log=off; " + settings).c_str(), &session_) == TW_OK);
        start_[0] = ny * rank() / ranks();
        count_[0] = ny * (rank() + 1) / ranks() - start_[0];
        const std::int64_t shape[2] = {ny, nx};
        ok(tw_decompose(session_, "y x", 1, shape, start_, count_, &grid_));
        array_.resize(static_cast<std::size_t>(count_[0] * nx));
    }
    ~Program() {
        check::step("tw_finalize");
        CHECK(tw_finalize(&session_) == TW_OK);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void go() {
        write("classic.nc", "");
        write("four.nc", "format=netcdf4; deflate=1");
        write("tiles.nc", "method=tiles; files=tiles");
        for (const char* name : {"classic.nc", "four.nc", "tiles.nc"}) reads(name);
        shortened();
        prefetched();
        for (const char* settings : {"", "format=netcdf4", "format=netcdf4; deflate=1"})
            written_on(settings);
        restarts();
        if (rank() == 0) check::print(check::text("reading: {} faults", faults_));
    }

    /// Adds records to a file and logs their number, until the process is killed.
    void grow(const std::string& name, const std::string& at, const std::string& created) {
        write(name, created.c_str());
        arm(name, 0, at, "kill");
        open_to_append(name);
        for (std::int64_t r = records; step(r) == TW_OK && tw_sync(file_, 0) == TW_OK; ++r)
            if (rank() == 0) std::ofstream(name + ".committed") << r + 1;
    }
    void write(const std::string& name, const char* settings) {
        check::step("writing {}", name);
        ok(tw_create(session_, path(name).c_str(), settings, &file_));
        define();
        for (std::int64_t r = 0; r < records; ++r) CHECK(step(r) == TW_OK);
        close();
    }

private:
    std::string path(const std::string& name) const {
        return name[0] == '/' ? name : folder_ + "/" + name;
    }
    void ok(int status) const {
        CHECK_TEXT(status == TW_OK, "{}: {}", what_, tw_error_message(session_));
    }
    void open(const std::string& name, const char* settings = "") {
        ok(tw_open(session_, path(name).c_str(), settings, &file_));
    }
    void close() { ok(tw_close(&file_)); }
    void define() const { ok(tw_def_var(file_, "T", TW_INT, "time y x", grid_)); }
    void fill(std::int64_t record) {
        std::iota(array_.begin(), array_.end(), value(record, start_[0] * nx));
    }
    std::int64_t n() const { return static_cast<std::int64_t>(array_.size()); }
    int step(std::int64_t record) {
        fill(record);
        ok(tw_put(file_, "T", TW_INT, array_.data(), n()));
        return tw_end_step(file_);
    }
    int get(std::int64_t record) {
        std::fill(array_.begin(), array_.end(), -1);
        return tw_get(file_, "T", grid_, record, TW_INT, array_.data(), n());
    }
    void expect(std::int64_t record) {
        std::vector<int> wanted(array_.size());
        std::iota(wanted.begin(), wanted.end(), value(record, start_[0] * nx));
        CHECK_TEXT(array_ == wanted, "{}: record {} is wrong", what_, record);
    }

    Outcome alike(int status) const {
        const Outcome told{status, status == TW_OK ? "" : tw_error_message(session_)};
        const auto all = check::gather(std::to_string(status) + ": " + told.text);
        for (const std::string& other : all)
            CHECK_TEXT(other == all[0], "{}: '{}' and '{}'", what_, all[0], other);
        return told;
    }
    /// Checks that a call has failed with an error that contains the given words.
    /// @param libraries  the error may come from another library, with its own text
    void expect_failure(const Outcome& told, int victim, const std::vector<std::string>& words,
                        bool libraries = false) const {
        CHECK_TEXT(told.status == TW_EIO || (libraries && told.status == TW_EFORMAT), "{}: {}: {}",
                   what_, tw_strerror(told.status), told.text);
        std::vector<std::string> all = words;
        if (ranks() > 1 && victim >= 0) all.push_back("rank " + std::to_string(victim));
        for (const std::string& word : all)
            CHECK_TEXT(told.text.find(word) != std::string::npos, "{}: the text lacks '{}': {}",
                       what_, word, told.text);
    }

    /// Calls body(victim) once for each call that can fail, first on the first rank and then on the
    /// last. The body must call end_faults().
    /// @param ready  prepares the body, without faults
    void every_call(const std::string& name, const std::string& file, const char* kind,
                    const std::function<void()>& ready, const std::function<void(int)>& body) {
        for (const int victim : {0, ranks() - 1}) {
            for (long at = 1;; at += every_) {
                what_ = check::text("{}: {} in call {} of rank {}", name, kind, at, victim);
                check::step(what_);
                ready();
                arm(path(file), victim, std::to_string(at), kind);
                body(victim);
                faults_ += fired_;
                // If no call has failed, this kind of fault does not apply to this call, but it may
                // apply to later ones.
                if (fired_ == 0 && calls_ < at) break;
            }
            if (ranks() == 1) break;
        }
    }
    /// Stops the failures, and returns how many there were. Collective.
    long end_faults(int victim) {
        using Calls = long (*)();
        const auto function = reinterpret_cast<Calls>(dlsym(RTLD_DEFAULT, "thalweg_fault_calls"));
        calls_ = function == nullptr ? 0 : function();
        MPI_Bcast(&calls_, 1, MPI_LONG, victim, MPI_COMM_WORLD);
        fired_ = fired();
        disarm();
        return fired_;
    }

    // ---- the tests ----

    void reads(const std::string& name) {
        const bool libraries = name == "four.nc";
        for (const char* kind : {"read-eio", "read-short", "read-eintr"})
            every_call(
                "reading " + name, name, kind, [] {},
                [&](int victim) {
                    const bool harmful = std::string(kind) == "read-eio";
                    const auto judge = [&](int status, std::vector<std::string> words) {
                        const Outcome told = alike(status);
                        if (told.status == TW_OK) return true;
                        CHECK_TEXT(harmful, "{}: {}", what_, told.text);
                        words.push_back(name);
                        if (!libraries) words.push_back("Input/output error");
                        expect_failure(told, victim, words, libraries);
                        return false;
                    };
                    bool failed =
                        !judge(tw_open(session_, path(name).c_str(), "piece=1KiB", &file_), {});
                    if (failed) open(name);
                    for (const std::int64_t record : {2, 0}) {
                        if (!judge(get(record), {"'T'"})) {
                            CHECK_TEXT(!failed, "{}: it failed twice", what_);
                            failed = true;
                            ok(get(record));
                        }
                        expect(record);
                    }
                    if (!judge(tw_sync(file_, 0), {})) {
                        failed = true;
                        ok(tw_sync(file_, 0));
                    }
                    close();
                    const bool hit = end_faults(victim) > 0;
                    CHECK_TEXT(!harmful || libraries || failed == hit, "{}: it was not told",
                               what_);
                });
    }

    /// Tests a file that is truncated while it is open.
    void shortened() {
        what_ = "a file that is cut";
        check::step(what_);
        write("cut.nc", "");
        open("cut.nc");
        ok(get(2));
        if (rank() == 0) CHECK(::truncate(path("cut.nc").c_str(), 2 * cells * 4) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        const std::string word = "truncated";
        expect_failure(alike(get(2)), -1, {"cut.nc", "'T'", word});
        ok(get(0));
        expect(0);
        ok(tw_sync(file_, 0));
        expect_failure(alike(get(2)), -1, {"cut.nc", "'T'", word});
        ok(get(0));
        expect(0);
        close();
    }

    /// Tests that an error in reading ahead is returned only when the data are requested.
    void prefetched() {
        for (const bool lasting : {false, true})
            for (const char* settings : {"", "read_ahead=yes; staging=64KiB"}) {
                what_ = std::string("prefetch, ") + (lasting ? "lasting, " : "once, ") + settings;
                check::step(what_);
                open("classic.nc", (std::string("piece=1KiB; ") + settings).c_str());
                ok(tw_get_array(file_, "T", grid_, 1, tw_dense(TW_INT, array_.data(), n()),
                                TW_DEFERRED));
                arm(path("classic.nc"), -1, lasting ? "every" : "1", "read-eio");
                ok(tw_prefetch(file_));
                ::usleep(10000);  // give the thread time to read; otherwise the read itself would
                                  // fail
                const Outcome told = alike(tw_read(file_));
                faults_ += fired();
                if (lasting)
                    expect_failure(told, -1, {"classic.nc", "'T'", "Input/output error"});
                else if (told.status == TW_OK)
                    expect(1);
                // Reading ahead stops if nothing more is requested.
                disarm();
                ok(get(1));
                expect(1);
                close();
            }
    }

    void open_to_append(const std::string& name) {
        open(name, "mode=append");
        define();
    }

    /// Continues a file. Existing records, and those of steps that have succeeded, must stay
    /// unchanged.
    void written_on(const char* settings) {
        const std::string name = "grows.nc";
        for (const std::string kind : {"eio", "enospc", "short", "eintr"})
            every_call(
                std::string("writing on ") + settings, name, kind.c_str(),
                [&] { write(name, settings); },
                [&](int victim) {
                    std::int64_t committed = records;
                    const Outcome told = add_two(name, committed);
                    end_faults(victim);
                    const bool harmful = kind == "eio" || kind == "enospc";
                    CHECK_TEXT((harmful && fired_ > 0) == (told.status != TW_OK), "{}: {}", what_,
                               told.text);
                    if (told.status != TW_OK) expect_failure(told, victim, {name});
                    // If counting the records of the last step has failed, the next call returns
                    // the error.
                    if (told.status != TW_OK && committed > records) --committed;
                    const std::string wrong = rank() == 0 ? look(path(name), committed) : "";
                    CHECK_TEXT(wrong.empty(), "{}: {}", what_, wrong);
                    MPI_Barrier(MPI_COMM_WORLD);
                });
    }

    /// Continues a file, and returns the first error.
    /// @param committed receives the number of records that the calls have confirmed
    Outcome add_two(const std::string& name, std::int64_t& committed) {
        Outcome told = alike(tw_open(session_, path(name).c_str(), "mode=append", &file_));
        if (told.status == TW_OK) {
            define();
            told = alike(tw_enddef(file_));
            for (int s = 0; s < 2 && told.status == TW_OK; ++s) {
                fill(committed);
                // If counting the records has failed, rank 0 already knows it; the other ranks get
                // the error when the step ends.
                (void)tw_put(file_, "T", TW_INT, array_.data(), n());
                told = alike(tw_end_step(file_));
                if (told.status == TW_OK) ++committed;
            }
            const Outcome closed = alike(tw_close(&file_));
            if (told.status == TW_OK) told = closed;
        }
        return told;
    }

    /// Tests that the old restart file exists until the new one is complete.
    void restarts() {
        std::vector<double> a(array_.size());
        tw_restart restart = nullptr;
        ok(tw_restart_new(session_, nullptr, &restart));
        ok(tw_restart_add(restart, "a", TW_DOUBLE, "y x", grid_, a.data(), n(), TW_REQUIRED));
        const std::string at = path("restart.nc");
        const auto write_one = [&](double generation) {
            std::fill(a.begin(), a.end(), generation);
            return tw_restart_write(restart, at.c_str());
        };
        const auto expect_one = [&](double generation) {
            std::fill(a.begin(), a.end(), 0);
            ok(tw_restart_read(restart, at.c_str(), nullptr));
            CHECK_TEXT(std::all_of(a.begin(), a.end(), [&](double x) { return x == generation; }),
                       "{}: not generation {}", what_, generation);
        };
        double generation = 1;
        ok(write_one(generation));
        const auto judge = [&](const Outcome& told, int victim) {
            CHECK_TEXT((end_faults(victim) > 0) == (told.status != TW_OK), "{}: it was not told",
                       what_);
            if (told.status != TW_OK) expect_failure(told, victim, {"restart.nc"});
        };
        for (const char* kind : {"eio", "enospc"})
            every_call(
                "writing a restart", "restart.nc", kind, [] {},
                [&](int victim) {
                    const Outcome told = alike(write_one(generation + 1));
                    judge(told, victim);
                    if (told.status == TW_OK) ++generation;
                    expect_one(generation);
                });
        every_call(
            "reading a restart", "restart.nc", "read-eio", [] {},
            [&](int victim) {
                judge(alike(tw_restart_read(restart, at.c_str(), nullptr)), victim);
                expect_one(generation);
            });
        ok(tw_restart_free(&restart));
    }

    long every_, faults_ = 0;
    long calls_ = 0;  ///< number of counted calls of the victim in the last run
    long fired_ = 0;  ///< number of these calls that failed
    std::string folder_, what_ = "without faults";
    tw_session session_ = nullptr;
    tw_file file_ = nullptr;
    tw_decomposition grid_ = nullptr;
    std::int64_t start_[2] = {0, 0}, count_[2] = {0, nx};
    std::vector<int> array_;
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 20);
    const std::string settings = check::option(argc, argv, "--settings", "");
    const std::string grow = check::option(argc, argv, "--grow", "");
    const std::string left = check::option(argc, argv, "--look", "");
    const long every = std::atol(check::option(argc, argv, "--every", "1").c_str());
    if (!left.empty()) {
        std::int64_t committed = records;
        std::ifstream(left + ".committed") >> committed;
        const std::string wrong = look(left, std::max(committed, records));
        CHECK_TEXT(wrong.empty(), "{}: {}", left, wrong);
    } else if (!grow.empty()) {
        Program(settings, every)
            .grow(grow, check::option(argc, argv, "--at", "1"),
                  check::option(argc, argv, "--created", ""));
    } else {
        Program(settings, every).go();
    }
    return check::verdict("reading");
}
