// Tests working folders that differ between ranks and change.
//
// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "names.hpp"

namespace names {

namespace {

/// Writes two records while the working folder of each rank changes.
/// @param again  true: the second record continues a file of the first
void write_elsewhere(const Kind& kind, const std::string& settings, bool again = false) {
    check::step("{}; {}", kind.session, settings);
    make_folders();
    go("here");
    Model model(kind.session);
    if (!model) return;
    tw_file file = nullptr;
    if (again) {
        OK(tw_create(session, "out.nc", nullptr, &file));
        model.define(file);
        model.step(file, 0);
        OK(tw_close(&file));
        OK(tw_open(session, "out.nc", ("mode=append; " + settings).c_str(), &file));
    } else {
        OK(tw_create(session, "out.nc", settings.c_str(), &file));
    }
    go("away");
    model.define(file);
    OK(tw_enddef(file));
    go("far");
    for (int record = again ? 1 : 0; record < 2; ++record) model.step(file, record);
    go("away");
    OK(tw_put_att_text(file, "", "title", "a late attribute"));
    OK(tw_close(&file));
    go("here");
    model.look("out.nc", 2);
}

}  // namespace

void folders() {
    for (const Kind& kind : kinds())
        for (const std::string publish : {"; publish=close", "; publish=live"}) {
            write_elsewhere(kind, kind.file + publish);
            only_here("out.nc");
        }
}

void sets_of_files() {
    for (const Kind& kind : kinds()) {
        if (kind.file.find("pnetcdf") != std::string::npos) continue;
        if (kind.file.find("direct") != std::string::npos) continue;
        const bool one = !kind.session.empty() || check::state.size == 1;
        write_elsewhere(kind, kind.file + "; writers=auto; method=tiles; files=tiles; tiles=1x" +
                                  (one ? "1" : "2"));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank == 0) {
            const std::string names = list(mine("here"));
            CHECK_TEXT(names == (one ? "out.nc.0000" : "out.nc.0000 out.nc.0001"), names);
            for (const char* name : {"out.nc.0000", "out.nc.0001"})
                fs::remove(mine("here") + "/" + name);
        }
        only_here("");
    }
}

void appended() {
    for (const Kind& kind : kinds()) {
        if (kind.file.find("netcdf4") != std::string::npos) continue;
        write_elsewhere(kind, kind.file, true);
        only_here("out.nc");
    }
}

void restarts() {
    check::step("restarts");
    make_folders();
    go("here");
    {
        Model model("");
        tw_restart restart = nullptr;
        std::vector<double> data = model.values(3);
        const auto n = static_cast<std::int64_t>(data.size());
        OK(tw_restart_new(session, nullptr, &restart));
        OK(tw_restart_add(restart, "h", TW_DOUBLE, "y x", model.d, data.data(), n, TW_REQUIRED));
        OK(tw_restart_write(restart, "restart.nc"));
        const std::vector<double> before = data;
        std::fill(data.begin(), data.end(), 0.0);
        OK(tw_restart_read(restart, "restart.nc", nullptr));
        CHECK(data == before);
        OK(tw_restart_free(&restart));
    }
    only_here("restart.nc restart.nc.sums");
}

void settings() {
    check::step("paths in settings");
    make_folders();
    go("here");
    if (check::state.rank == 0) std::ofstream("settings.toml") << "header_pad = \"64KiB\"\n";
    MPI_Barrier(MPI_COMM_WORLD);
    {
        Model model("config=settings.toml; summary=summary.json");
        tw_file file = nullptr;
        OK(tw_create(session, "out.nc", nullptr, &file));
        model.define(file);
        OK(tw_enddef(file));
        go("away");
        model.step(file, 0);
        OK(tw_close(&file));
        go("far");
    }
    if (check::state.rank == 0) {
        CHECK(fs::file_size(mine("here") + "/out.nc") > 64 << 10);
        CHECK(fs::file_size(mine("here") + "/summary.json") > 100);
    }
    only_here("out.nc settings.toml summary.json");
    // Two spellings of the same path count as different paths.
    Model model("");
    if (check::state.size > 1) {
        tw_file file = nullptr;
        const int code =
            tw_create(session, check::state.rank == 1 ? "./b.nc" : "b.nc", nullptr, &file);
        CHECK_TEXT(code == TW_EMISMATCH, "{}", code);
        // Rank 0 takes back what it has claimed before the ranks agree, also if another rank passes
        // other settings or an argument that is wrong.
        const bool other = check::state.rank == 1;
        CHECK(tw_create(session, "c.nc", other ? "format=cdf2" : "", &file) == TW_EMISMATCH);
        CHECK(tw_create(session, "d.nc", "", other ? nullptr : &file) == TW_EARG);
        only_here("out.nc settings.toml summary.json");
        OK(tw_create(session, "c.nc", "", &file));
        OK(tw_close(&file));
    }
}

}  // namespace names
