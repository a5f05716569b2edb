// The files of a session and their handles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "dataset/readback.hpp"
#include "restart/restart.hpp"
#include "session/settings.hpp"

namespace thalweg::detail {

/// Information on a file that its handle keeps.
struct FileAbout {
    std::string path;
    std::string resolved;      ///< on rank 0: the path without symbolic links, see canonical()
    std::int64_t staging = 0;  ///< setting "staging": limit in bytes for all closing files
    bool later = false;        ///< close=later: tw_close does not wait until the data are written
    bool was_read = false;     ///< the file was only read, so nothing can be lost when it is closed
    /// Reason why all ranks had to give up the file; TW_OK if they did not.
    Status left;
};

}  // namespace thalweg::detail

/// A file's handle. It owns a File or a Reader until the file is closed; with close=later, until it
/// is complete. It can also stand for the definitions of a restart, until the restart is freed.
/// Handles are small and are kept until the session ends, so that the use of a closed one is
/// detected.
struct tw_file_impl {
    tw_session session = nullptr;
    std::shared_ptr<thalweg::detail::FileAbout>
        about{};  ///< null for a file that was closed long ago
    std::unique_ptr<thalweg::detail::File> file{};
    std::unique_ptr<thalweg::detail::Reader> reader{};
    /// Reads a file that is being written; null if it is not read.
    std::unique_ptr<thalweg::detail::Readback> readback{};
    /// Restart whose definitions the handle stands for; otherwise null.
    tw_restart restart = nullptr;
    bool exact = false;  ///< opened by a restart: a read must not lose precision
    /// Opened by a restart: values are compared with the checksums of the file.
    bool checksums = false;
    bool closed = false;

    const std::string& path() const {
        static const std::string unknown = "a file";
        return about ? about->path : unknown;
    }
};

struct tw_restart_impl {
    tw_session session;
    thalweg::detail::Settings settings;
    thalweg::detail::Restart restart;
    tw_file file;  ///< handle that stands for the restart's definitions
};

namespace thalweg::detail {

/// Result of a file that was completed after tw_close, until a call returns it. The same on every
/// rank.
struct LateResult {
    std::shared_ptr<const FileAbout> file;
    Status status;
};

/// The files of a session.
struct FilesOfSession {
    std::deque<tw_file_impl> handles;
    /// Handles of files that are not closed, or not yet complete, in order of creation.
    std::vector<tw_file_impl*> open;
    /// Handles of the files closed most recently, which still keep their paths.
    std::deque<tw_file_impl*> closed;
    /// With close=later: handles of closed files that are not complete yet. Oldest first, in the
    /// same order on every rank.
    std::vector<tw_file_impl*> closing;
    std::vector<LateResult> late;
    int created = 0;  ///< number of files created so far
};

}  // namespace thalweg::detail
