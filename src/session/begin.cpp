// SPDX-License-Identifier: Apache-2.0
#include "session/begin.hpp"

#include "base/log.hpp"
#include "session/outputs.hpp"
#include "session/server_number.hpp"
#include "storage/pnetcdf/mpi_io.hpp"

namespace thalweg::detail {

namespace {

/// What each rank does by itself. @return the same on every rank @note Collective
template <class Act>
Status all_do(Comm& comm, Act&& act) {
    return agree(comm, alone([&]() -> Status {
                     act();
                     return {};
                 }));
}

std::unique_ptr<Watchdog> watchdog_of(const Settings& settings, int rank) {
    return Watchdog::make(settings.number("watchdog"), settings.number("watchdog_abort"), rank);
}

/// The world's ranks, and the settings, which are the same on all of them.
/// @note Collective
Status begin_world(int rank, const MakeWorld& make_world, const char* settings, tw_session session,
                   std::unique_ptr<Comm>& world) {
    {
        // Ranks wait for each other from here on: what this rank knows by itself says how long.
        Settings own;
        std::unique_ptr<Watchdog> watchdog;
        std::string given;
        const Status room = alone([&]() -> Status {
            given = text_or_empty(settings);
            if (Settings::read(given, own).ok()) watchdog = watchdog_of(own, rank);
            return {};
        });
        const Standing standing(watchdog.get(), "tw_init");
        world = make_world();
        if (!world->all_have(room.ok() && session != nullptr)) return out_of_memory();
        if (Status s = Settings::read(*world, given, session->settings); !s.ok()) return s;
    }
    return all_do(*world, [&] {
        session->watchdog = watchdog_of(session->settings, world->rank());
        log::set_level(session->settings.text("log"));
    });
}

/// Sets servers aside, if there are to be some.
/// @param world  receives the model's ranks; null on a server
/// @note Collective
Status set_servers_aside(int servers, int node_size, tw_session session,
                         std::unique_ptr<Comm>& world) {
    Status status;
    int number = servers;
    if (servers < 0)
        status = number_of_servers(*world, *session, number);
    else if (const std::string& text = session->settings.text("servers"); text != "0")
        status =
            failure(TW_ESETTING, "servers={}: tw_init_components is told which ranks serve", text);
    if (!status.ok() || number <= 0) return status;
    const bool last = servers > 0 || session->settings.text("server_ranks") == "last";
    session->servers = Servers::make(std::move(world), node_size, number, last, status);
    if (!status.ok()) return status;
    session->start_trace(session->servers->all());
    if (session->servers->is_server())
        session->role = TW_SERVER;
    else
        world = session->servers->take_model();
    return {};
}

/// Makes a session; see start(). Throws NoMemoryAnywhere on all ranks.
Status make_session(int rank, const MakeWorld& make_world, const char* settings, tw_session session,
                    int servers) {
    std::unique_ptr<Comm> world;
    Status status = begin_world(rank, make_world, settings, session, world);
    if (!status.ok()) return status;
    const Standing standing(session->watchdog.get(), "tw_init");
    if (status = session->settings.check_alike(*world); !status.ok()) return status;
    status = all_do(*world, [&] {
        if (world->rank() != 0) return;
        for (const std::string& name : session->settings.ignored())
            log::warn("ignoring {} in the environment: not a setting", name);
    });
    if (!status.ok()) return status;
    // All ranks get the same texts, even where some of them call from another language.
    session->wording.fortran = session->settings.text("language") == "fortran";
    world->broadcast(&session->wording.fortran, sizeof session->wording.fortran, 0);
    const int node_size = session->settings.number("node_size");
    if (status = set_servers_aside(servers, node_size, session, world); !status.ok()) return status;
    if (!world) return {};
    session->team = Team::make(std::move(world), node_size, status);
    if (!status.ok()) return status;
    session->rank = session->team->rank();
    if (!session->servers) session->start_trace(*session->team);
    session->model = session->team->world().duplicate();
    status = all_do(session->team->world(), [&] {
        // Programs may read their environment on other threads: it changes only where it must.
        if (session->settings.text("storage") == "pnetcdf") prepare_mpi_io();
        session->meetings = std::make_unique<Meeting>(*session->team);
        session->watch_mpi();
    });
    return status.ok() ? find_output_paths(*session) : status;
}

}  // namespace

Status start(int rank, const MakeWorld& make_world, const char* settings, tw_session session,
             int servers) {
    Status status =
        together([&] { return make_session(rank, make_world, settings, session, servers); });
    if (session == nullptr) return status;
    // Servers do not serve a model whose start has failed.
    if (session->servers) status = agree(session->servers->all().world(), status);
    if (status.ok()) return status;
    if (session->servers) session->servers->give_up_serving();
    session->role = TW_MODEL;
    session->end();
    return status;
}

}  // namespace thalweg::detail
