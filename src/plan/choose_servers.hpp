// How many ranks of a session serve, where the setting servers leaves it open. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan/run.hpp"

namespace thalweg::planning {

struct ServerChoice {
    int number = 0;   ///< less than the ranks; 0: none
    std::string why;  ///< a sentence without its full stop
};

/// With the description of a run: as many as the plan finds best; those that were started beside
/// the ranks that it describes, if there are any.
/// @param ranks, nodes  of the session, servers among them
ServerChoice choose_servers(Run run, int ranks, int nodes);

/// Without one, nothing is known of the output: one on each node, more if it takes more to reach
/// the rate of the file system, but no more than one rank of 16.
ServerChoice choose_servers(const detail::Folder& folder, int ranks, int nodes);

}  // namespace thalweg::planning
