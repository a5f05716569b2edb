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

#include "base/error_place.hpp"
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

/// A decomposition's handle. It is small and kept until the session ends, so that a copy of a freed
/// handle is recognized.
struct tw_decomposition_impl {
    tw_session session;
    std::shared_ptr<thalweg::detail::Declared> declared;  ///< null: freed
    /// What tw_inq_decomposition has returned pointers into.
    std::shared_ptr<const thalweg::detail::DecompositionArrays> described{};
};

namespace thalweg::detail {

/// Paths of the reports of tw_finalize; absolute, on rank 0. Empty: none.
struct OutputPaths {
    std::string summary, report, trace;
};

/// The information that a handle keeps on its file.
struct FileAbout {
    std::string path;
    std::int64_t staging = 0;  ///< setting: most bytes of files that are closing
    bool later = false;        ///< its close does not wait
    bool was_read = false;     ///< it was read: nothing can be lost when it is closed
    Status left;               ///< reason why it is closed, if all ranks had to give it up
};

}  // namespace thalweg::detail

/// A File or a Reader, until it is closed; a file that is closed later, until it is complete; or
/// what a restart defines, until it is freed. Kept until the session ends, small, so that a copy of
/// a closed handle is known.
struct tw_file_impl {
    tw_session session = nullptr;
    std::shared_ptr<thalweg::detail::FileAbout>
        about{};  ///< null: of a file that was closed long ago
    std::unique_ptr<thalweg::detail::File> file{};
    std::unique_ptr<thalweg::detail::Reader> reader{};
    std::unique_ptr<thalweg::detail::Readback> readback{};  ///< with a file that is written
    tw_restart restart = nullptr;  ///< the handle stands for its definitions
    bool exact = false;            ///< opened by a restart: values are read without loss
    bool checksums = false;        ///< and compared with their checksums
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
    tw_file file;  ///< stands for its definitions
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
    /// Starts a trace if the setting asks for it.
    /// @note Collective over the ranks, including servers
    void start_trace(thalweg::detail::Team& ranks);
    /// Gives up what some rank has given up in a call that others did not make.
    /// @note Collective
    void part(const thalweg::detail::Status& why);
    /// Retires the handle of a closed file.
    /// @param why  reason for closing it; TW_OK: it was complete
    void retire(tw_file_impl& file, thalweg::detail::Status why);
    /// Ends reading of a file that is written.
    void end_readback(tw_file_impl& file);
    /// Frees the session's MPI objects and threads.
    /// @note Collective
    void end();
    /// Ends the work of this rank without the others, who may not take part. Objects that they may
    /// wait for are kept until they are informed: by MPI_Finalize, or by tw_init of the same ranks.
    /// @return true if the session is kept
    bool abandon();
    /// Ends the sessions that this rank has abandoned, before one of the same ranks begins.
    /// @note Collective, with ranks in any call
    static void tell_of_abandoned(MPI_Comm comm);
    /// Gives the session up on all ranks.
    /// @param does  "cancelled"
    /// @note Collective, with ranks in any call
    void cancel(const char* does, const char* why);
    /// Ends the session when MPI_Finalize is called, if it has not ended by then.
    void watch_mpi();
    void mpi_ends(bool abandoned);
    bool is_abandoned() const;
    void end_abandoned();

    thalweg::detail::Settings settings;
    std::string servers_reason;                           ///< reason for servers=auto; else empty
    thalweg::detail::Wording wording;                     ///< of texts, the same on every rank
    std::unique_ptr<thalweg::detail::Servers> servers;    ///< null if there are none
    std::unique_ptr<thalweg::detail::Watchdog> watchdog;  ///< null if it is off
    std::unique_ptr<thalweg::detail::Trace> trace;        ///< null if it is off
    std::unique_ptr<thalweg::detail::Team> team;
    std::unique_ptr<thalweg::detail::Meeting> meetings;
    std::unique_ptr<thalweg::detail::Comm>
        model;  ///< for the model's messages, apart from the team's
    std::unique_ptr<thalweg::detail::Memory> memory;
    std::unique_ptr<thalweg::detail::Background> threads;
    std::unique_ptr<thalweg::detail::Packers> packer_threads;
    std::deque<tw_decomposition_impl> decompositions;
    /// Decompositions by a hash of their content, for as long as they are in use.
    std::unordered_multimap<std::uint64_t, std::weak_ptr<const thalweg::detail::Decomposition>>
        known;
    std::size_t most_known = 64;  ///< number above which unused ones are removed
    std::deque<tw_file_impl> file_handles;
    /// Handles of files that are not closed, or not complete; in the order in which they were made.
    std::vector<tw_file_impl*> files;
    std::deque<tw_file_impl*> closed;  ///< the latest ones, which still have their paths
    std::vector<std::unique_ptr<tw_restart_impl>> restarts;
    std::vector<std::shared_ptr<void>> histories;  ///< handles; of closed ones, only a little
    /// With close=later: handles that are closed, of files that are not complete; oldest first, the
    /// same on every rank.
    std::vector<tw_file_impl*> closing;
    /// The result of such a file until it is returned: the same on every rank.
    struct Late {
        std::shared_ptr<const thalweg::detail::FileAbout> file;
        thalweg::detail::Status status;
    };
    std::vector<Late> late;
    thalweg::detail::AllFigures finished;
    double begun = 0;     ///< time when tw_init returned
    double in_calls = 0;  ///< seconds in calls since then, without the present one,
    double entered = 0;   ///< which began then
    int created = 0;      ///< number of files so far
    int declared = 0;     ///< number of decompositions so far
    tw_role role = TW_MODEL;
    int rank = 0;                              ///< rank in the model
    const pid_t process = getpid();            ///< process in which it was made
    std::atomic<const char*> inside{nullptr};  ///< call that a thread is in
    int mpi_key = MPI_KEYVAL_INVALID;          ///< key of the attribute that watches MPI
    thalweg::detail::Status over;  ///< why the session can do nothing more, before tw_finalize
    std::string error, summary;
    thalweg::detail::ErrorPlace place;  ///< place of the error
    thalweg::detail::OutputPaths outputs;
};
