// SPDX-License-Identifier: Apache-2.0
#include "simulation/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "session/begin.hpp"
#include "simulation/disk.hpp"
#include "simulation/scheduler.hpp"
#include "support/threads.hpp"

namespace simulation {

namespace {

using namespace thalweg::detail;

/// A number of scheduler steps that no run needs.
constexpr std::int64_t most_steps = 2000000;

Report* report_of_run = nullptr;

[[noreturn]] void leave_process(Exit exit) {
    report_of_run->steps = scheduler->steps();
    report_of_run->hash = scheduler->hash();
    report_of_run->failed = disk.failed;
    _exit(static_cast<int>(exit));
}

void complain(const std::string& text) {
    if (report_of_run->wrong[0] != '\0') return;
    std::snprintf(report_of_run->wrong, sizeof report_of_run->wrong, "%s", text.c_str());
}

/// Collects the results of collective calls, which must be the same on all ranks.
class Results {
public:
    explicit Results(int ranks) : ranks_(ranks) {}

    /// @return true if the call has returned TW_OK on all ranks
    bool add(const std::string& call, int rank, tw_status code, const char* text) {
        const auto [first, is_new] = codes_.try_emplace(call, code);
        if (!is_new && first->second != code)
            complain(call + " returns " + std::to_string(code) + " on rank " +
                     std::to_string(rank) + ", but " + std::to_string(first->second) +
                     " on another: " + text);
        return ++returned_[call] == ranks_ && code == TW_OK;
    }

private:
    int ranks_;
    std::map<std::string, tw_status> codes_;
    std::map<std::string, int> returned_;
};

/// A rank of the model.
class Model {
public:
    Model(const Scenario& scenario, std::string path, tw_session session, Results& results)
        : is_(scenario), path_(std::move(path)), session_(session), results_(results) {
        rank_ = session->rank;
        const std::int64_t shape[2] = {is_.ny, is_.nx};
        const std::int64_t low = is_.ny * rank_ / is_.ranks;
        const std::int64_t start[2] = {low, 0};
        const std::int64_t count[2] = {is_.ny * (rank_ + 1) / is_.ranks - low, is_.nx};
        first_ = low * is_.nx;
        values_.resize(static_cast<std::size_t>(count[0] * count[1]));
        note("tw_decompose", tw_decompose(session_, "y x", 1, shape, start, count, &cells_), true);
    }

    void go() {
        Random random(mix(is_.seed, 5));  // the same on every rank
        if (!write(random, is_.file, 0, is_.steps)) return;
        if (is_.appended > 0) {
            report_of_run->reopened = true;
            if (!write(random, is_.file + "; mode=append", is_.steps, is_.steps + is_.appended))
                return;
        }
        if (is_.reads) read(random);
    }

private:
    /// Checks the result of a call.
    /// @param alike  the result must be the same on all ranks
    /// @return true if `alike` is true and the call has succeeded on all ranks; false also while it
    ///         has not returned on all of them
    bool note(const std::string& call, tw_status code, bool alike) {
        const char* const text = tw_error_message(session_);
        if (code != TW_OK) {
            const bool by_disk = (code == TW_EIO || code == TW_EFORMAT) && disk.failed > 0;
            if (!by_disk) complain(call + " returns " + tw_strerror(code) + ": " + text);
            const char* const words = strerror(disk.capacity >= 0 ? ENOSPC : disk.error);
            if (by_disk && std::strstr(text, words) == nullptr &&
                std::strstr(text, "HDF5") == nullptr)
                complain(call + " does not give the system's words: " + text);
        }
        return alike && results_.add(call, rank_, code, text);
    }

    bool write(Random& random, const std::string& settings, std::int64_t first, std::int64_t end) {
        tw_file file = nullptr;
        const std::string when = first == 0 ? "" : " (appending)";
        const bool appends = first > 0;
        tw_status code = appends ? tw_open(session_, path_.c_str(), settings.c_str(), &file)
                                 : tw_create(session_, path_.c_str(), settings.c_str(), &file);
        note("tw_create" + when, code, true);
        if (code != TW_OK) return false;
        code = tw_def_var(file, "T", TW_INT, "time y x", cells_);
        if (code == TW_OK) code = tw_def_var(file, "h", TW_INT, "y x", cells_);
        if (code != TW_OK) note("tw_def_var" + when, code, false);
        note("tw_enddef" + when, tw_enddef(file), true);
        for (std::int64_t r = first; r < end; ++r) step(file, r, random, appends);
        code = tw_close(&file);
        const bool all = note("tw_close" + when, code, true);
        if (all) promise(end);
        if (all) report_of_run->closed = true;
        if (code == TW_OK && end < is_.steps + is_.appended) report_of_run->closed = false;
        return code == TW_OK;
    }

    void step(tw_file file, std::int64_t r, Random& random, bool appends) {
        const std::string number = " " + std::to_string(r);
        put(file, "T", r);
        if (r == 0 && !appends) put(file, "h", -1);
        const tw_status ended = tw_end_step(file);
        note("tw_end_step" + number, ended, is_.inline_service);
        if (ended == TW_OK && is_.inline_service) promise(r + 1);
        if (!random.percent(30)) return;
        const int durable = random.percent(50) ? 1 : 0;
        const tw_status synced = tw_sync(file, durable);
        note("tw_sync" + number, synced, true);
        if (synced == TW_OK) promise(r + 1);
    }

    void put(tw_file file, const char* name, std::int64_t record) {
        for (std::size_t i = 0; i < values_.size(); ++i)
            values_[i] = value_of(record, first_ + static_cast<std::int64_t>(i));
        const tw_status code =
            tw_put(file, name, TW_INT, values_.data(), static_cast<std::int64_t>(values_.size()));
        if (code != TW_OK) note("tw_put", code, false);
    }

    /// Reads some records in any order. A call returns the values or an error.
    void read(Random& random) {
        tw_file file = nullptr;
        const char* const settings = random.percent(50) ? "" : "read_ahead=yes";
        tw_status code = tw_open(session_, path_.c_str(), settings, &file);
        note("tw_open", code, true);
        if (code != TW_OK) return;
        const std::int64_t records = is_.steps + is_.appended;
        for (int i = 0; i < 4; ++i) {
            const std::int64_t r = random.between(-1, records - 1);
            const std::string call = "tw_get " + std::to_string(i);
            std::fill(values_.begin(), values_.end(), -1);
            code = tw_get(file, r < 0 ? "h" : "T", cells_, r < 0 ? 0 : r, TW_INT, values_.data(),
                          static_cast<std::int64_t>(values_.size()));
            note(call, code, true);
            for (std::size_t k = 0; code == TW_OK && k < values_.size(); ++k)
                if (values_[k] != value_of(r, first_ + static_cast<std::int64_t>(k)))
                    return complain(call + " gives a wrong value of record " + std::to_string(r));
        }
        note("tw_close (reading)", tw_close(&file), true);
    }

    static void promise(std::int64_t records) {
        report_of_run->promised = std::max(report_of_run->promised, records);
    }

    const Scenario& is_;
    const std::string path_;
    tw_session session_;
    Results& results_;
    int rank_ = 0;
    std::int64_t first_ = 0;
    tw_decomposition cells_ = nullptr;
    std::vector<int> values_;
};

void run_rank(const Scenario& scenario, const std::string& path, std::unique_ptr<Comm> comm,
              Results& results) {
    const int rank = comm->rank();
    tw_session session = nullptr;
    const auto make_world = [&] { return std::move(comm); };
    const tw_status code = begin_session(
        &session, [&] { return start(rank, make_world, scenario.session.c_str(), session); });
    if (code != TW_OK) return complain(std::string("tw_init: ") + tw_error_message(session));
    if (session->is_server()) {
        Servers* const its = session->servers.get();
        Servers::serve({&its, 1}, nullptr);
    } else {
        Model(scenario, path, session, results).go();
    }
    const bool serves = session->is_server();
    const tw_status ended = tw_finalize(&session);
    if (ended != TW_OK && (serves || disk.failed == 0))
        complain(std::string("tw_finalize: ") + tw_strerror(ended));
}

/// Stops the rank that is to die, and ends the job some time later.
void on_step(const Scenario& s, std::int64_t step) {
    if (step > most_steps) {
        complain("the run does not end:\n" + scheduler->describe());
        leave_process(Exit::endless);
    }
    if (s.victim < 0 || step < s.dies_at) return;
    if (step >= s.ends_at) leave_process(Exit::killed);
    for (const auto& actor : scheduler->actors())
        if (actor->rank == s.victim) actor->dead = true;
}

void out_of_work() {
    const auto& all = scheduler->actors();
    if (std::any_of(all.begin(), all.end(), [](const auto& a) { return a->dead; }))
        leave_process(Exit::killed);
    complain("all threads wait:\n" + scheduler->describe());
    leave_process(Exit::hangs);
}

}  // namespace

int rank_to_start = -1, ranks_of_run = 0;

void end_job(const char* why) {
    complain(why);
    leave_process(Exit::aborted);
}

void run(const Scenario& scenario, const std::string& folder, Report& report) {
    report_of_run = &report;
    disk.folder = folder + "/";
    Scheduler made(mix(scenario.seed, 99), out_of_work);
    scheduler = &made;
    made.on_step = [&](std::int64_t step) { on_step(scenario, step); };
    ranks_of_run = scenario.all();
    auto group = std::make_shared<ThreadGroup>(scenario.all());
    Results results(scenario.ranks);
    std::vector<std::thread> ranks;
    for (int r = 0; r < scenario.all(); ++r) {
        rank_to_start = r;
        ranks.emplace_back([&, r] {
            run_rank(scenario, folder + "/a.nc", std::make_unique<ThreadComm>(group, r), results);
        });
    }
    rank_to_start = -1;
    made.run();
    for (std::thread& rank : ranks) rank.join();
    leave_process(Exit::finished);
}

}  // namespace simulation
