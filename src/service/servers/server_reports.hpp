// Reports of the servers on a file, which go up the tree to the first server: the number of rounds
// that they have written, and the places of their chunks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "service/queue/file_rounds.hpp"
#include "service/servers/server_place.hpp"

namespace thalweg::detail {

class ServerReports {
public:
    /// @param file  serial number of the file
    ServerReports(const ServerPlace& place, std::int64_t file)
        : place_(place), file_(file), rounds_(place.below.size(), 0) {}

    /// Takes the report of a server below this one.
    /// @param placement  interface by which this server gets places; null if it knows them
    Status take(const Message& message, Placement* placement);
    /// Reports to the server above this one, if there is anything new. On the first server, tells
    /// `rounds` what the other servers have written.
    void send(FileRounds& rounds, Placement* placement);

private:
    const ServerPlace& place_;
    std::int64_t file_;
    /// For each server below this one, the smallest number of rounds of that server and of the
    /// servers below it.
    std::vector<std::int64_t> rounds_;
    std::int64_t reported_ = 0;  ///< rounds that were reported
    std::vector<char> placed_;   ///< encoded places of chunks to be reported, see Placement
};

}  // namespace thalweg::detail
