// Tests services as programs use them: several components and sessions, files of different services
// at the same time, and the choice of servers.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: services [--only NAME]

#include "services.hpp"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>

namespace services {

// Tests two components that work at the same time, each with its own session.
void components() {
    const int half = (check::state.size + 1) / 2;
    const bool first = check::state.rank < half;
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, first ? 0 : 1, check::state.rank, &part);
    int size = 0;
    MPI_Comm_size(part, &size);
    const std::string name = first ? "atmosphere" : "ocean";
    if (size > 0) {
        const bool servers = size > 1;
        Model model(part, servers ? "servers=1" : "");
        if (model) {
            History a(model, path_of(name + ".nc"), "service=auto", 23, 41, first ? 1 : 2);
            History b(model, path_of(name + "_2.nc"), "service=background", 29, 17, 3);
            a.put("h", -1);
            for (int r = 0; r < 20; ++r) {
                a.step(r);
                b.step(r);
            }
            const std::string wanted = servers ? "servers" : "inline";  // too little time
                                                                        // for the background
            CHECK(model.entry(name + ".nc", "service") == "\"" + wanted + "\"");
            a.close_and_look(20, true);
            b.close_and_look(20, false);
        }
        model.end();
    }
    MPI_Comm_free(&part);
}

// Tests that a rank can be a server in one session and a model rank in the next.
void sessions_in_turn() {
    for (int k = 0; k < 3; ++k) {
        std::string settings;
        if (k != 1 && check::state.size > 1) settings = "servers=1";
        if (k == 2 && check::state.size > 2) settings = "servers=2:last";
        Model model(MPI_COMM_WORLD, settings);
        if (model) {
            History h(model, path_of("turn.nc"), "service=auto", 23, 41, k);
            h.put("h", -1);
            for (int r = 0; r < 3 + k; ++r) h.step(r);
            h.close_and_look(3 + static_cast<std::size_t>(k), true);
        }
        model.end();
    }
}

void idle_servers() {
    if (check::state.size < 2) return;
    {
        Model model(MPI_COMM_WORLD, "servers=1");
        model.end();
    }
    {
        Model model(MPI_COMM_WORLD, "servers=1");
        if (model) {
            History h(model, path_of("inline.nc"), "service=inline");
            for (int r = 0; r < 3; ++r) h.step(r);
            h.close_and_look(3, false);
        }
        model.end();
    }
}

// Repeatedly writes a history file in the background and a restart file in the model's calls.
void history_and_restart() {
    with_services([](Model& model, const std::string& settings) {
        History history(model, path_of("history.nc"), settings, 64, 64, 1);
        for (int day = 0; day < 4; ++day) {
            for (int r = 0; r < 3; ++r) history.step(3 * day + r);
            History restart(model, path_of("restart.nc"), "service=inline", 64, 64, 100 + day);
            restart.put("h", -1);
            restart.step(0);
            restart.close_and_look(1, true);
        }
        history.put("h", -1);
        history.close_and_look(12, true);
    });
}

void choices() {
    const auto chosen = [](const std::string& session, const std::string& file,
                           const std::string& wanted, const std::string& why = "") {
        Model model(MPI_COMM_WORLD, "log=off; " + session);
        if (model) {
            History h(model, path_of("choice.nc"), file);
            for (int r = 0; r < 2; ++r) h.step(r);
            const std::string got = model.entry("choice.nc", "service");
            CHECK_TEXT(got == "\"" + wanted + "\"", "%s; %s: service %s, not %s", session.c_str(),
                       file.c_str(), got.c_str(), wanted.c_str());
            const std::string reason = model.entry("choice.nc", "service_reason");
            CHECK_TEXT(reason.find(why) != std::string::npos, "%s; %s: %s, not %s", session.c_str(),
                       file.c_str(), reason.c_str(), why.c_str());
            h.close_and_look(2, false);
        }
        model.end();
    };
    const std::string at_once = automatic();
    chosen("", "", "inline", "free processors on ");
    chosen("", "service=inline", "inline");
    chosen("service=auto", "close=later", at_once, "free processors on ");
    const auto chosen_after = [&](const char* steps, const char* settings, const char* service,
                                  const char* why) {
        setenv("THALWEG_TEST_BACKGROUND_AFTER", steps, 1);
        chosen("", settings, service, why);
        unsetenv("THALWEG_TEST_BACKGROUND_AFTER");
    };
    chosen_after("0", "", "background", "after 0 steps");
    chosen_after("1", "", "background", "after 1 steps");
    chosen_after("3", "", "inline", "after 3 steps");
    chosen_after("1", "staging=64", "inline", "do not fit into the queue");
    chosen("", "service=servers", "inline", "no ranks are set aside as servers");
    chosen("", "service=auto; method=direct", "inline", "every rank writes from its own arrays");
    if (THALWEG_TEST_PNETCDF) chosen("", "service=background; storage=pnetcdf", "inline");
    if (check::state.size < 2) return;
    chosen("servers=1", "", "servers", "ranks are set aside as servers");
    chosen("servers=1", "service=inline", "inline");
    chosen("servers=1", "service=background", "background");
    chosen("servers=1", "service=auto; method=direct", "inline");
    if (THALWEG_TEST_PNETCDF) chosen("servers=1", "service=servers; storage=pnetcdf", "inline");
}

// Tests servers=auto, which makes one server here if there are enough ranks.
void automatic_servers() {
    const int ranks = check::state.size;
    const auto serving = [&](const std::string& settings, int wanted, const std::string& why) {
        Model model(MPI_COMM_WORLD, "log=off; service=auto; servers=auto; " + settings);
        if (model) {
            CHECK_TEXT(ranks - model.size == wanted, "%s: %d servers, not %d", settings.c_str(),
                       ranks - model.size, wanted);
            History h(model, path_of("servers.nc"), "");
            for (int r = 0; r < 2; ++r) h.step(r);
            const char* summary = "";
            CHECK(tw_summary(model.session, TW_SUMMARY_JSON, &summary) == TW_OK);
            CHECK_TEXT(std::string(summary).find(why) != std::string::npos, "%s: no '%s' in %s",
                       settings.c_str(), why.c_str(), summary);
            h.close_and_look(2, false);
        }
        model.end();
    };
    serving("", ranks > 1 ? 1 : 0, "servers_reason");
    serving("node_size=1", ranks > 1 ? 1 : 0,
            ranks > 1 ? "at most one rank of 16" : "the session has one rank");
    MPI_Barrier(MPI_COMM_WORLD);
}

// Tests ranks that are bound to one processor each, or models whose threads use all processors: no
// processor is free for a thread of the library.
void processors() {
    cpu_set_t before, one;
    CPU_ZERO(&before);
    sched_getaffinity(0, sizeof before, &before);
    const auto is = [](const std::string& wanted, const std::string& why) {
        Model model(MPI_COMM_WORLD, "log=off");
        if (model) {
            History h(model, path_of("processors.nc"), "close=later");
            for (int r = 0; r < 2; ++r) h.step(r);
            CHECK(model.entry("processors.nc", "service") == "\"" + wanted + "\"");
            const std::string reason = model.entry("processors.nc", "service_reason");
            CHECK_TEXT(reason.find(why) != std::string::npos, "%s", reason.c_str());
            h.close_and_look(2, false);
        }
        model.end();
    };
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    is("inline", "bound to the processors on which they compute");
    sched_setaffinity(0, sizeof before, &before);
    is(automatic(),
       automatic() == "inline" ? "free processors on a node: 0" : "free processors on each node");
    setenv("OMP_NUM_THREADS", std::to_string(CPU_COUNT(&before)).c_str(), 1);
    is("inline", "processors");
    unsetenv("OMP_NUM_THREADS");
}

// Tests that the cost of outputs decides: if they take long to write while the model computes, the
// file moves to the background. A later file of the session is written there from its first step
// on.
void background_that_pays() {
    if (automatic() != "background") return;
    const auto is = [](Model& model, const char* file, const std::string& wanted) {
        const std::string got = model.entry(file, "service");
        CHECK_TEXT(got == "\"" + wanted + "\"", "%s: %s: %s", file, got.c_str(),
                   model.entry(file, "service_reason").c_str());
    };
    for (const useconds_t computing : {0, 50000}) {
        Model model(MPI_COMM_WORLD, "log=off");
        const std::string wanted = computing > 0 ? "background" : "inline";
        {
            History h(model, path_of("first.nc"), "bandwidth=5000000", 256, 128);
            for (int r = 0; r < 5; ++r) {
                h.step(r);
                is(model, "first.nc", r < 1 ? "inline" : wanted);
                usleep(computing);
            }
            h.close_and_look(5, false);
        }
        {
            History h(model, path_of("second.nc"), "bandwidth=5000000", 256, 128);
            h.step(0);
            is(model, "second.nc", wanted);
            h.close_and_look(1, false);
        }
        model.end();
    }
}

/// Tests a variable that each rank has completely and that is too large for the queue: a step must
/// not include data that were put before the file moved to the background.
void whole_variable_goes_on() {
    constexpr std::int64_t n = 1000;
    const std::string path = path_of("whole.nc");
    Model model(MPI_COMM_WORLD, "log=off");
    tw_file file = nullptr;
    setenv("THALWEG_TEST_BACKGROUND_AFTER", "1", 1);
    CHECK(tw_create(model.session, path.c_str(), "queue=4KiB", &file) == TW_OK);
    unsetenv("THALWEG_TEST_BACKGROUND_AFTER");
    CHECK(tw_def_dim(file, "time", TW_UNLIMITED) == TW_OK);
    CHECK(tw_def_dim(file, "x", n) == TW_OK);
    CHECK(tw_def_var(file, "table", TW_INT, "time x", nullptr) == TW_OK);
    CHECK(tw_def_var(file, "fixed", TW_INT, "x", nullptr) == TW_OK);
    std::vector<int> values(n);
    for (int r = 0; r < 3; ++r) {
        values.assign(n, r);
        CHECK(tw_put(file, "table", TW_INT, values.data(), n) == TW_OK);
        CHECK(tw_put(file, "fixed", TW_INT, values.data(), n) == TW_OK);
        CHECK(tw_end_step(file) == TW_OK);
        const std::string got = model.entry("whole.nc", "service");
        CHECK_TEXT(got == "\"background\"", "service %s", got.c_str());
    }
    CHECK(tw_close(&file) == TW_OK);
    CHECK(tw_open(model.session, path.c_str(), nullptr, &file) == TW_OK);
    for (int r = 0; r < 3; ++r) {
        CHECK(tw_get(file, "table", nullptr, r, TW_INT, values.data(), n) == TW_OK);
        CHECK_TEXT(values == std::vector<int>(n, r), "record %d has %d", r, values[0]);
    }
    CHECK(tw_get(file, "fixed", nullptr, 0, TW_INT, values.data(), n) == TW_OK);
    CHECK_TEXT(values == std::vector<int>(n, 2), "fixed has %d", values[0]);
    CHECK(tw_close(&file) == TW_OK);
    model.end();
}

void too_many_servers() {
    for (const int more : {0, 1, 1000}) {
        tw_session session = nullptr;
        const std::string settings = "servers=" + std::to_string(check::state.size + more);
        const int status = tw_init(MPI_COMM_WORLD, settings.c_str(), &session);
        CHECK_TEXT(status == TW_ESETTING, "%s: %s", settings.c_str(), tw_strerror(status));
        const std::string text = tw_error_message(session);
        CHECK_TEXT(text.find(std::to_string(check::state.size + more) + " servers of " +
                             std::to_string(check::state.size) + " ranks") != std::string::npos,
                   "%s", text.c_str());
        CHECK(tw_finalize(&session) == TW_OK);
    }
}

}  // namespace services

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 180);
    const std::string only = check::option(argc, argv, "--only", "");
    services::folder = check::make_folder("services");
    const std::vector<std::pair<const char*, void (*)()>> all{
        {"components", services::components},
        {"sessions_in_turn", services::sessions_in_turn},
        {"idle_servers", services::idle_servers},
        {"history_and_restart", services::history_and_restart},
        {"choices", services::choices},
        {"automatic_servers", services::automatic_servers},
        {"processors", services::processors},
        {"background_that_pays", services::background_that_pays},
        {"whole_variable_goes_on", services::whole_variable_goes_on},
        {"too_many_servers", services::too_many_servers},
        {"memory_of_the_next_file", services::memory_of_the_next_file},
        {"small_queue", services::small_queue},
        {"slow_disk", services::slow_disk},
        {"sync_with_slow_disk", services::sync_with_slow_disk},
        {"syncs_within_a_step", services::syncs_within_a_step},
        {"misfits", services::misfits},
        {"finalize_with_open_files", services::finalize_with_open_files},
        {"many_files", services::many_files},
        {"summary_meanwhile", services::summary_meanwhile},
        {"close_that_fails", services::close_that_fails},
        {"apart", services::apart},
        {"missing", services::missing},
        {"full_disk", services::full_disk},
    };
    for (const auto& [name, body] : all) {
        if (!only.empty() && only != name) continue;
        check::step("%s", name);
        const double begin = MPI_Wtime();
        body();
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank == 0)
            check::print(check::text("services: %s, %.1f s", name, MPI_Wtime() - begin));
    }
    if (check::state.rank == 0) {
        std::error_code ignored;
        std::filesystem::remove_all(services::folder, ignored);
    }
    return check::verdict("services");
}
