// How a session begins.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <ctime>
#include <functional>
#include <new>

#include "session/calls.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

/// Makes the communicator of a session. Collective if this needs communication.
using MakeWorld = std::function<std::unique_ptr<Comm>()>;

/// Starts a session.
/// @param rank     rank of this process in the communicator of make_world
/// @param session  null on a rank that has no memory for the session
/// @param servers  number of servers, which are the last ranks; -1: as the settings say
/// @note Collective
Status start(int rank, const MakeWorld& make_world, const char* settings, tw_session session,
             int servers = -1);

/// Takes part in the start on a rank without memory for a session. All ranks get the error when
/// they first agree.
/// @note Collective
template <class Begin>
tw_status begin_without(Begin&& begin) try {
    return keep_loose(begin());
} catch (const std::exception&) {
    return TW_ENOMEM;
}

/// Runs the steps that all calls that begin a session have in common.
/// @param begin  makes the session; returns a Status
/// @note Collective
template <class Begin>
tw_status begin_session(tw_session* session, Begin&& begin,
                        const char* call = __builtin_FUNCTION()) {
    if (session == nullptr) return TW_EARG;
    const OwnArithmetic arithmetic;
    *session = nullptr;
    keep_reserve();
    (void)alone([&] { *session = new tw_session_impl; });
    if (*session == nullptr) return begin_without(begin);
    const tw_status code = guarded(*session, begin, call);
    (*session)->begun = now();
    (void)alone(
        [&] { (*session)->run = fmt::format("{}-{}-{}", host_name(), getpid(), time(nullptr)); });
    (*session)->in_calls = 0;
    return code;
}

}  // namespace thalweg::detail
