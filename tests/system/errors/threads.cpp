// Tests threads: they may each use a session at the same time; two threads in one session get an
// error, and no rank waits forever.
//
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <functional>
#include <thread>

#include "system/check.hpp"
#include "system/look.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t columns = 37;

float value_of(int salt, std::int64_t record, std::int64_t at) {
    return static_cast<float>(salt * 1000 + record * 100 + at % 97);
}

struct Writer {
    tw_session session = nullptr;
    tw_file file = nullptr;
    std::vector<float> values;
    int salt = 0, rank = 0, size = 1, status = TW_OK;

    bool all_well(int code) {
        if (status == TW_OK) status = code;
        return status == TW_OK;
    }
    void create(const std::string& path, const std::string& settings) {
        const std::int64_t shape[] = {size, columns}, start[] = {rank, 0}, count[] = {1, columns};
        tw_decomposition row = nullptr;
        if (!all_well(tw_decompose(session, "y x", 1, shape, start, count, &row))) return;
        if (!all_well(tw_create(session, path.c_str(), settings.c_str(), &file))) return;
        all_well(tw_def_var(file, "T", TW_FLOAT, "time y x", row));
        all_well(tw_def_var(file, "h", TW_FLOAT, "y x", row));
        values.resize(columns);
    }
    int step(int record) {
        for (std::int64_t i = 0; i < columns; ++i)
            values[static_cast<std::size_t>(i)] = value_of(salt, record, rank * columns + i);
        const int put = tw_put(file, "T", TW_FLOAT, values.data(), columns);
        return put == TW_OK ? tw_end_step(file) : put;
    }
};

// Tests threads that each have their own session on their own communicator.
void sessions(const std::string& folder) {
    constexpr int threads = 3, files = 3, records = 4;
    const char* const settings[] = {"", "format=netcdf4; deflate=1", "service=background"};
    std::vector<MPI_Comm> comms(threads);
    for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<std::thread> running;
    std::vector<std::string> wrong(threads);
    check::step("sessions in threads");
    for (int t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            Writer w;
            w.salt = t;
            MPI_Comm_rank(comms[static_cast<std::size_t>(t)], &w.rank);
            MPI_Comm_size(comms[static_cast<std::size_t>(t)], &w.size);
            w.all_well(tw_init(comms[static_cast<std::size_t>(t)], "log=off", &w.session));
            for (int n = 0; n < files && w.status == TW_OK; ++n) {
                const std::string path =
                    folder + "/" + std::to_string(t) + "_" + std::to_string(n) + ".nc";
                w.create(path, settings[(t + n) % 3]);
                for (int r = 0; r < records && w.status == TW_OK; ++r) w.all_well(w.step(r));
                if (w.status == TW_OK) w.all_well(tw_close(&w.file));
            }
            if (w.status != TW_OK) wrong[static_cast<std::size_t>(t)] = tw_error_message(w.session);
            tw_finalize(&w.session);
        });
    for (std::thread& thread : running) thread.join();
    for (const std::string& text : wrong) CHECK_TEXT(text.empty(), text);
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int t = 0; t < threads && check::state.rank == 0; ++t)
        for (int n = 0; n < files; ++n) {
            const std::string path =
                folder + "/" + std::to_string(t) + "_" + std::to_string(n) + ".nc";
            const std::string found =
                look_at(path, check::state.size, columns, records, false,
                        [t](std::int64_t r, std::int64_t at) { return value_of(t, r, at); });
            CHECK_TEXT(found.empty(), "{}: {}", path, found);
        }
}

// Tests two threads that use one session. While one of them waits for other ranks, the other one
// must be refused, and all ranks must get an error.
void one_session(const std::string& folder) {
    Writer w;
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.size);
    if (w.size < 2) return;
    CHECK(tw_init(MPI_COMM_WORLD, "log=off", &w.session) == TW_OK);
    w.create(folder + "/one.nc", "");
    CHECK_TEXT(w.status == TW_OK && tw_enddef(w.file) == TW_OK, tw_error_message(w.session));
    check::step("two threads of one session");
    std::atomic<int> refused{-1};
    std::string text;
    if (w.rank == 0) {
        std::thread first([&] { CHECK(w.step(0) == TW_OK); });
        usleep(100'000);  // give the other thread time to wait for the other ranks
        const char* json = nullptr;
        refused = tw_summary(w.session, TW_SUMMARY_JSON, &json);
        text = tw_error_message(w.session);
        CHECK_TEXT(refused == TW_ESTATE, tw_strerror(refused));
        CHECK_TEXT(text.find("tw_summary was called while another thread") != std::string::npos,
                   text);
        // Objects that the first thread uses stay valid, and no handle is lost.
        tw_session session = w.session;
        tw_file file = w.file;
        CHECK(tw_close(&file) == TW_ESTATE && file == w.file);
        CHECK(tw_finalize(&session) == TW_ESTATE && session == w.session);
        CHECK(tw_abandon(&session) == TW_ESTATE && session == w.session);
        MPI_Barrier(MPI_COMM_WORLD);
        first.join();
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(w.step(0) == TW_OK);
    }
    // The other ranks make the call that was refused on rank 0. All get an error from the next
    // call.
    check::step("the call that was refused on rank 0");
    const char* json = nullptr;
    const int status = tw_summary(w.session, TW_SUMMARY_JSON, &json);
    const std::string all = tw_error_message(w.session);
    CHECK_TEXT(status == TW_ESTATE && all.find("(rank 0)") != std::string::npos, "{}: {}",
               tw_strerror(status), all);
    CHECK(tw_summary(w.session, TW_SUMMARY_JSON, &json) == TW_OK);
    CHECK(w.step(1) == TW_OK);
    CHECK_TEXT(tw_close(&w.file) == TW_OK, tw_error_message(w.session));
    CHECK(tw_finalize(&w.session) == TW_OK);
}

// Tests that a session does not change the environment, because other threads may read it at any
// time.
void environment_stays() {
    const auto all = [] {
        std::vector<std::string> entries;
        for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
        return entries;
    };
    char** const where = environ;
    const std::vector<std::string> before = all();
    tw_session session = nullptr;
    CHECK(tw_init(MPI_COMM_WORLD, "log=off", &session) == TW_OK);
    CHECK(environ == where);
    const std::vector<std::string> after = all();
    CHECK_TEXT(after == before, after.empty() ? "" : after.back());
    CHECK(tw_finalize(&session) == TW_OK);
}

// Tests that a call without a handle does not return the text of an earlier error.
void no_handles() {
    tw_session session = nullptr;
    tw_file file = nullptr;
    CHECK(tw_init(MPI_COMM_WORLD, "log=off", &session) == TW_OK);
    CHECK(tw_create(session, "nowhere/at all/a.nc", nullptr, &file) == TW_EIO);
    // A variable without a valid handle is refused, whatever its memory contains.
    int anything = 0;
    file = reinterpret_cast<tw_file>(&anything);
    CHECK(tw_create(nullptr, "a.nc", nullptr, &file) == TW_EHANDLE && file == nullptr);
    file = reinterpret_cast<tw_file>(&anything);
    CHECK(tw_open(nullptr, "a.nc", nullptr, &file) == TW_EHANDLE && file == nullptr);
    auto cells = reinterpret_cast<tw_decomposition>(&anything);
    CHECK(tw_decompose(nullptr, "x", 0, nullptr, nullptr, nullptr, &cells) == TW_EHANDLE &&
          cells == nullptr);
    auto restart = reinterpret_cast<tw_restart>(&anything);
    CHECK(tw_restart_new(nullptr, nullptr, &restart) == TW_EHANDLE && restart == nullptr);
    CHECK(tw_create(session, "nowhere/at all/a.nc", nullptr, &file) == TW_EIO);
    CHECK(tw_end_step(file) == TW_EHANDLE);
    const std::string text = tw_error_message(session);
    CHECK_TEXT(text.find("tw_end_step") == 0 && text.find("nowhere") == std::string::npos, text);
    const char* json = nullptr;
    CHECK(tw_summary(nullptr, TW_SUMMARY_JSON, &json) == TW_EHANDLE);
    CHECK(std::string(tw_error_message(nullptr)).find("tw_summary") == 0);
    CHECK(tw_summary(session, TW_SUMMARY_JSON, &json) == TW_OK);
    CHECK(tw_finalize(&session) == TW_OK);
}

}  // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    check::begin(&argc, &argv, 30, MPI_THREAD_MULTIPLE, &level);
    const std::string folder = check::make_folder("threads");
    environment_stays();
    no_handles();
    if (level == MPI_THREAD_MULTIPLE) {
        one_session(folder);
        sessions(folder);
    } else if (check::state.rank == 0) {
        check::print("MPI has no MPI_THREAD_MULTIPLE");
    }
    return check::verdict("threads");
}
