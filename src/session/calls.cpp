// SPDX-License-Identifier: Apache-2.0
#include "session/calls.hpp"

#include <filesystem>

namespace thalweg::detail {

namespace {

thread_local Status loose;

}  // namespace

tw_status keep_loose(Status status) {
    loose = std::move(status);
    return loose.code;
}

const Status& loose_error() { return loose; }

void forget_loose_error() { loose = {}; }

Status check_flags(const std::string& path, const char* variable, int flags, int possible) {
    if ((flags & ~possible) == 0) return {};
    return failure(TW_EARG, "{}: variable '{}': unknown flags {}", path,
                   OfVariable{text_or_empty(variable)}, flags & ~possible);
}

tw_status no_handle(const char* call) {
    return keep_loose(failure(
        TW_EHANDLE, "{}: the handle is null: it was never created, or was already closed or freed",
        call));
}

tw_status no_model(tw_session session, const char* call) {
    if (session == nullptr || !session->is_server()) return no_handle(call);
    return keep_loose(failure(TW_EHANDLE,
                              "{}: this rank is a server (setting servers), and is to call only "
                              "tw_finalize: see tw_is_server, in C tw_inq_role",
                              call));
}

tw_status refuse(tw_session session, const char* call) {
    if (session->calls.process != getpid())
        return keep_loose(
            failure(TW_ESTATE,
                    "{} was called in process {}, a child of process {}, which made the "
                    "session: only that one can use it (rank {})",
                    call, getpid(), session->calls.process, OfRank{session->rank}));
    if (process_fails())
        return keep_loose(failure(TW_ESTATE, "{}: the process ends with a failure (rank {})", call,
                                  OfRank{session->rank}));
    if (session->agreement) session->agreement->refuse_thread(call);
    return keep_loose(thread_failure(call, session->rank));
}

bool is_interrupted(const tw_session_impl& session, std::int64_t before, const char* call) {
    if (!session.team) return mpi_is_running() && std::string_view(call) != "tw_init_serial";
    return is_collective(call) || !session.agreement || session.agreement->count() != before;
}

Status decomposition_of(const tw_decomposition_impl* handle, tw_session session,
                        std::shared_ptr<const Decomposition>& found) {
    found = nullptr;
    if (handle == nullptr) return {};
    if (handle->session != session)
        return failure(TW_EHANDLE, "the decomposition belongs to another session (rank {})",
                       OfRank{session->rank});
    if (!handle->declared)
        return failure(TW_EHANDLE, "the decomposition has been freed (rank {})",
                       OfRank{session->rank});
    found = handle->declared->decomposition;
    return {};
}

std::string canonical(const std::string& path) {
    std::error_code ignored;
    const auto result = std::filesystem::weakly_canonical(path, ignored);
    return ignored ? path : result.string();
}

Status check_unused(tw_session session, const std::string& path) {
    if (session->rank != 0) return {};
    const std::string mine = canonical(path);
    for (const tw_file_impl* f : session->files.open)
        if (!f->closed && f->about->resolved == mine)
            return failure(TW_EINUSE, "{}: the file is already open in this session", path);
    return {};
}

Status enter(tw_session session, Call call, const char* of, const Status& mine, std::int64_t detail,
             const AgreedWords& words) {
    const auto describe = [of] { return *of == '\0' ? std::string() : std::string("of ") + of; };
    return session->agreement
        ->enter({call, 0, detail, call == Call::finalize, std::ref(describe)}, mine, {}, words)
        .status;
}

}  // namespace thalweg::detail
