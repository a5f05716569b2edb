// Determines how many ranks of a session serve.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/session.hpp"

namespace thalweg::detail {

/// Finds the number of servers from the setting. With "auto", rank 0 chooses the number, and logs
/// the reason.
/// @param world  all ranks of the session
/// @note Collective; the status is the same on every rank
Status number_of_servers(Comm& world, tw_session_impl& session, int& number);

}  // namespace thalweg::detail
