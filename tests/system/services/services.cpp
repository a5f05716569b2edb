// Tests services as programs use them: several sessions, files of different services at the same
// time, and the choice of servers.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: services [--only NAME]

#include "services.hpp"

#include <unistd.h>

#include <cstdint>
#include <memory>

namespace services {

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

void choices() {
    const auto chosen = [](const std::string& session, const std::string& file,
                           const std::string& wanted, const std::string& why = "") {
        Model model(MPI_COMM_WORLD, "log=off; " + session);
        if (model) {
            History h(model, path_of("choice.nc"), file);
            for (int r = 0; r < 2; ++r) h.step(r);
            const std::string got = model.entry("choice.nc", "service");
            CHECK_TEXT(got == "\"" + wanted + "\"", "{}; {}: service {}, not {}", session, file,
                       got, wanted);
            const std::string reason = model.entry("choice.nc", "service_reason");
            CHECK_TEXT(reason.find(why) != std::string::npos, "{}; {}: {}, not {}", session, file,
                       reason, why);
            h.close_and_look(2, false);
        }
        model.end();
    };
    const std::string at_once = automatic();
    chosen("", "", "inline", "only with close=later");
    chosen("", "service=inline", "inline");
    chosen("service=auto", "close=later", at_once, "free processors on ");
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
            CHECK_TEXT(ranks - model.size == wanted, "{}: {} servers, not {}", settings,
                       ranks - model.size, wanted);
            History h(model, path_of("servers.nc"), "");
            for (int r = 0; r < 2; ++r) h.step(r);
            const char* summary = "";
            CHECK(tw_summary(model.session, TW_SUMMARY_JSON, &summary) == TW_OK);
            CHECK_TEXT(std::string(summary).find(why) != std::string::npos, "{}: no '{}' in {}",
                       settings, why, summary);
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
            CHECK_TEXT(reason.find(why) != std::string::npos, reason);
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

void too_many_servers() {
    for (const int more : {0, 1, 1000}) {
        tw_session session = nullptr;
        const std::string settings = "servers=" + std::to_string(check::state.size + more);
        const int status = tw_init(MPI_COMM_WORLD, settings.c_str(), &session);
        CHECK_TEXT(status == TW_ESETTING, "{}: {}", settings, tw_strerror(status));
        const std::string text = tw_error_message(session);
        CHECK_TEXT(text.find(std::to_string(check::state.size + more) + " servers of " +
                             std::to_string(check::state.size) + " ranks") != std::string::npos,
                   text);
        CHECK(tw_finalize(&session) == TW_OK);
    }
}

}  // namespace services

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 180);
    const std::string only = check::option(argc, argv, "--only", "");
    services::folder = check::make_folder("services");
    const std::vector<std::pair<const char*, void (*)()>> all{
        {"sessions_in_turn", services::sessions_in_turn},
        {"idle_servers", services::idle_servers},
        {"choices", services::choices},
        {"automatic_servers", services::automatic_servers},
        {"processors", services::processors},
        {"too_many_servers", services::too_many_servers},
        {"memory_of_the_next_file", services::memory_of_the_next_file},
        {"small_queue", services::small_queue},
        {"slow_disk", services::slow_disk},
        {"sync_with_slow_disk", services::sync_with_slow_disk},
        {"syncs_within_a_step", services::syncs_within_a_step},
        {"finalize_with_open_files", services::finalize_with_open_files},
        {"summary_meanwhile", services::summary_meanwhile},
        {"close_that_fails", services::close_that_fails},
        {"apart", services::apart},
        {"missing", services::missing},
    };
    for (const auto& [name, body] : all) {
        if (!only.empty() && only != name) continue;
        check::step(name);
        const double begin = MPI_Wtime();
        body();
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank == 0)
            check::print(check::text("services: {}, {} s", name, MPI_Wtime() - begin));
    }
    return check::verdict("services");
}
