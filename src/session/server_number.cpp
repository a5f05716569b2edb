// SPDX-License-Identifier: Apache-2.0
#include "session/server_number.hpp"

#include "base/log.hpp"
#include "choose/choose_servers.hpp"

namespace thalweg::detail {

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
    const Status looked = alone([&] {
        if (world.rank() != 0) return;
        const FileSystem system = file_system_at(".");
        asked[0] = system.magic;
        asked[1] = system.block;
    });
    world.broadcast(asked, sizeof asked, 0);
    ServerChoice choice;
    const Status chosen = alone([&]() -> Status {
        choice = choose_servers(file_system_of(asked[0], asked[1]), world.size(), nodes);
        if (world.rank() == 0) log::info("servers={}: {}", choice.number, choice.why);
        return looked;
    });
    if (Status status = agree(world, chosen); !status.ok()) return status;
    number = choice.number;
    session.servers_reason = std::move(choice.why);
    return {};
}

}  // namespace thalweg::detail
