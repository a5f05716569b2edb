// Makes the handle of a file that is written or read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "session/calls.hpp"

namespace thalweg::detail {

/// A file's handle that is made before the ranks agree. The destructor removes the handle unless
/// begin() has succeeded.
class NewHandle {
public:
    explicit NewHandle(tw_session session) : session_(session) {}
    ~NewHandle() { drop(); }
    NewHandle(const NewHandle&) = delete;
    NewHandle& operator=(const NewHandle&) = delete;

    /// Makes a handle with a File, or with a Reader. Local.
    Status make(const std::string& path, const Settings& own, FileOptions options, bool writes) {
        drop();
        session_->files.open.reserve(session_->files.open.size() + 1);
        tw_file_impl made{.session = session_};
        made.about = std::make_shared<FileAbout>();
        made.about->path = path;
        if (session_->rank == 0) made.about->resolved = canonical(path);
        made.about->later = own.text("close") == "later";
        made.about->staging = own.number("staging");
        const int serial = session_->files.created + 1;
        if (writes) {
            made.file = std::make_unique<File>(*session_->team, session_->resources, path, serial,
                                               std::move(options));
            made.readback =
                std::make_unique<Readback>(*session_->team, session_->resources, *made.file);
        } else {
            made.reader = std::make_unique<Reader>(*session_->team, session_->resources, path,
                                                   serial, std::move(options));
        }
        session_->files.handles.push_back(std::move(made));
        made_ = &session_->files.handles.back();
        return {};
    }
    /// Returns the file that is written; null if there is none.
    File* written() const { return made_ != nullptr ? made_->file.get() : nullptr; }
    /// Creates or opens the file, and returns its handle to the caller.
    /// @param begin  function that creates or opens the file: (tw_file_impl&) -> Status
    /// @note Collective
    template <class Begin>
    Status begin(Begin&& begin, tw_file* file) {
        ++session_->files.created;
        if (Status status = begin(*made_); !status.ok()) return status;
        session_->files.open.push_back(made_);
        *file = std::exchange(made_, nullptr);
        return {};
    }

private:
    void drop() {
        if (made_ != nullptr) session_->files.handles.pop_back();
        made_ = nullptr;
    }

    tw_session session_;
    tw_file_impl* made_ = nullptr;
};

}  // namespace thalweg::detail
