// Makes the handle of a file that is written or read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/calls.hpp"

namespace thalweg::detail {

/// Makes a File or a Reader, begins it, and gives it a handle.
/// @param kind     the member of the handle that holds it
/// @param options  returns its FileOptions
/// @param begin    opens it @note Collective
/// @note Collective
template <class Kind, class Options, class Begin>
Status new_handle(tw_session session, const std::string& path, const Settings& own,
                  Options&& options, std::unique_ptr<Kind> tw_file_impl::*kind, Begin&& begin,
                  tw_file* file) {
    const int serial = ++session->created;
    tw_file_impl made{.session = session};
    bool added = false;
    Status status = session->team->agree(alone([&]() -> Status {
        session->files.reserve(session->files.size() + 1);
        made.about = std::make_shared<FileAbout>();
        made.about->path = path;
        made.about->later = own.text("close") == "later";
        made.about->staging = own.number("staging");
        made.*kind = std::make_unique<Kind>(*session->team, *session, path, serial, options());
        if constexpr (std::is_same_v<Kind, File>)
            made.readback = std::make_unique<Readback>(*session->team, *session, *made.file);
        session->file_handles.push_back({.session = session});
        added = true;
        return {};
    }));
    if (status.ok()) status = begin(*(made.*kind));
    if (!status.ok()) {
        if (added) session->file_handles.pop_back();
        return status;
    }
    session->file_handles.back() = std::move(made);
    *file = &session->file_handles.back();
    session->files.push_back(*file);
    return {};
}

}  // namespace thalweg::detail
