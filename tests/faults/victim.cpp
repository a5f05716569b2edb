// A small model for tests in which writes fail and ranks are killed.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: victim --folder ROOT [--settings "..."] [--steps N] [--plan FILE] [--keep-restarts]
//               [--look]
//
// It writes the files of files.hpp to ROOT/runs/INDEX, and logs the results of calls in
// ROOT/logs/INDEX: "FILE end_step|sync RECORDS FIXED...", "FILE closed RECORDS", "FILE failed
// TEXT". Without --plan there is one run, 0. Every line of a plan, "INDEX RANK AT KIND", is a run
// with one fault (see inject.c) on one rank; its result goes to ROOT/results, one line per run:
// INDEX, the counted calls of each rank, and the first call that failed, separated by tabs.
//
// After every call it checks that an error is returned as promised: with the file, the rank and the
// system's words, by collective calls on all ranks alike, and again by every later call on the
// file, while calls on other files succeed. A harmless fault (short, eintr, delay, none) must have
// no effect, and the files must be right (which --look checks for the run without a plan).

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../system/check.hpp"
#include "files.hpp"
#include "thalweg/thalweg.h"

namespace {

using namespace faults;

struct Options {
    std::string root, settings;
    int steps = 4;
    bool keep_restarts = false, look = false;
};

struct Fault {
    int index = 0;
    int rank = -1;
    std::string at, kind = "none";
    bool injected = false;  ///< the failure was made by the test's program, not by the preloaded
                            ///< library
    bool harmful() const { return kind == "eio" || kind == "enospc"; }
};

// ---- the library of faults, where it is loaded --------------------------------------------------

using Arm = void (*)(const char*, const char*, const char*);
using Calls = long (*)();
using Fired = long (*)(char*, std::size_t);

template <class F>
F injected(const char* name) {
    return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

// ---- one run ------------------------------------------------------------------------------------

/// An open output file, and what is expected of it.
struct Output {
    const FileKind* kind = nullptr;
    tw_file handle = nullptr;
    bool defining = true;
    bool failed = false;  ///< a call on this file has returned an error on this rank
    std::string text;     ///< text of that error
    std::int64_t records = 0;
    std::int64_t generation = 0;
    std::string fixed;  ///< names of the fixed-size variables that were put
};

class Run {
public:
    Run(const Options& options, Fault fault) : options_(options), fault_(std::move(fault)) {
        folder_ = options.root + "/runs/" + std::to_string(fault_.index);
        log_ = options.root + "/logs/" + std::to_string(fault_.index);
        // With other services, ranks do not wait for each other, so they may learn of errors at
        // different times.
        inline_ = options.settings.find("service=") == std::string::npos ||
                  options.settings.find("service=inline") != std::string::npos;
        if (fault_.kind == "eio") words_ = "Input/output error";
        if (fault_.kind == "enospc") words_ = "No space left on device";
    }

    void go() {
        if (check::state.rank == 0) ::mkdir(folder_.c_str(), 0777);
        MPI_Barrier(MPI_COMM_WORLD);
        if (fault_.injected) arm();
        check::step("{}: tw_init", title());
        const int status =
            tw_init(MPI_COMM_WORLD, ("log=off; " + options_.settings).c_str(), &session_);
        CHECK_TEXT(status == TW_OK, "{}: {}", title(), tw_error_message(session_));
        tw_role role = TW_MODEL;
        if (status == TW_OK) CHECK(tw_inq_role(session_, &role) == TW_OK);
        if (status == TW_OK && role == TW_MODEL) {
            be_model();
        } else {
            check::step("{}: tw_finalize of a server", title());
            tw_finalize(&session_);
        }
        check::step("{}: end", title());
        MPI_Barrier(MPI_COMM_WORLD);
        if (fault_.injected) report();
    }

private:
    std::string title() const {
        return check::text("run {} ({}, call {} of rank {}) [{}]", fault_.index, fault_.kind,
                           fault_.at, fault_.rank, options_.settings);
    }

    void arm() {
        const auto function = injected<Arm>("thalweg_fault_arm");
        if (function == nullptr) return;
        const bool here = fault_.rank == check::state.rank || fault_.rank < 0;
        function(folder_.c_str(), here ? fault_.at.c_str() : "", fault_.kind.c_str());
        MPI_Barrier(MPI_COMM_WORLD);
    }

    void report() {
        long calls = 0;
        char text[1000] = "";
        const auto function = injected<Calls>("thalweg_fault_calls");
        const auto fired = injected<Fired>("thalweg_fault_fired");
        if (function != nullptr) calls = function();
        if (fired != nullptr) fired(text, sizeof text);
        const auto all_calls = check::gather(std::to_string(calls));
        const auto all_texts = check::gather(text);
        if (check::state.rank != 0) return;
        std::string line = std::to_string(fault_.index) + "\t";
        for (const std::string& n : all_calls) line += n + " ";
        line += "\t";
        for (const std::string& t : all_texts)
            if (!t.empty()) {
                line += t;
                break;
            }
        append(options_.root + "/results", line);
    }

    static void append(const std::string& path, const std::string& line) {
        const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        const std::string whole = line + "\n";
        CHECK(::write(fd, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()));
        ::close(fd);
    }
    void note(const Output& o, const std::string& what) const {
        if (rank_ == 0) append(log_, std::string(o.kind->name) + " " + what);
    }

    // ---- the promises ----

    /// Checks the result of any call on a file.
    /// @return true if the call succeeded
    bool judge(Output& o, const char* call, int status, bool collective) {
        const std::string text = status == TW_OK ? "" : tw_error_message(session_);
        const std::string where = title() + ": " + call + " of " + o.kind->name;
        if (collective) {
            const auto all = check::gather(std::to_string(status) + " " + text);
            for (std::size_t r = 1; r < all.size(); ++r)
                if (all[r] != all[0] && rank_ == 0)
                    CHECK_TEXT(false, "{}: model rank 0 has '{}', {} has '{}'", where, all[0], r,
                               all[r]);
        }
        if (status == TW_OK) {
            CHECK_TEXT(!o.failed, "{} succeeded after the file had failed", where);
            return true;
        }
        if (o.failed && text == o.text) return false;
        CHECK_TEXT(!words_.empty(), "{}: {}", where, text);
        CHECK_TEXT(status == TW_EIO || status == TW_ENETCDF, "{} gave {}", where,
                   tw_strerror(status));
        std::vector<std::string> words{words_, o.kind->name, "rank "};
        if (fault_.rank >= 0) words[2] += std::to_string(fault_.rank);
        for (const std::string& word : words)
            CHECK_TEXT(text.find(word) != std::string::npos, "{}: the text lacks '{}': {}", where,
                       word, text);
        // If several ranks have errors, a rank may return its own first, and later the one that all
        // ranks return.
        if (o.failed)
            CHECK_TEXT(fault_.rank < 0, "{}: the first failure was '{}', now it is '{}'", where,
                       o.text, text);
        else
            note(o, "failed " + text);
        o.failed = true;
        o.text = text;
        return false;
    }

    void step(const Output& o, const char* call) const {
        check::step("{}: {} of {}, record {}", title(), call, o.kind->name, o.records);
    }

    // ---- the model's calls ----

    bool create(Output& o, const std::string& name, bool enddef) {
        step(o, "tw_create");
        const std::string path = folder_ + "/" + name;
        if (!judge(o, "tw_create", tw_create(session_, path.c_str(), nullptr, &o.handle), true))
            return false;
        for (const Field& f : o.kind->fields) {
            tw_decomposition d = decompositions_[static_cast<std::size_t>(f.spread)];
            if (f.scalar && f.record && tw_def_dim(o.handle, "time", TW_UNLIMITED) != TW_OK)
                CHECK(false);
            CHECK_TEXT(tw_def_var(o.handle, f.name, f.type, dims_of(f), d) == TW_OK,
                       tw_error_message(session_));
            CHECK(tw_put_att_text(o.handle, f.name, "long_name", f.name) == TW_OK);
        }
        if (!enddef) return true;
        step(o, "tw_enddef");
        o.defining = false;
        return judge(o, "tw_enddef", tw_enddef(o.handle), true);
    }

    void put(Output& o, std::size_t field, std::int64_t record) {
        const Field& f = o.kind->fields[field];
        step(o, "tw_put");
        const Values values = values_of(*o.kind, field, record, rank_, ranks_);
        // The first call ends define mode, which is collective.
        const bool collective = o.defining;
        o.defining = false;
        const int status = tw_put(o.handle, f.name, f.type, values.bytes.data(), values.n);
        judge(o, "tw_put", status, collective);
        if (!f.record) o.fixed += std::string(" ") + f.name;
    }
    void put_fixed(Output& o, int at, std::int64_t record) {
        for (std::size_t i = 0; o.handle != nullptr && i < o.kind->fields.size(); ++i)
            if (!o.kind->fields[i].record && o.kind->fields[i].put_at == at) put(o, i, record);
    }
    void put_records(Output& o) {
        for (std::size_t i = 0; o.handle != nullptr && i < o.kind->fields.size(); ++i)
            if (o.kind->fields[i].record) put(o, i, o.records);
    }

    void end_step(Output& o) {
        if (o.handle == nullptr) return;
        step(o, "tw_end_step");
        if (!judge(o, "tw_end_step", tw_end_step(o.handle), inline_)) return;
        ++o.records;
        note(o, "end_step " + std::to_string(o.records) + o.fixed);
    }
    void sync(Output& o, bool durable) {
        if (o.handle == nullptr) return;
        step(o, "tw_sync");
        if (judge(o, "tw_sync", tw_sync(o.handle, durable ? 1 : 0), true))
            note(o, "sync " + std::to_string(o.records) + o.fixed);
    }
    void close(Output& o) {
        if (o.handle == nullptr) return;
        step(o, "tw_close");
        const int status = tw_close(&o.handle);
        CHECK(o.handle == nullptr);
        if (judge(o, "tw_close", status, true)) closed(o);
    }
    void closed(Output& o) {
        const bool record = o.kind->fields.front().record;
        const std::int64_t n = record ? o.records : o.generation;
        note(o, "closed " + std::to_string(n));
        if (rank_ != 0 || !looking()) return;
        const std::string wrong = look(folder_ + "/" + file_name(o), *o.kind, n, ranks_);
        CHECK_TEXT(wrong.empty(), "{}: {}", title(), wrong);
    }

    bool looking() const {
        return fault_.injected ? !fault_.harmful() || fault_.rank < 0 : options_.look;
    }
    std::string file_name(const Output& o) const {
        if (!options_.keep_restarts || std::string(o.kind->name) != "restart.nc")
            return o.kind->name;
        return "restart." + std::to_string(o.generation) + ".nc";
    }

    void restart(std::int64_t generation) {
        Output o;
        o.kind = &kind_of("restart.nc");
        o.generation = generation;
        if (create(o, file_name(o), false)) put_fixed(o, 0, generation);
        close(o);
    }

    void be_model() {
        MPI_Comm own = MPI_COMM_NULL;
        CHECK(tw_model_comm(session_, &own) == TW_OK);
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(own, &comm);
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
        std::ofstream(options_.root + "/pids/" + std::to_string(check::state.rank) + ".model");
        check::use(comm);

        for (int i = 0; i < spreads; ++i) {
            const auto spread = static_cast<Spread>(i);
            tw_decomposition& d = decompositions_[static_cast<std::size_t>(i)];
            if (spread == Spread::everywhere) continue;
            const Held h = held(spread, rank_, ranks_);
            CHECK_TEXT(tw_decompose(session_, memory_dims(spread), h.any ? 1 : 0, h.shape.data(),
                                    h.start.data(), h.count.data(), &d) == TW_OK,
                       tw_error_message(session_));
        }

        Output history, sparse, fixed;
        history.kind = &kind_of("history.nc");
        sparse.kind = &kind_of("sparse.nc");
        fixed.kind = &kind_of("static.nc");
        create(history, "history.nc", true);
        create(sparse, "sparse.nc", false);
        create(fixed, "static.nc", false);
        for (int s = 0; s < options_.steps; ++s) {
            put_fixed(history, s, 0);
            put_records(history);
            put_records(sparse);
            end_step(sparse);
            put_fixed(fixed, s, 0);
            end_step(history);
            if (s % 2 == 0) restart(s / 2);
            if (s % 2 == 1) {
                sync(fixed, false);
                sync(history, s % 4 == 3);
            }
            if (s % 3 == 2) sync(sparse, true);
        }
        // The attribute fits into the free bytes after the header. Not done for netCDF-4 files,
        // because netCDF-C would crash if a write failed.
        if (history.handle != nullptr && options_.settings.find("netcdf4") == std::string::npos) {
            step(history, "tw_put_att");
            judge(history, "tw_put_att", tw_put_att_text(history.handle, "T", "end", "well"),
                  false);
        }
        close(history);
        close(sparse);
        // In some runs, the end of the session closes the file.
        if (fault_.index % 2 == 1) close(fixed);
        finalize(fixed);
        check::use(MPI_COMM_WORLD);
        MPI_Comm_free(&comm);
    }

    void finalize(Output& fixed) {
        check::step("{}: tw_finalize", title());
        const bool open = fixed.handle != nullptr;
        const int status = tw_finalize(&session_);
        CHECK(session_ == nullptr);
        const auto all = check::gather(std::to_string(status));
        for (const std::string& other : all)
            CHECK_TEXT(other == all[0], "{}: tw_finalize gave {} and {}", title(), all[0], other);
        if (!open) return;
        if (status == TW_OK) {
            CHECK_TEXT(!fixed.failed, "{}: tw_finalize is silent about '{}'", title(), fixed.text);
            closed(fixed);
        } else {
            CHECK_TEXT(!words_.empty() && (status == TW_EIO || status == TW_ENETCDF),
                       "{}: tw_finalize gave {}", title(), tw_strerror(status));
            if (!fixed.failed) note(fixed, "failed in tw_finalize");
        }
    }

    const Options& options_;
    Fault fault_;
    std::string folder_, log_;
    bool inline_ = true;  ///< with service inline, tw_end_step returns the same status on all ranks
    std::string words_;   ///< words that the text of errors must contain; "": there must be no
                          ///< errors
    tw_session session_ = nullptr;
    int rank_ = 0, ranks_ = 1;  ///< rank and number of ranks in the model's communicator
    std::array<tw_decomposition, spreads> decompositions_{};
};

std::vector<Fault> read_plan(const std::string& path) {
    std::vector<Fault> plan;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        Fault fault;
        if (!(words >> fault.index >> fault.rank >> fault.at >> fault.kind)) continue;
        fault.injected = true;
        plan.push_back(fault);
    }
    return plan;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 30);
    Options options;
    options.root = check::option(argc, argv, "--folder", ".");
    options.settings = check::option(argc, argv, "--settings", "");
    options.steps = std::atoi(check::option(argc, argv, "--steps", "4").c_str());
    options.keep_restarts = check::has_flag(argc, argv, "--keep-restarts");
    options.look = check::has_flag(argc, argv, "--look");
    if (check::state.rank == 0)
        for (const char* folder : {"/runs", "/logs", "/pids"})
            ::mkdir((options.root + folder).c_str(), 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    // Tell the parent which process to kill. ".model" marks model ranks, as opposed to servers.
    std::ofstream(options.root + "/pids/" + std::to_string(check::state.rank)) << ::getpid();
    const std::string plan = check::option(argc, argv, "--plan", "");
    if (plan.empty()) {
        Run(options, {}).go();
    } else {
        for (const Fault& fault : read_plan(plan)) Run(options, fault).go();
        if (injected<Arm>("thalweg_fault_arm") == nullptr)
            CHECK_TEXT(false, "a plan needs the library of faults (LD_PRELOAD)");
    }
    return check::verdict("victim");
}
