// The C functions of sessions.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "api/system_error.h"
#include "base/log.hpp"
#include "comm/comm.hpp"
#include "session/begin.hpp"
#include "session/outputs.hpp"

using namespace thalweg::detail;

namespace {

/// Returns the last error of this thread, if its call was not admitted to the session; otherwise
/// that of the session.
const Status& last_error(tw_session session) {
    return loose_error().ok() && session != nullptr ? session->calls.error : loose_error();
}

}  // namespace

extern "C" {

const char* tw_strerror(int status) {
    switch (status) {
#define TW_STATUS_TEXT(name, value, text)                                                          \
    case value: return #name ": " text;
        TW_STATUS_TABLE(TW_STATUS_TEXT)
#undef TW_STATUS_TEXT
    }
    return "unknown status";
}

#ifndef THALWEG_SERIAL
tw_status tw_init(MPI_Comm comm, const char* settings, tw_session* session) {
    const tw_status code = begin_session(session, [&]() -> Status {
        if (Status status = check_communicator(comm); !status.ok()) return status;
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        return start(
            rank,
            [&] {
                tw_session_impl::tell_of_abandoned(comm);
                return make_mpi_comm(comm);
            },
            settings, *session);
    });
    if (session != nullptr && *session != nullptr && (*session)->is_server()) {
        const OwnArithmetic arithmetic;
        Servers* const its = (*session)->servers.get();
        Servers::serve({&its, 1}, nullptr);
    }
    return code;
}
#endif

tw_status tw_init_serial(const char* settings, tw_session* session) {
    return begin_session(session, [&] { return start(0, make_own_comm, settings, *session); });
}

tw_status tw_finalize(tw_session* session) {
    if (session == nullptr || *session == nullptr) return no_handle();
    tw_session s = *session;
    if (process_fails()) {  // other ranks do not take part, so do not wait for them
        *session = nullptr;
        return TW_OK;
    }
    std::optional<SessionLock> inside(std::in_place, *s, "tw_finalize");
    if (!inside->entered()) return refuse(s, "tw_finalize");
    // Keep the watchdog until the function returns, although it is moved out of the session.
    const std::unique_ptr<Watchdog> watchdog = std::move(s->telemetry.watchdog);
    const bool told = !s->calls.over.ok();
    const WatchedCall standing(watchdog.get(), "tw_finalize");
    tw_status code = TW_OK;
    if (is_model(s)) {
        const auto finish = [&]() -> Status {
            Status first = enter(s, Call::finalize);
            if (s->agreement->gave_up()) return first;
            complete_files(s, 0);
            if (first.ok()) first = tell_late(s);
            for (std::size_t i = 0; i < s->files.open.size();) {
                tw_file_impl& f = *s->files.open[i];
                if (!f.closed) {
                    if (s->team->rank() == 0)
                        log::warn("{}: still open at tw_finalize: closing it", f.path());
                    f.about->later = false;
                    const std::string path = f.path();
                    Status status = close_file(f);
                    if (first.ok()) first = about(std::move(status), OfFile{path});
                }
                // retire() may have removed the file from the list; the next one is then at index
                // i.
                if (i < s->files.open.size() && s->files.open[i] == &f) ++i;
            }
            Status written = write_outputs(*s);
            if (first.ok()) first = std::move(written);
            return first;
        };
        code = guarded_inside(s, {}, finish, "tw_finalize");
        // Log the error here, as no later call can return its text.
        if (code != TW_OK && s->rank == 0 && !told) log::error("{}", s->calls.error.text);
    }
    if (code != TW_OK) keep_loose(s->calls.error);
    s->end();
    inside.reset();
    delete s;
    *session = nullptr;
    return code;
}

tw_status tw_abandon(tw_session* session) {
    if (session == nullptr || *session == nullptr) return no_handle();
    bool kept = false;
    {
        const SessionLock inside(**session, "tw_abandon");
        if (!inside.entered()) return refuse(*session, "tw_abandon");
        kept = (*session)->abandon();
    }
    if (!kept) delete *session;
    *session = nullptr;
    return TW_OK;
}

tw_status tw_cancel(tw_session* session, const char* why) {
    if (session == nullptr || *session == nullptr) return no_handle();
    {
        tw_session_impl& s = **session;
        const SessionLock inside(s, "tw_cancel");
        if (!inside.entered()) return refuse(*session, "tw_cancel");
        const WatchedCall standing(s.telemetry.watchdog.get(), "tw_cancel", nullptr, 0);
        s.cancel("cancelled", text_or_empty(why));
    }
    delete *session;
    *session = nullptr;
    return TW_OK;
}

tw_status tw_inq_role(tw_session session, tw_role* role) {
    if (session == nullptr) return no_handle();
    if (role == nullptr)
        return report(session, failure(TW_EARG, "the pointer for the role is null"));
    *role = session->is_server() ? TW_SERVER : TW_MODEL;
    return TW_OK;
}

#ifndef THALWEG_SERIAL
tw_status tw_model_comm(tw_session session, MPI_Comm* comm) {
    if (session == nullptr) return no_handle();
    if (comm == nullptr)
        return report(session, failure(TW_EARG, "the pointer for the communicator is null"));
    *comm = session->model ? session->model->handle() : MPI_COMM_NULL;
    return TW_OK;
}
#endif

const char* tw_error_message(tw_session session) { return last_error(session).text.c_str(); }

tw_status tw_error_place(tw_session session, const char** file, const char** variable,
                         std::int64_t* record, int* rank) {
    const ErrorLocation& place = last_error(session).place;
    tell(file, place.file.c_str());
    tell(variable, place.variable.c_str());
    tell(record, place.record);
    tell(rank, place.rank);
    return TW_OK;
}

int tw_system_error(tw_session session) { return last_error(session).place.system; }

tw_status tw_summary(tw_session session, tw_summary_form form, const char** text) {
    if (!is_model(session)) return no_model(session);
    return guarded(session, [&]() -> Status {
        Status mine;
        if (text == nullptr)
            mine = failure(TW_EARG, "the pointer for the summary is null");
        else if (form < TW_SUMMARY_JSON || form > TW_SUMMARY_SETTINGS)
            mine = failure(TW_EARG, "unknown form of the summary {}", static_cast<int>(form));
        Status status = enter(session, Call::summary, "", mine, form);
        if (!status.ok()) return status;
        if (form == TW_SUMMARY_SETTINGS)
            session->telemetry.summary = session->settings.table();
        else if (session->summarize(); form == TW_SUMMARY_TABLE)
            session->telemetry.summary = summary_table(session->telemetry.summary);
        *text = session->telemetry.summary.c_str();
        return {};
    });
}

}  // extern "C"
