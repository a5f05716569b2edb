// Tests errors, and calls at unusual times.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "services.hpp"

namespace services {

void finalize_with_open_files() {
    for (const Service& s : all_services()) {
        std::vector<std::unique_ptr<History>> files;
        Model model(MPI_COMM_WORLD, "log=off; " + s.session);
        if (model) {
            for (int k = 0; k < 3; ++k) {
                files.push_back(std::make_unique<History>(
                    model, path_of("open_" + std::to_string(k) + ".nc"), s.file, 23, 41, k));
                files.back()->put("h", -1);
                for (int r = 0; r < 4; ++r) files.back()->step(r);
            }
            files[1]->put("T", 4);
        }
        model.end();
        if (model.rank == 0)
            for (int k = 0; k < 3; ++k) {
                const std::string wrong =
                    files[static_cast<std::size_t>(k)]->look(k == 1 ? 5 : 4, true);
                CHECK_TEXT(wrong.empty(), wrong);
            }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

void summary_meanwhile() {
    with_services([](Model& model, const std::string& settings) {
        History h(model, path_of("busy.nc"), settings + "; bandwidth=20MiB; piece=64KiB", 64, 1024);
        for (int r = 0; r < 10; ++r) {
            h.step(r);
            CHECK(model.figure("busy.nc", "steps") == r + 1);
        }
        if (std::freopen("/dev/null", "w", stdout) == nullptr) CHECK(false);
        const char* table = nullptr;
        CHECK(tw_summary(model.session, TW_SUMMARY_TABLE, &table) == TW_OK);
        h.close_and_look(10, false);
        CHECK(model.figure("busy.nc", "bytes") >= 10 * 64 * 1024 * 4);
    });
}

// Tests a close that fails while many data are not written yet.
void close_that_fails() {
    with_services([](Model& model, const std::string& settings) {
        History h(model, path_of("fails.nc"),
                  settings + "; bandwidth=5MiB; piece=16KiB; queue=1MiB", 64, 1024);
        for (int r = 0; r < 2; ++r) h.step(r);
        CHECK(tw_put_att(h.file, nullptr, "rank", TW_INT, 1, &model.rank) == TW_OK);
        h.close(model.size > 1 ? TW_EMISMATCH : TW_OK);
        // The session works as before.
        History other(model, path_of("after.nc"), settings);
        for (int r = 0; r < 3; ++r) other.step(r);
        other.close_and_look(3, false);
    });
}

// Tests a rank that is ahead until its queue is full, while the others are in a collective call.
void apart() {
    with_services([](Model& model, const std::string& settings) {
        if (model.size == 1) return;
        History h(model, path_of("apart.nc"), settings + "; queue=16KiB");
        const int ahead = model.size - 1;
        int steps = 0;
        if (model.rank == ahead) {
            int status = TW_OK;
            for (; status == TW_OK && steps < 1000; ++steps) {
                status = h.try_put("T", steps);
                if (status == TW_OK) status = tw_end_step(h.file);
            }
            --steps;
            CHECK_TEXT(status == TW_EMISMATCH, "step {}: {}", steps, tw_strerror(status));
        } else {
            const int status = tw_sync(h.file, 0);
            CHECK_TEXT(status == TW_EMISMATCH, tw_strerror(status));
        }
        CHECK_TEXT(model.error().find("different calls") != std::string::npos, model.error());
        // The others catch up.
        MPI_Bcast(&steps, 1, MPI_INT, ahead, model.comm);
        if (model.rank != ahead)
            for (int r = 0; r < steps; ++r) h.step(r);
        h.step(steps);
        h.close_and_look(static_cast<std::size_t>(steps) + 1, false);
    });
}

// Tests a variable that some rank has not put, but others have.
void missing() {
    with_services([](Model& model, const std::string& settings) {
        if (model.size == 1) return;
        History h(model, path_of("missing.nc"), settings);
        h.step(0);
        if (model.rank != 1) h.put("T", 1);
        int status = tw_end_step(h.file);
        CHECK_TEXT(status == TW_OK || status == TW_EMISSING, tw_strerror(status));
        status = tw_close(&h.file);
        CHECK_TEXT(status == TW_EMISSING, tw_strerror(status));
        CHECK_TEXT(model.error().find("'T' of record 1 was not put on rank 1") != std::string::npos,
                   model.error());
        CHECK(::access(path_of("missing.nc").c_str(), F_OK) != 0);
    });
}

}  // namespace services
