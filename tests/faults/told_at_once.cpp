// Tests that, with service inline, the call in which a system call fails returns the error on all
// ranks alike, even if only counting the records has failed.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: told_at_once [--settings "..."] [--netcdf4]
// With the library of faults preloaded (inject.c).

#include <dlfcn.h>
#include <mpi.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string root;

template <class F>
F injected(const char* name) {
    const auto function = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    CHECK_TEXT(function != nullptr, "the library of faults is not loaded (LD_PRELOAD)");
    if (function == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
    return function;
}

void arm(const char* path, const char* at, const char* kind) {
    injected<void (*)(const char*, const char*, const char*)>("thalweg_fault_arm")(path, at, kind);
}

/// Returns the first call that was made to fail on this rank; empty if there is none.
std::string fired() {
    char text[1000] = "";
    (void)injected<long (*)(char*, std::size_t)>("thalweg_fault_fired")(text, sizeof text);
    for (const std::string& its : check::gather(text))
        if (!its.empty()) return its;
    return "";
}

/// Tests if a failed call does no harm: the close of a temporary file that is not read again.
bool harmless(const std::string& fault) {
    return fault.starts_with("close") && fault.ends_with("(deleted)");
}

/// Runs a model in which counted call number `at` fails on rank `faulty`; -1: on every rank.
class Run {
public:
    Run(std::string settings, bool by_records, int faulty, int at)
        : name_(check::text("{}; {}; call {} of rank {}", settings,
                            by_records ? "tw_put_record" : "tw_put", at, faulty)),
          settings_("log=off; service=inline; " + settings),
          by_records_(by_records),
          faulty_(faulty),
          at_(at) {}

    /// @return true if a call was made to fail
    bool go() {
        if (check::state.rank == 0) {
            std::filesystem::remove_all(root + "/run");
            ::mkdir((root + "/run").c_str(), 0777);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const bool here = faulty_ < 0 || faulty_ == check::state.rank;
        arm((root + "/run").c_str(), here ? std::to_string(at_).c_str() : "", "eio");
        MPI_Barrier(MPI_COMM_WORLD);
        step("tw_init");
        CHECK_TEXT(tw_init(MPI_COMM_WORLD, settings_.c_str(), &session_) == TW_OK, "{}: {}", name_,
                   tw_error_message(session_));
        write();
        CHECK(tw_finalize(&session_) == TW_OK);
        const bool reached = !fired().empty();
        arm("", "", "none");
        return reached;
    }

private:
    void step(const char* call) const { check::step("{}: {}", name_, call); }

    /// Checks the status of a collective call.
    void judge(const char* call, int status) {
        const std::string text = status == TW_OK ? "" : tw_error_message(session_);
        const auto all = check::gather(std::to_string(status) + ": " + text);
        for (const std::string& other : all)
            CHECK_TEXT(other == all[0], "{}: {} gave '{}' and '{}'", name_, call, all[0], other);
        std::string fault = fired();
        if (harmless(fault)) fault.clear();
        CHECK_TEXT((status != TW_OK) == !fault.empty(), "{}: {} gave {}; what has failed: {}",
                   name_, call, tw_strerror(status), fault);
        if (status == TW_OK) return;
        CHECK_TEXT(text.find("Input/output error") != std::string::npos &&
                       text.find("out.nc") != std::string::npos &&
                       (check::state.size == 1 || text.find("rank ") != std::string::npos),
                   "{}: {}: {}", name_, call, text);
        if (text_.empty()) text_ = text;
        CHECK_TEXT(text == text_, "{}: {}: first '{}', then '{}'", name_, call, text_, text);
    }

    void write() {
        const std::int64_t n = 24, ny = 16, share = ny / check::state.size;
        const std::int64_t shape[] = {ny, n}, start[] = {check::state.rank * share, 0};
        const bool last = check::state.rank + 1 == check::state.size;
        const std::int64_t count[] = {last ? ny - start[0] : share, n};
        tw_decomposition cells = nullptr;
        CHECK(tw_decompose(session_, "y x", 1, shape, start, count, &cells) == TW_OK);
        const std::vector<double> values(static_cast<std::size_t>(count[0] * count[1]), 7.5);
        const auto size = static_cast<std::int64_t>(values.size());
        step("tw_create");
        tw_file f = nullptr;
        judge("tw_create", tw_create(session_, (root + "/run/out.nc").c_str(), nullptr, &f));
        if (f == nullptr) return;
        CHECK(tw_def_var(f, "v", TW_DOUBLE, "time y x", cells) == TW_OK);
        CHECK(tw_def_var(f, "w", TW_FLOAT, "time y x", cells) == TW_OK);
        CHECK(tw_def_var(f, "mask", TW_INT, "y x", cells) == TW_OK);
        step("tw_enddef");
        judge("tw_enddef", tw_enddef(f));
        for (int record = 0; record < 3; ++record) {
            for (const char* name : {"v", "w", "mask"}) {
                if (record != 1 && name == std::string("mask")) continue;
                const bool by_record = by_records_ && name != std::string("mask");
                const int status = by_record ? tw_put_record(f, name, cells, record, TW_DOUBLE,
                                                             values.data(), size)
                                             : tw_put(f, name, TW_DOUBLE, values.data(), size);
                // A put makes no system call, so it fails only if the file has failed before, on
                // all ranks.
                CHECK_TEXT((status == TW_OK) == text_.empty(), "{}: tw_put gave {}", name_,
                           tw_strerror(status));
            }
            step("tw_end_step");
            judge("tw_end_step", tw_end_step(f));
            if (record != 1) continue;
            step("tw_sync");
            judge("tw_sync", tw_sync(f, 1));
        }
        step("tw_close");
        judge("tw_close", tw_close(&f));
    }

    std::string name_, settings_;
    bool by_records_;
    int faulty_, at_;
    tw_session session_ = nullptr;
    std::string text_;  ///< text of the error
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    root = check::make_folder("told_at_once");
    std::vector<std::string> sets{"method=record", "method=record; durable=yes; node_size=2",
                                  // The header writer, which counts the records, is not the first
                                  // rank of its node.
                                  "method=record; writers=1:1; node_size=3",
                                  "method=record; writers=1:1", "method=direct; node_size=2",
                                  "method=slabs; files=variable"};
    // The writer of each tile counts the records of its file.
    if (check::state.size % 2 == 0) sets.push_back("method=tiles; tiles=1x2; files=tiles");
    if (check::has_flag(argc, argv, "--netcdf4")) {
        sets.emplace_back("format=netcdf4; node_size=2");
        sets.emplace_back("format=netcdf4; deflate=1; writers=2");
    }
    const std::string only = check::option(argc, argv, "--settings", "");
    if (!only.empty()) sets = {only};
    for (const std::string& set : sets) {
        if (check::state.size == 1 && set.find("writers=1:1") != std::string::npos) continue;
        for (const bool by_records : {false, true}) {
            if (by_records && set.find("files=tiles") != std::string::npos) continue;
            for (int faulty = -1; faulty < check::state.size; ++faulty)
                for (int at = 1; Run(set, by_records, faulty, at).go(); ++at) {
                }
        }
    }
    return check::verdict("told_at_once");
}
