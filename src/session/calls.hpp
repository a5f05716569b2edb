// Common parts of all C functions: checks of handles, and the conversion of a Status to a code and
// a text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>
#include <type_traits>

#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/system/arithmetic.hpp"
#include "session/session.hpp"
#include "storage/posix/paths.hpp"

namespace thalweg::detail {

inline const char* text_or_empty(const char* text) { return text == nullptr ? "" : text; }

template <class T>
void tell(T* to, std::type_identity_t<T> value) {
    if (to != nullptr) *to = value;
}

/// Checks that a call accepts the given flags. @param path  path of the file, for messages
Status check_flags(const std::string& path, const char* variable, int flags, int possible);

/// Keeps the text of a failure for tw_error_message.
/// @param path  path of the file that the call is about, if there is one
inline tw_status report(tw_session session, Status status, const char* path = nullptr) {
    const tw_status code = status.code;
    if (!status.ok() && session != nullptr) {
        if (*text_or_empty(path) != '\0') status.place.file = path;
        session->calls.error = std::move(status);
        // Log it only for debugging: the caller decides how serious the error is.
        log::debug("{} ({})", session->calls.error.text, tw_strerror(code));
    }
    return code;
}

/// Admits only one thread at a time to a session. Also refuses processes that the model has forked,
/// because files and memory of the session belong to their parent.
class SessionLock {
public:
    SessionLock(tw_session_impl& session, const char* call) : session_(session) {
        const char* nobody = nullptr;
        entered_ = session.calls.process == getpid() && !process_fails() &&
                   session.calls.inside.compare_exchange_strong(nobody, call);
    }
    ~SessionLock() {
        if (entered_) session_.calls.inside = nullptr;
    }
    SessionLock(const SessionLock&) = delete;
    SessionLock& operator=(const SessionLock&) = delete;
    bool entered() const { return entered_; }

private:
    const OwnArithmetic arithmetic_;
    tw_session_impl& session_;
    bool entered_;
};

/// Returns the error of a thread or process that Inside has refused.
tw_status refuse(tw_session session, const char* call);

/// Returns the error for a null handle. It is kept for this thread, as there is no session to keep
/// it.
tw_status no_handle(const char* call = __builtin_FUNCTION());

/// Returns the error for a session that cannot make model calls: its handle is null, or it belongs
/// to a server.
tw_status no_model(tw_session session, const char* call = __builtin_FUNCTION());

/// Keeps an error for this thread after its session has ended.
/// @return code of the error
tw_status keep_loose(Status status);

/// Returns the last error that is kept for this thread, not for a session.
const Status& loose_error();
void forget_loose_error();

/// Tests if a code means that Inside has refused the call, so that it had no effect.
inline bool was_refused(tw_status code) { return code == TW_ESTATE && !loose_error().ok(); }

/// Tests if a handle belongs to a session of the model, which can make calls or explain why it
/// cannot.
inline bool is_model(tw_session session) {
    return session != nullptr && (session->team || !session->calls.over.ok());
}

/// Tests if an exception has interrupted work that the ranks do together: other ranks may wait for
/// this one, and of a file some data may be written and others not.
/// @param before  number of collective calls that the ranks had made before this one
bool is_interrupted(const tw_session_impl& session, std::int64_t before, const char* call);

[[noreturn]] inline void end_job(const tw_session_impl& session, const char* call, const char* path,
                                 const Status& why) {
    end_job(session.team ? session.team->world().handle() : MPI_COMM_WORLD, session.rank, call,
            path, why);
}

/// The file that a call uses, for messages and a watchdog.
struct CallObject {
    const char* path = nullptr;  ///< path of a file, if the call is about one
    tw_file file = nullptr;      ///< its handle, if there is one
    std::int64_t step = 0;       ///< number of its current step, for a watchdog; otherwise 0
};

/// Runs the body of a C function that the session's lock has admitted. After an exception in work
/// that the ranks do together, the job ends; with a single rank, only the file fails.
template <class F>
tw_status guarded_inside(tw_session session, const CallObject& of, F&& body, const char* call) {
    forget_loose_error();
    SessionTelemetry& telemetry = session->telemetry;
    telemetry.entered = now();
    const Stopwatch watch(telemetry.in_calls);
    const WatchedCall standing(telemetry.watchdog.get(), call, of.path, of.step);
    const TraceInto into(telemetry.trace ? &telemetry.trace->own() : nullptr);
    const TraceFile traced(text_or_empty(of.path));
    const Span span(call);
    const std::int64_t before = session->agreement ? session->agreement->count() : 0;
    Status status = session->calls.over;
    bool fails = false;
    try {
        if (status.ok()) status = body();
    } catch (const std::exception&) {
        status = exception_status();
        fails = is_interrupted(*session, before, call);
        if (fails && (!session->team || session->team->size() > 1))
            end_job(*session, call, text_or_empty(of.path), status);
    }
    if (status.code == TW_ENOMEM && of.path != nullptr && status.place.file.empty())
        reword(status, "{}: {}", OfFile{of.path}, status.text);
    try {
        if (fails && of.file != nullptr && !of.file->closed)
            session->give_up_file(*of.file, status);
        if (session->agreement && session->agreement->gave_up()) session->leave_given_up(status);
    } catch (const std::exception&) {
        end_job(*session, call, text_or_empty(of.path), exception_status());
    }
    return report(session, std::move(status), of.path);
}

/// Runs the body of a C function. Catches all exceptions, and lets a watchdog watch the call.
/// @param call  name of the C function; by default the calling function
template <class F>
tw_status guarded(tw_session session, const CallObject& of, F&& body,
                  const char* call = __builtin_FUNCTION()) {
    const SessionLock inside(*session, call);
    if (!inside.entered()) return refuse(session, call);
    return guarded_inside(session, of, std::forward<F>(body), call);
}

template <class F>
tw_status guarded(tw_session session, F&& body, const char* call = __builtin_FUNCTION()) {
    return guarded(session, CallObject{}, std::forward<F>(body), call);
}

/// Runs the body of a C function of a file.
template <class F>
tw_status guarded(tw_file file, F&& body, const char* call = __builtin_FUNCTION()) {
    const bool steps = file->session->telemetry.watchdog && file->file;
    const std::int64_t step = steps ? file->file->about().figures.steps + 1 : 0;
    return guarded(file->session, {file->path().c_str(), file, step}, std::forward<F>(body), call);
}

inline Status check_open(const tw_file_impl& file) {
    if (file.restart != nullptr)
        return failure(
            TW_ESTATE,
            "restart: its file has only dimensions, attributes and settings of variables");
    if (!file.closed) return {};
    if (!file.about) return failure(TW_ECLOSED, "the file was closed earlier");
    return file.about->left.ok() ? failure(TW_ECLOSED, "{}: the file is closed", file.path())
                                 : file.about->left;
}

/// Checks that a file is being written.
inline Status check_written(const tw_file_impl& file) {
    Status open = check_open(file);
    if (!open.ok() || file.file) return open;
    return failure(TW_ESTATE, "{}: the file is open for reading", file.path());
}

/// Calls body() if the handle belongs to an open file.
template <class F>
tw_status with_open(tw_file file, F&& body, const char* call) {
    if (file == nullptr) return no_handle(call);
    const auto checked = [&]() -> Status {
        Status open = check_open(*file);
        return open.ok() ? body() : open;
    };
    return guarded(file, checked, call);
}

/// Calls body(file) if the handle belongs to a file that is being written.
template <class F>
tw_status with_file(tw_file file, F&& body, const char* call = __builtin_FUNCTION()) {
    if (file == nullptr) return no_handle(call);
    const auto checked = [&]() -> Status {
        Status written = check_written(*file);
        return written.ok() ? body(*file->file) : written;
    };
    return guarded(file, checked, call);
}

/// Calls body(definitions) if the handle belongs to a file that is being written, or to a restart.
template <class F>
tw_status with_definitions(tw_file file, F&& body, const char* call = __builtin_FUNCTION()) {
    if (file == nullptr || file->restart == nullptr)
        return with_file(
            file, [&](File& f) { return body(f.definitions()); }, call);
    return guarded(
        file->session, [&] { return body(file->restart->restart); }, call);
}

/// Calls body(contents). If the file is being written, the contents are those at the last tw_sync.
/// Before the first tw_sync, they are the contents that an existing file had when it was opened. Of
/// a new file they are its definitions so far, if `defined` is true; otherwise the call fails.
template <class F>
tw_status with_contents(tw_file file, F&& body, bool defined = false,
                        const char* call = __builtin_FUNCTION()) {
    const auto checked = [&]() -> Status {
        if (file->readback && file->readback->contents() != nullptr)
            return body(*file->readback->contents());
        const Source* source =
            file->reader ? &file->reader->contents() : file->file->definitions().contents();
        if (source != nullptr) return body(contents_of(*source));
        if (defined) return body(Contents{file->file->about().definitions});
        return failure(TW_ESTATE, "{}: the file is being written: call tw_sync first",
                       file->path());
    };
    return with_open(file, checked, call);
}

/// Calls body(reader) for a file that was opened for reading, or with the readback of a file that
/// is being written.
template <class F>
tw_status with_reader(tw_file file, F&& body, const char* call = __builtin_FUNCTION()) {
    const auto checked = [&] { return file->reader ? body(*file->reader) : body(*file->readback); };
    return with_open(file, checked, call);
}

/// Finds the decomposition of a handle, which must belong to `session`. The result is null for a
/// null handle.
/// @return TW_OK, TW_EHANDLE
Status decomposition_of(const tw_decomposition_impl* handle, tw_session session,
                        std::shared_ptr<const Decomposition>& found);

/// Begins a collective call of a session: checks that all ranks make the same call.
/// @param of      object of the call, for messages: a path or names
/// @param mine    this rank's own failure so far
/// @param detail  another value that must be the same on all ranks
/// @param words   integers of each rank, which are replaced by the combination of all ranks
/// @note Collective
Status enter(tw_session session, Call call, const char* of = "", const Status& mine = {},
             std::int64_t detail = 0, const AgreedWords& words = {});

/// Returns a path without symbolic links and dots, so that paths of the same file are equal.
std::string canonical(const std::string& path);

/// Checks on rank 0 that no open file of the session has this absolute path. Local.
Status check_unused(tw_session session, const std::string& path);

// The following functions are for files that are closed later (closing.cpp). They are collective,
// and return the same on every rank.

/// Closes a file's handle.
Status close_file(tw_file_impl& file);
/// If a file with this absolute path is still being closed, completes it and returns its error.
/// Called before the path is written or read.
Status settle_path(tw_session session, const std::string& path);
/// Returns the first error of a file that was completed later, if it has not been returned yet.
Status tell_late(tw_session session);

}  // namespace thalweg::detail
