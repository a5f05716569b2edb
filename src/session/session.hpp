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

/// Handle of a decomposition. Handles are small and are kept until the session ends, so that the
/// use of a freed one is detected.
struct tw_decomposition_impl {
    tw_session session;
    std::shared_ptr<thalweg::detail::Declared> declared;  ///< null if the decomposition was freed
    /// Arrays to which tw_inq_decomposition has returned pointers.
    std::shared_ptr<const thalweg::detail::DecompositionArrays> described{};
    /// Made for a history, so its dimensions are not those of the model's other files.
    bool of_history = false;
};

namespace thalweg::detail {

/// Tests if the process is exiting with an error and without MPI_Finalize. Destructors of static
/// objects may then call the library, but other ranks would not take part in their calls.
bool process_fails();

/// Completes the files closed with close=later that can be completed without waiting. Then
/// completes the oldest others until at most `most` are left.
/// @note Collective
void complete_files(tw_session session, std::int64_t most);

/// Ends the job, because other ranks wait for this one and it cannot continue. Counted records
/// remain in the files.
[[noreturn]] void end_job(MPI_Comm comm, int rank, const char* call, const char* path,
                          const Status& why);

/// Absolute paths of the reports that tw_finalize writes, on rank 0. An empty path means no report.
struct OutputPaths {
    std::string summary, trace;
};

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

struct tw_session_impl : thalweg::detail::SessionResources {
    thalweg::detail::Memory* arena(thalweg::detail::Status& status) override;
    thalweg::detail::Background* background(thalweg::detail::Status& status) override;
    thalweg::detail::Packers& packers() override;
    thalweg::detail::ServerConnection* port() override {
        return servers ? &servers->port() : nullptr;
    }
    thalweg::detail::CallAgreement& call_agreement() override { return *agreement; }
    thalweg::detail::Status find_length(const std::string& dim,
                                        std::int64_t& length) const override;
    thalweg::detail::FileOptions options_for(const thalweg::detail::Settings& file_settings) const;
    /// Returns the figures of all files so far.
    /// @note Collective
    const std::string& summarize();
    /// Starts a trace if the setting asks for one.
    /// @note Collective over the ranks, including servers
    void start_trace(thalweg::detail::Team& ranks);
    /// Gives up, on all ranks, the objects that a rank had to give up because the ranks made
    /// different calls.
    /// @note Collective
    void leave_given_up(const thalweg::detail::Status& why);
    /// Closes the handle of a file.
    /// @param why  reason why the file was given up; TW_OK if it was complete
    void retire(tw_file_impl& file, thalweg::detail::Status why);
    /// Stops reading from a file that is being written.
    void end_readback(tw_file_impl& file);
    /// Frees the session's MPI objects and threads.
    /// @note Collective
    void end();
    /// Ends the work of this rank without the other ranks, which may not take part. Objects for
    /// which others may wait are kept until the others can be notified, in MPI_Finalize or in a
    /// tw_init of the same ranks.
    /// @return true if the session is kept
    bool abandon();
    /// Ends the sessions that this rank has abandoned, before a new session of the same ranks
    /// begins.
    /// @note Collective, with other ranks in any call of the library
    static void tell_of_abandoned(MPI_Comm comm);
    /// Gives up the session on all ranks.
    /// @param does  verb for the message, such as "cancelled"
    /// @note Collective, with other ranks in any call of the library
    void cancel(const char* does, const char* why);
    /// Registers a callback that ends the session in MPI_Finalize if it has not ended before.
    void watch_mpi();
    void mpi_ends(bool abandoned);
    bool is_abandoned() const;
    void end_abandoned();

    thalweg::detail::Settings settings;
    /// Reason for the number of servers with servers=auto; otherwise empty.
    std::string servers_reason;
    /// Wording of messages: Fortran's or C's order of dimensions and first index. The same on every
    /// rank.
    thalweg::detail::IndexConvention wording;
    std::unique_ptr<thalweg::detail::Servers> servers;    ///< null if there are no servers
    std::unique_ptr<thalweg::detail::Watchdog> watchdog;  ///< null if the watchdog is off
    std::unique_ptr<thalweg::detail::Trace> trace;        ///< null if tracing is off
    std::unique_ptr<thalweg::detail::Team> team;
    std::unique_ptr<thalweg::detail::CallAgreement> agreement;
    /// Communicator for messages between the model's ranks, apart from the team's messages.
    std::unique_ptr<thalweg::detail::Comm> model;
    std::unique_ptr<thalweg::detail::Memory> memory;
    std::unique_ptr<thalweg::detail::Background> threads;
    std::unique_ptr<thalweg::detail::Packers> packer_threads;
    std::deque<tw_decomposition_impl> decompositions;
    /// Decompositions in use, by a hash of their contents.
    std::unordered_multimap<std::uint64_t, std::weak_ptr<const thalweg::detail::Decomposition>>
        known;
    /// Number of entries at which unused decompositions are removed from `known`.
    std::size_t most_known = 64;
    std::deque<tw_file_impl> file_handles;
    /// Handles of files that are not closed, or not yet complete, in order of creation.
    std::vector<tw_file_impl*> files;
    /// Handles of the files closed most recently, which still keep their paths.
    std::deque<tw_file_impl*> closed;
    std::vector<std::unique_ptr<tw_restart_impl>> restarts;
    /// Handles of histories; closed ones keep little memory.
    std::vector<std::shared_ptr<void>> histories;
    /// With close=later: handles of closed files that are not complete yet. Oldest first, in the
    /// same order on every rank.
    std::vector<tw_file_impl*> closing;
    /// Result of a file that was completed after tw_close, until a call returns it. The same on
    /// every rank.
    struct Late {
        std::shared_ptr<const thalweg::detail::FileAbout> file;
        thalweg::detail::Status status;
    };
    std::vector<Late> late;
    thalweg::detail::AllFigures finished;
    double begun = 0;  ///< time when tw_init returned
    /// Name of this run in manifests: host and process of this rank, and the time of tw_init.
    std::string run;
    double in_calls = 0;  ///< seconds spent in calls since `begun`, without the present call
    /// Seconds since `begun` of histories: of their own work, which is not in `in_calls`, and of
    /// their agreements, which are.
    double history_work = 0, history_calls = 0;
    double entered = 0;  ///< time at which the present call began
    int created = 0;     ///< number of files created so far
    int declared = 0;    ///< number of decompositions made so far
    tw_role role = TW_MODEL;
    int rank = 0;                    ///< rank in the model's communicator
    const pid_t process = getpid();  ///< process in which the session was made
    /// Name of the call in which a thread is now; null if there is none.
    std::atomic<const char*> inside{nullptr};
    /// Key of the attribute by which MPI_Finalize notifies the session.
    int mpi_key = MPI_KEYVAL_INVALID;
    /// Reason why no call but tw_finalize is possible; TW_OK if there is none.
    thalweg::detail::Status over;
    thalweg::detail::Status error;  ///< last error, for tw_error_message
    std::string summary;
    thalweg::detail::OutputPaths outputs;
};
