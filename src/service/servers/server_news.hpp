// The news of a file that its servers pass on: up the tree to the first server, what they have
// written; to the servers of other nodes, which cannot see it, that ranks have entered collective
// calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "service/queue/writer/file_rounds.hpp"
#include "service/servers/server_node.hpp"

namespace thalweg::detail {

class ServerNews {
public:
    /// @param file  serial number of the file
    ServerNews(const ServerNode& node, std::int64_t file)
        : node_(node), file_(file), rounds_(node.below.size(), 0) {}

    /// Takes the report of a server below this one: the number of rounds written, and the places of
    /// their chunks.
    /// @param placement  interface by which this server gets places; null if it knows them
    void take_report(const Message& message, Placement* placement);
    /// Reports to the server above this one, if there is anything new. On the first server, tells
    /// `rounds` what the other servers have written.
    void report(FileRounds& rounds, Placement* placement);

    /// Takes a message about a collective call, from the rank itself or from another server.
    void take_call(const Message& message, UnitWriterSources& sources);
    /// Informs the servers of other nodes of collective calls. Waits first until nothing has
    /// changed for a while: usually the other ranks are only a little behind.
    void spread_calls(const UnitWriterSources& sources);

private:
    const ServerNode& node_;
    std::int64_t file_;
    /// For each server below this one, the smallest number of rounds of that server and of the
    /// servers below it.
    std::vector<std::int64_t> rounds_;
    std::int64_t reported_ = 0;  ///< rounds that were reported
    std::vector<char> placed_;   ///< encoded places of chunks to be reported, see Placement
    Deadlock seen_;              ///< latest state of the ranks that this server knows of
    double seen_at_ = 0;         ///< time when it was new, in seconds
    Deadlock sent_;              ///< state that was last sent to other servers
};

}  // namespace thalweg::detail
