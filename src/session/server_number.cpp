// SPDX-License-Identifier: Apache-2.0
#include "session/server_number.hpp"

#include "base/log.hpp"
#include "plan/choose_servers.hpp"
#include "plan/plan.hpp"

namespace thalweg::detail {

namespace {

/// What the setting plan names, else what is known of the folder in which the model runs.
Status choose(const tw_session_impl& session, int ranks, int nodes,
              planning::ServerChoice& choice) {
    const std::string& path = session.settings.text("plan");
    if (!path.empty()) {
        planning::Run run;
        if (Status s = planning::read_run(path, "", run); !s.ok()) return s;
        choice = planning::choose_servers(std::move(run), ranks, nodes);
        return {};
    }
    const FileSystem system = file_system_at(".");
    const Folder* measured =
        session.measured ? session.measured->folder_of("", system.name) : nullptr;
    choice = planning::choose_servers(measured ? *measured : assumed_folder(system), ranks, nodes);
    return {};
}

}  // namespace

Status number_of_servers(Comm& world, tw_session_impl& session, int& number) {
    if (session.settings.text("servers") != "auto") {
        number = session.settings.number("servers");
        return {};
    }
    int nodes = 1;
    {
        Status status;
        const auto team =
            Team::make(world.split(0, world.rank()), session.settings.number("node_size"), status);
        if (!status.ok()) return status;
        nodes = team->topology().nodes;
    }
    planning::ServerChoice choice;
    Status mine;
    if (world.rank() == 0)
        mine = alone([&] { return choose(session, world.size(), nodes, choice); });
    if (Status status = agree(world, mine); !status.ok()) return status;
    std::int64_t told[2] = {choice.number, static_cast<std::int64_t>(choice.why.size())};
    world.broadcast(told, sizeof told, 0);
    // The model's first rank, which writes the summary, need not be the first of all.
    Status room = alone([&]() -> Status {
        choice.why.resize(told[1]);
        return {};
    });
    if (Status status = agree(world, room); !status.ok()) return status;
    world.broadcast(choice.why.data(), choice.why.size(), 0);
    number = told[0];
    (void)alone([&]() -> Status {
        if (world.rank() == 0) log::info("servers={}: {}", number, choice.why);
        return {};
    });
    session.servers_reason = std::move(choice.why);
    return {};
}

}  // namespace thalweg::detail
