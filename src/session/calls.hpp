// What all C functions have in common: checks of handles, and the way from a Status to a code and
// a text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/spdlog.h>

#include <utility>

#include "session/session.hpp"

namespace thalweg {

inline const char* text_or_empty(const char* text) { return text == nullptr ? "" : text; }

template <class T>
void tell(T* to, T value) {
    if (to != nullptr) *to = value;
}

/// Keeps the text of a failure for tw_error_message.
inline int report(tw_session session, Status status) {
    if (!status.ok() && session != nullptr) {
        session->error = std::move(status.text);
        // The caller decides what a failure means, and who hears of it.
        spdlog::debug("{} ({})", session->error, tw_strerror(status.code));
    }
    return status.code;
}

/// No exception leaves a C function, and a watchdog sees it.
/// @param call  the C function: a default argument stands for where it is left out
template <class F>
int guarded(tw_session session, const char* path, F&& body, std::int64_t step = 0,
            const char* call = __builtin_FUNCTION()) {
    const Standing standing(session == nullptr ? nullptr : session->watchdog.get(), call, path,
                            step);
    try {
        Status status = alone(body);
        if (status.code == TW_ENOMEM && path != nullptr)
            (void)alone([&]() -> Status {
                if (status.text.find(path) == std::string::npos)
                    status.text = fmt::format("{}: {}", path, status.text);
                return {};
            });
        return report(session, std::move(status));
    } catch (const std::exception& e) {
        return report(session, failure(TW_EINTERNAL, "internal error: {}", e.what()));
    }
}

template <class F>
int guarded(tw_session session, F&& body, const char* call = __builtin_FUNCTION()) {
    return guarded(session, nullptr, std::forward<F>(body), 0, call);
}

/// The step that a file is in, from 1, if a watchdog wants to know; else 0.
inline std::int64_t step_of(const tw_file_impl& file) {
    return file.session->watchdog && file.file ? file.file->figures().steps + 1 : 0;
}

/// A file being written.
template <class F>
int with_file(tw_file file, F&& body, const char* call = __builtin_FUNCTION()) {
    if (file == nullptr) return TW_EHANDLE;
    const auto checked = [&]() -> Status {
        if (file->closed) return failure(TW_ECLOSED, "{}: the file is closed", file->path);
        if (!file->file) return failure(TW_ESTATE, "{}: the file is open for reading", file->path);
        return body(*file->file);
    };
    return guarded(file->session, file->path.c_str(), checked, step_of(*file), call);
}

/// What is in a file that was there when it was opened.
template <class F>
int with_contents(tw_file file, F&& body, const char* call = __builtin_FUNCTION()) {
    if (file == nullptr) return TW_EHANDLE;
    const auto checked = [&]() -> Status {
        if (file->closed) return failure(TW_ECLOSED, "{}: the file is closed", file->path);
        const Source* contents = file->reader ? &file->reader->contents() : file->file->contents();
        if (contents == nullptr)
            return failure(TW_ESTATE, "{}: the file is open for writing", file->path);
        return body(*contents);
    };
    return guarded(file->session, file->path.c_str(), checked, 0, call);
}

template <class F>
int with_reader(tw_file file, F&& body, const char* call = __builtin_FUNCTION()) {
    if (file == nullptr) return TW_EHANDLE;
    const auto checked = [&]() -> Status {
        if (file->closed) return failure(TW_ECLOSED, "{}: the file is closed", file->path);
        if (!file->reader)
            return failure(TW_ESTATE, "{}: the file is open for writing", file->path);
        return body(*file->reader);
    };
    return guarded(file->session, file->path.c_str(), checked, 0, call);
}

/// Whether a path is given, the same on all ranks. @note Collective
Status check_path(tw_session session, const char* path);

/// Whether the session has no file open of that path. @note Collective
Status check_unused(tw_session session, const char* path);

}  // namespace thalweg
