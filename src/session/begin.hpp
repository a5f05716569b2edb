// How a session begins.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <ctime>
#include <functional>

#include "session/calls.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

/// Makes the communicator of a session. Collective if this needs communication.
using MakeWorld = std::function<std::unique_ptr<Comm>()>;

/// Starts a session.
/// @param rank     rank of this process in the communicator of make_world
/// @param servers  number of servers, which are the last ranks; -1: as the settings say
/// @note Collective
Status start(int rank, const MakeWorld& make_world, const char* settings, tw_session session,
             int servers = -1);

/// Runs the steps that all calls that begin a session have in common.
/// @param begin  makes the session; returns a Status
/// @note Collective
template <class Begin>
tw_status begin_session(tw_session* session, Begin&& begin,
                        const char* call = __builtin_FUNCTION()) try {
    if (session == nullptr) return TW_EARG;
    const OwnArithmetic arithmetic;
    *session = nullptr;
    *session = new tw_session_impl;
    const tw_status code = guarded(*session, begin, call);
    (*session)->telemetry.begun = now();
    (*session)->telemetry.run = fmt::format("{}-{}-{}", host_name(), getpid(), time(nullptr));
    (*session)->telemetry.in_calls = 0;
    return code;
} catch (const std::exception&) {  // there is no session
    end_job(MPI_COMM_WORLD, -1, call, "", exception_status());
}

}  // namespace thalweg::detail
