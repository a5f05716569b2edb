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

/// Chooses one server per node, or more if the file system serves several writers of a node; at
/// most one rank of 16, and at least one.
/// @param ranks, nodes  number of ranks and nodes of the session, including servers
ServerChoice choose_servers(const FileSystem& system, int ranks, int nodes);

}  // namespace thalweg::detail
