// A session, which tw_init makes and tw_finalize ends; all objects belong to one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "service/background/background.hpp"
#include "service/servers/servers.hpp"
#include "session/decompositions.hpp"
#include "session/files.hpp"
#include "session/telemetry.hpp"

namespace thalweg::detail {

/// The calls of a session, one at a time.
struct CallState {
    const pid_t process = getpid();  ///< process in which the session was made
    /// Name of the call in which a thread is now; null if there is none.
    std::atomic<const char*> inside{nullptr};
    /// Reason why no call but tw_finalize is possible; TW_OK if there is none.
    Status over;
    Status error;  ///< last error, for tw_error_message
};

/// The resources that the files of a session share. They are made when a file needs them.
class SharedResources final : public SessionResources {
public:
    explicit SharedResources(tw_session_impl& session) : session_(session) {}

    Memory* arena(Status& status) override;
    Background* background(Status& status) override;
    Packers& packers() override;
    ServerConnection* port() override;
    CallAgreement& call_agreement() override;
    Status find_length(const std::string& dim, std::int64_t& length) const override;
    /// Frees memory and threads. No file may use them any more.
    void free();

private:
    tw_session_impl& session_;
    std::unique_ptr<Memory> memory_;
    std::unique_ptr<Background> threads_;
    std::unique_ptr<Packers> packers_;
};

/// Tests if the process is exiting with an error and without MPI_Finalize. Destructors of static
/// objects may then call the library, but other ranks would not take part in their calls.
bool process_fails();

/// Completes the files closed with close=later that can be completed without waiting. Then
/// completes the oldest others until at most `most` are left.
/// @note Collective
void complete_files(tw_session session, std::int64_t most);

/// Ends the job, because a call of all ranks cannot continue on this one. Counted records
/// remain in the files.
[[noreturn]] void end_job(MPI_Comm comm, int rank, const char* call, const char* path,
                          const Status& why);

}  // namespace thalweg::detail

struct tw_session_impl {
    tw_session_impl() : resources(*this) {}

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
    /// Gives up a file: closes it without completing it.
    /// @param why  error that later calls with its handle return
    /// @note Collective
    void give_up_file(tw_file_impl& file, const thalweg::detail::Status& why);
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

    /// Tests if this rank is a server.
    bool is_server() const { return servers && servers->is_server(); }

    thalweg::detail::Settings settings;
    /// Wording of messages: Fortran's or C's order of dimensions and first index. The same on every
    /// rank.
    thalweg::detail::IndexConvention wording;
    int rank = 0;                                       ///< rank in the model's communicator
    std::unique_ptr<thalweg::detail::Servers> servers;  ///< null if there are no servers
    std::unique_ptr<thalweg::detail::Team> team;
    std::unique_ptr<thalweg::detail::CallAgreement> agreement;
    /// Communicator for messages between the model's ranks, apart from the team's messages.
    std::unique_ptr<thalweg::detail::Comm> model;
    thalweg::detail::SharedResources resources;
    thalweg::detail::Decompositions decompositions;
    thalweg::detail::FilesOfSession files;
    std::vector<std::unique_ptr<tw_restart_impl>> restarts;
    /// Handles of histories; closed ones keep little memory.
    std::vector<std::shared_ptr<void>> histories;
    thalweg::detail::SessionTelemetry telemetry;
    thalweg::detail::CallState calls;
    /// Key of the attribute by which MPI_Finalize notifies the session.
    int mpi_key = MPI_KEYVAL_INVALID;
};
