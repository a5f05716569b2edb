// SPDX-License-Identifier: Apache-2.0
#include "nc/base/session.hpp"

#include <hdf5.h>
#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "api/system_error.h"
#include "base/system/arithmetic.hpp"
#include "base/text/size.hpp"
#include "session/session.hpp"

namespace thalweg::nc {

namespace {

// Returns the sessions of the process. They are never destroyed: if a process ends without
// MPI_Finalize, its sessions are not ended, as the other ranks may not take part.
std::vector<std::unique_ptr<Session>>& sessions() {
    static auto* const all = new std::vector<std::unique_ptr<Session>>;
    return *all;
}

std::mutex& sessions_mutex() {
    static auto* const mutex = new std::mutex;
    return *mutex;
}

// Returns the actions that run before sessions end, one for each interface, in an order that is the
// same on all ranks.
std::set<void (*)(bool with_mpi)>& before_end() {
    static auto* const all = new std::set<void (*)(bool with_mpi)>;
    return *all;
}

void end_sessions(bool with_mpi) {
    const detail::OwnArithmetic arithmetic;
    for (auto* const action : before_end()) action(with_mpi);
    for (;;) {
        const auto found = std::find_if(sessions().begin(), sessions().end(), [&](const auto& s) {
            return s->ends_with_mpi() == with_mpi;
        });
        if (found == sessions().end()) return;
        sessions().erase(found);
    }
}

// Ends sessions in MPI_Finalize, which first deletes the attributes of MPI_COMM_SELF while MPI
// still works. The newest attribute is deleted first.
int mpi_ends(MPI_Comm, int, void*, void*) {
    end_sessions(true);
    return MPI_SUCCESS;
}

// Registers mpi_ends(). It must run before the callback of tw_init, which would leave open files
// incomplete.
void end_with_mpi() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_ends, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_free_keyval(&key);
}

// Registers the end of sessions that began without MPI. It runs when this process exits, but not in
// its children. HDF5 and netCDF must be initialized before, with the libraries that they use,
// because functions run in reverse order: they must not end before the files are closed.
void end_with_process() {
    static const pid_t process = getpid();
    static const bool registered = [] {
        H5open();
        nc_initialize();
        return std::atexit([] {
                   if (process == getpid()) end_sessions(false);
               }) == 0;
    }();
    (void)registered;
}

// Throws an error if the settings ask for servers: the program needs all ranks of its iosystem, so
// none can become a server.
// @param served  the iosystem is asynchronous, so it has servers already
void refuse_servers(bool served) {
    const char* const servers = std::getenv("THALWEG_SERVERS");
    if (servers != nullptr && std::atoi(servers) > 0)
        throw Error{NC_EINVAL, std::string("THALWEG_SERVERS cannot be used with ") +
                                   interface_name +
                                   ": the ranks that would serve are part of the model; use "
                                   "THALWEG_SERVICE=background"};
    const char* const service = std::getenv("THALWEG_SERVICE");
    if (!served && service != nullptr && std::string(service) == "servers")
        throw Error{NC_EINVAL, std::string("THALWEG_SERVICE=servers: ") + interface_name +
                                   " has no servers here; use THALWEG_SERVICE=background"};
}

bool informs() {
    const char* const level = std::getenv("THALWEG_LOG");
    return level != nullptr && (std::string(level) == "info" || std::string(level) == "debug");
}

constexpr std::int64_t mib = 1 << 20;

constexpr char settings[] = "staging=8GiB; attributes=first";

}  // namespace

void at_end(void (*action)(bool with_mpi)) { before_end().insert(action); }

void inform(MPI_Comm comm, const std::string& text) {
    if (informs() && rank_in(comm) == 0)
        std::fprintf(stderr, "thalweg: info: %s: %s\n", interface_name, text.c_str());
}

void inform(const char* interface, const Error& error) {
    if (informs())
        std::fprintf(stderr, "thalweg: info: %s: %s (%d)\n", interface, error.text.c_str(),
                     error.code);
}

void tell_incomplete(const std::string& path, bool others) {
    std::fprintf(stderr, "thalweg: the program ended without MPI_Finalize: %s%s incomplete\n",
                 path.c_str(), others ? " and others are" : " is");
}

void recover_killed(const std::string& path) {
    if (access(path.c_str(), F_OK) != 0 && access((path + ".part").c_str(), F_OK) == 0)
        tw_recover(path.c_str(), TW_KEEP_LONGER, nullptr, 0);
}

// Returns a quarter of the setting `staging`, because the library may hold several copies of the
// data while it takes them over.
std::int64_t staging_limit() {
    const char* const text = std::getenv("THALWEG_STAGING");
    if (text == nullptr) return 64 * mib;
    std::int64_t bytes = 0;
    if (!detail::parse_size(text, bytes)) return 64 * mib;  // the library refuses the setting
    return std::min(bytes, mib * mib) / 4;                  // what the library accepts
}

const std::string& Session::setting(const char* name) const { return handle_->settings.text(name); }

bool Session::keeps_arrays() const {
    const std::string& service = setting("service");
    return service == "auto" ? !served_ : service == "inline";
}

Session::Session(MPI_Comm comm) {
    refuse_servers(false);
    const bool alone = comm == MPI_COMM_NULL;
    ends_with_mpi_ = !alone || mpi_runs();
    const int status =
        alone ? tw_init_serial(settings, &handle_) : tw_init(comm, settings, &handle_);
    if (status != TW_OK) {
        const Error error{code_of(status), tw_error_message(handle_)};
        tw_finalize(&handle_);
        throw error;
    }
    set_comm(comm);
}

Session::Session(MPI_Comm comm, tw_session served) : handle_(served), served_(true) {
    set_comm(comm);
}

void Session::set_comm(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
}

Lanes* Session::lanes() {
    if (!asked_for_lanes_ && ranks_ > 1) lanes_ = Lanes::make(comm_);
    asked_for_lanes_ = true;
    return lanes_.get();
}

int Session::finalize() {
    kept.reset();
    lanes_.reset();
    return tw_finalize(&handle_);
}

Session::~Session() {
    if (handle_ != nullptr) {
        const int status = finalize();
        if (status != TW_OK && rank_ == 0)
            std::fprintf(stderr, "thalweg: at the end of the program: %s\n", tw_strerror(status));
    }
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Session::check(int status) const {
    if (status != TW_OK) throw error_of_call(status);
}

Error Session::error_of_call(int status) const {
    if (status == TW_OK) return {};
    std::string text = tw_error_message(handle_);
    if (text.empty()) text = tw_strerror(status);
    const int system = tw_system_error(handle_);
    const bool full = system == ENOSPC || system == EDQUOT || system == EFBIG;
    return {full ? system : code_of(status), text};
}

Session* find_session(MPI_Comm comm) {
    const std::lock_guard lock(sessions_mutex());
    for (const auto& session : sessions()) {
        if (session->is_served()) continue;
        if (comm == MPI_COMM_NULL || session->comm() == MPI_COMM_NULL) {
            if (comm == session->comm()) return session.get();
            continue;
        }
        int same = MPI_UNEQUAL;
        MPI_Comm_compare(comm, session->comm(), &same);
        if (same == MPI_IDENT || same == MPI_CONGRUENT) return session.get();
    }
    return nullptr;
}

// Returns the session of a communicator, and starts it if there is none. To start a session is
// collective, so the list of sessions is locked only afterwards: a thread must not hold the lock
// while it waits for other ranks.
Session& session_of(MPI_Comm comm) {
    if (Session* const found = find_session(comm)) return *found;
    auto made = std::make_unique<Session>(comm);
    const std::lock_guard lock(sessions_mutex());
    sessions().push_back(std::move(made));
    if (sessions().back()->ends_with_mpi())
        end_with_mpi();
    else
        end_with_process();
    return *sessions().back();
}

std::vector<Session*> begin_served(MPI_Comm world, const std::vector<MPI_Comm>& components,
                                   bool serves) {
    refuse_servers(true);
    std::vector<tw_session> begun(components.size() + 1);
    const std::string text = std::string(settings) + "; service=servers";
    const int status =
        tw_init_components(world, static_cast<int>(components.size()), components.data(),
                           serves ? 1 : 0, text.c_str(), begun.data());
    const Error error{code_of(status), tw_error_message(nullptr)};
    std::vector<Session*> made(components.size());
    for (std::size_t c = 0; c < components.size(); c++) {
        if (serves || status != TW_OK) {
            if (begun[c] != nullptr) tw_finalize(&begun[c]);
        } else if (begun[c] != nullptr) {
            sessions().push_back(std::make_unique<Session>(components[c], begun[c]));
            made[c] = sessions().back().get();
            end_with_mpi();
        }
    }
    if (status != TW_OK) throw error;
    return made;
}

void end_served(Session& session) {
    const int status = session.finalize();
    std::erase_if(sessions(), [&](const auto& s) { return s.get() == &session; });
    if (status != TW_OK) throw Error{code_of(status), tw_error_message(nullptr)};
}

}  // namespace thalweg::nc
