// Chooses how many ranks of a session serve, where the setting `servers` leaves it open. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "storage/posix/file_system.hpp"

namespace thalweg::detail {

struct ServerChoice {
    int number = 0;   ///< fewer than the ranks; 0: none
    std::string why;  ///< a sentence without its full stop
};

/// One server on each node, or more of them where the file system serves several writers of a node;
/// at most one rank of 16, and at least one.
/// @param ranks, nodes  of the session, servers among them
ServerChoice choose_servers(const FileSystem& system, int ranks, int nodes);

}  // namespace thalweg::detail
