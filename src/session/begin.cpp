// SPDX-License-Identifier: Apache-2.0
#include "session/begin.hpp"

#include "base/log.hpp"
#include "choose/choose.hpp"
#include "choose/room.hpp"
#include "session/outputs.hpp"
#include "storage/pnetcdf/mpi_io.hpp"

namespace thalweg::detail {

namespace {

std::unique_ptr<Watchdog> watchdog_of(const Settings& settings, int rank) {
    return Watchdog::make(settings.number("watchdog"), settings.second_number("watchdog"), rank);
}

/// Makes the communicator of a session, and reads its settings, which must be the same on all
/// ranks.
/// @note Collective
Status begin_world(int rank, const MakeWorld& make_world, const char* settings, tw_session session,
                   std::unique_ptr<Comm>& world) {
    // From here on, ranks wait for each other. Start a watchdog with the settings as this rank
    // alone knows them, so that it does not wait forever.
    Settings own;
    std::unique_ptr<Watchdog> watchdog;
    const std::string given = text_or_empty(settings);
    if (Settings::read(given, own).ok()) watchdog = watchdog_of(own, rank);
    const WatchedCall standing(watchdog.get(), "tw_init");
    world = make_world();
    // Messages must be the same on all ranks, even if some call from another language. Use rank 0's
    // wording.
    return Settings::read(*world, given, {}, session->settings, session->wording.fortran);
}

/// Starts the watchdog and the log of this rank.
Status use_settings(tw_session session, int rank) {
    session->telemetry.watchdog = watchdog_of(session->settings, rank);
    log::set_level(session->settings.text("log"));
    if (rank != 0) return {};
    for (const std::string& name : session->settings.ignored())
        log::warn("ignoring {} in the environment: not a setting", name);
    return {};
}

/// Finds the number of servers from the setting. With "auto", rank 0 chooses the number, and logs
/// the reason.
/// @param world  all ranks of the session
/// @note Collective; the status is the same on every rank
Status number_of_servers(Comm& world, tw_session_impl& session, int& number) {
    number = session.settings.number("servers");
    if (number >= 0) return {};
    int nodes = 1;
    {
        Status status;
        const auto team =
            Team::make(world.split(0, world.rank()), session.settings.number("node_size"), status);
        if (!status.ok()) return status;
        nodes = team->topology().nodes;
    }
    // Rank 0 inspects the model's working folder for all ranks, so that all make the same choice.
    std::int64_t asked[2] = {};
    if (world.rank() == 0) {
        const FileSystem system = file_system_at(".");
        asked[0] = system.magic;
        asked[1] = system.block;
    }
    world.broadcast(asked, sizeof asked, 0);
    ServerChoice choice = choose_servers(file_system_of(asked[0], asked[1]), world.size(), nodes);
    if (world.rank() == 0) log::info("servers={}: {}", choice.number, choice.why);
    number = choice.number;
    session.telemetry.finished.servers_reason = std::move(choice.why);
    return {};
}

/// Separates the servers from the model's ranks, if there are any.
/// @param world  receives the model's ranks; null on a server
/// @note Collective
Status set_servers_aside(int servers, int node_size, tw_session session,
                         std::unique_ptr<Comm>& world) {
    Status status;
    int number = servers;
    if (servers < 0)
        status = number_of_servers(*world, *session, number);
    else if (session->settings.number("servers") != 0)
        status = failure(TW_ESETTING,
                         "servers={}: leave the setting out, as the arguments of "
                         "tw_init_components say which ranks serve",
                         session->settings.text("servers"));
    if (!status.ok() || number <= 0) return status;
    const bool last = servers > 0 || session->settings.text("servers").ends_with(":last");
    session->servers = Servers::make(std::move(world), node_size, number, last, status);
    if (!status.ok()) return status;
    session->start_trace(session->servers->all());
    if (!session->is_server()) world = session->servers->take_model();
    return {};
}

/// Makes a session; see start().
Status make_session(int rank, const MakeWorld& make_world, const char* settings, tw_session session,
                    int servers) {
    std::unique_ptr<Comm> world;
    Status status = begin_world(rank, make_world, settings, session, world);
    if (!status.ok()) return status;
    Status mine = use_settings(session, world->rank());
    const WatchedCall standing(session->telemetry.watchdog.get(), "tw_init");
    const int node_size = session->settings.number("node_size");
    if (servers >= 0 || session->settings.number("servers") != 0) {
        if (status = agree(*world, mine); !status.ok()) return status;
        status = set_servers_aside(servers, node_size, session, world);
        if (!status.ok() || !world) return status;
    }
    if (mine.ok()) mine = find_output_paths(*session, world->rank());
    session->team = Team::make(std::move(world), node_size, status, std::move(mine));
    if (!status.ok()) return status;
    session->rank = session->team->rank();
    if (!session->servers) session->start_trace(*session->team);
    session->model = session->team->duplicate();
    session->resources.processors = find_processors(*session->team);
    // Change the environment only where this is necessary, as programs may read it on other
    // threads.
    if (session->settings.text("storage").starts_with("pnetcdf")) prepare_mpi_io();
    session->agreement = std::make_unique<CallAgreement>(*session->team);
    session->watch_mpi();
    return {};
}

}  // namespace

Status start(int rank, const MakeWorld& make_world, const char* settings, tw_session session,
             int servers) {
    Status status = make_session(rank, make_world, settings, session, servers);
    // If the model's ranks have failed to start, the servers must not wait for them.
    if (session->servers) status = agree(session->servers->all().world(), status);
    if (status.ok()) return status;
    if (session->servers) session->servers->give_up_serving();
    session->end();
    return status;
}

}  // namespace thalweg::detail
