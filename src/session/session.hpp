// A session, which tw_init makes and tw_finalize ends; all objects belong to one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "comm/team.hpp"
#include "dataset/file.hpp"
#include "dataset/readback.hpp"
#include "decomposition/describe.hpp"
#include "reading/reader.hpp"
#include "restart/restart.hpp"
#include "service/background/background.hpp"
#include "service/servers/served_file.hpp"
#include "service/servers/servers.hpp"
#include "session/settings.hpp"
#include "telemetry/trace_file.hpp"
#include "telemetry/watchdog.hpp"

/// A decomposition's handle. Handles are small and are kept until the session ends, so that a copy
/// of a freed one is recognized.
struct tw_decomposition_impl {
    tw_session session;
    std::shared_ptr<thalweg::detail::Declared> declared;  ///< null: freed
    /// The arrays into which tw_inq_decomposition has returned pointers.
    std::shared_ptr<const thalweg::detail::DecompositionArrays> described{};
};

namespace thalweg::detail {

/// The paths to which tw_finalize writes reports; absolute, and known on rank 0. Empty: none.
struct OutputPaths {
    std::string summary, trace;
};

/// The information that a handle keeps on its file.
struct FileAbout {
    std::string path;
    std::int64_t staging = 0;  ///< setting "staging": limit for the files that are closing
    bool later = false;        ///< tw_close does not wait for the file
    bool was_read = false;     ///< the file was only read, so nothing can be lost when it is closed
    Status left;               ///< reason why all ranks had to give up the file
};

}  // namespace thalweg::detail

/// A file's handle. It owns a File or a Reader until the file is closed (with close=later, until it
/// is complete), or stands for what a restart defines until the restart is freed. Handles are small
/// and are kept until the session ends, so that a copy of a closed one is recognized.
struct tw_file_impl {
    tw_session session = nullptr;
    std::shared_ptr<thalweg::detail::FileAbout>
        about{};  ///< null for a file that was closed long ago
    std::unique_ptr<thalweg::detail::File> file{};
    std::unique_ptr<thalweg::detail::Reader> reader{};
    /// Exists while a file that is being written is also read.
    std::unique_ptr<thalweg::detail::Readback> readback{};
    tw_restart restart = nullptr;  ///< set if the handle stands for a restart's definitions
    bool exact = false;            ///< opened by a restart: a read must not lose bits
    /// Opened by a restart: values are compared with their checksums.
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

struct tw_session_impl : thalweg::detail::SessionResources {
    thalweg::detail::Memory* arena(thalweg::detail::Status& status) override;
    thalweg::detail::Background* background(thalweg::detail::Status& status) override;
    thalweg::detail::Packers& packers() override;
    thalweg::detail::Port* port() override { return servers ? &servers->port() : nullptr; }
    thalweg::detail::Meeting& meeting() override { return *meetings; }
    double computing() const override { return entered - begun - in_calls; }
    thalweg::detail::FileOptions options_for(const thalweg::detail::Settings& file_settings) const;
    /// Returns the figures of all files so far.
    /// @note Collective
    const std::string& summarize();
    /// Starts a trace if the setting asks for one.
    /// @note Collective over the ranks, including servers
    void start_trace(thalweg::detail::Team& ranks);
    /// Gives up, on all ranks, what some rank has given up in a call that others did not make.
    /// @note Collective
    void part(const thalweg::detail::Status& why);
    /// Closes the handle of a file.
    /// @param why  reason for which the file was given up; TW_OK: it was complete
    void retire(tw_file_impl& file, thalweg::detail::Status why);
    /// Stops reading from a file that is being written.
    void end_readback(tw_file_impl& file);
    /// Frees the session's MPI objects and threads.
    /// @note Collective
    void end();
    /// Ends the work of this rank without the others, which may not take part. Objects that others
    /// may wait for are kept until they can be informed: by MPI_Finalize, or by a tw_init of the
    /// same ranks.
    /// @return true if the session is kept
    bool abandon();
    /// Ends the sessions that this rank has abandoned, before a new session begins with the same
    /// ranks.
    /// @note Collective, with other ranks in any call of the library
    static void tell_of_abandoned(MPI_Comm comm);
    /// Gives up the session on all ranks.
    /// @param does  word for the message, such as "cancelled"
    /// @note Collective, with other ranks in any call of the library
    void cancel(const char* does, const char* why);
    /// Watches for MPI_Finalize, which ends the session if it has not ended by then.
    void watch_mpi();
    void mpi_ends(bool abandoned);
    bool is_abandoned() const;
    void end_abandoned();

    thalweg::detail::Settings settings;
    /// Reason for the number with servers=auto; else empty.
    std::string servers_reason;
    /// Wording of messages, the same on every rank.
    thalweg::detail::Wording wording;
    std::unique_ptr<thalweg::detail::Servers> servers;    ///< null if there are none
    std::unique_ptr<thalweg::detail::Watchdog> watchdog;  ///< null if the watchdog is off
    std::unique_ptr<thalweg::detail::Trace> trace;        ///< null if tracing is off
    std::unique_ptr<thalweg::detail::Team> team;
    std::unique_ptr<thalweg::detail::Meeting> meetings;
    std::unique_ptr<thalweg::detail::Comm>
        model;  ///< communicator for the model's own messages, apart from the team's
    std::unique_ptr<thalweg::detail::Memory> memory;
    std::unique_ptr<thalweg::detail::Background> threads;
    std::unique_ptr<thalweg::detail::Packers> packer_threads;
    std::deque<tw_decomposition_impl> decompositions;
    /// Decompositions in use, by a hash of their content.
    std::unordered_multimap<std::uint64_t, std::weak_ptr<const thalweg::detail::Decomposition>>
        known;
    std::size_t most_known = 64;  ///< number of entries in `known` at which unused ones are removed
    std::deque<tw_file_impl> file_handles;
    /// Handles of files that are not closed or not complete, in the order in which they were made.
    std::vector<tw_file_impl*> files;
    /// Handles closed most recently, which still have their paths.
    std::deque<tw_file_impl*> closed;
    std::vector<std::unique_ptr<tw_restart_impl>> restarts;
    std::vector<std::shared_ptr<void>> histories;  ///< handles; of closed ones, only a little
    /// With close=later: closed handles of files that are not complete yet; oldest first, the same
    /// on every rank.
    std::vector<tw_file_impl*> closing;
    /// The result of a file that was closed later, until it is returned; the same on every rank.
    struct Late {
        std::shared_ptr<const thalweg::detail::FileAbout> file;
        thalweg::detail::Status status;
    };
    std::vector<Late> late;
    thalweg::detail::AllFigures finished;
    double begun = 0;  ///< time when tw_init returned
    /// Names the run in manifests: host and process of this rank, and the time of tw_init.
    std::string run;
    double in_calls = 0;  ///< seconds in calls since then, except the current call
    double entered = 0;   ///< time at which the current call began
    int created = 0;      ///< number of files created so far
    int declared = 0;     ///< number of decompositions made so far
    tw_role role = TW_MODEL;
    int rank = 0;                              ///< rank in the model's communicator
    const pid_t process = getpid();            ///< process in which the session was made
    std::atomic<const char*> inside{nullptr};  ///< call in which a thread is now; null: none
    int mpi_key = MPI_KEYVAL_INVALID;          ///< key of the attribute that watches MPI
    thalweg::detail::Status over;   ///< reason why only tw_finalize can be called; TW_OK: none
    thalweg::detail::Status error;  ///< the last one
    std::string summary;
    thalweg::detail::OutputPaths outputs;
};
