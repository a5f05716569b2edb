// Determines how many ranks of a session serve.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/session.hpp"

namespace thalweg::detail {

/// Returns the number of servers by the setting. With auto, the first rank chooses, and logs the
/// reason.
/// @param world  all ranks of the session
/// @note Collective; the status is the same on every rank
Status number_of_servers(Comm& world, tw_session_impl& session, int& number);

}  // namespace thalweg::detail
