// Chooses the number of servers of a session if the setting `servers` leaves it open. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "storage/posix/file_system.hpp"

namespace thalweg::detail {

struct ServerChoice {
    int number = 0;   ///< number of servers, less than the number of ranks; 0: none
    std::string why;  ///< reason, as a sentence without its full stop
};

/// Chooses the number of servers: one per node, or more if several writers on a node are faster on
/// the file system. At most one rank in 16 becomes a server, but at least one.
/// @param ranks, nodes  number of ranks and nodes of the session, including servers
ServerChoice choose_servers(const FileSystem& system, int ranks, int nodes);

}  // namespace thalweg::detail
