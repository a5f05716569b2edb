// How many ranks of a session serve.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/session.hpp"

namespace thalweg::detail {

/// By the setting servers; with auto, chosen by the first rank, which logs why.
/// @param world  all ranks of the session
/// @note Collective; the status is the same on every rank
Status number_of_servers(Comm& world, tw_session_impl& session, int& number);

}  // namespace thalweg::detail
