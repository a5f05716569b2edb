// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "grid.hpp"

namespace thalweg::pio {

namespace {

std::vector<std::unique_ptr<Session>>& sessions() {
    static std::vector<std::unique_ptr<Session>> all;
    return all;
}

void (*before_end)() = nullptr;

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, when MPI still works, the newest
// first.
int end_sessions(MPI_Comm, int, void*, void*) {
    if (before_end != nullptr) before_end();
    while (!sessions().empty()) sessions().erase(sessions().begin());
    return MPI_SUCCESS;
}

// For each session: that of tw_init, which leaves open files incomplete, must come later.
void end_with_mpi() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_sessions, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_free_keyval(&key);
}

// An iosystem has no ranks to spare: the program counts on all of them.
void refuse_servers() {
    const char* const servers = std::getenv("THALWEG_SERVERS");
    if (servers != nullptr && std::atoi(servers) > 0)
        throw Error{
            NC_EINVAL,
            "THALWEG_SERVERS cannot be used with PIO's interface: the ranks that would serve "
            "are part of the model; use THALWEG_SERVICE=background"};
}

constexpr std::int64_t mib = 1 << 20;

}  // namespace

void at_end(void (*action)()) { before_end = action; }

void inform(MPI_Comm comm, const std::string& text) {
    const char* const level = std::getenv("THALWEG_LOG");
    if (level == nullptr || (std::string(level) != "info" && std::string(level) != "debug")) return;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) std::fprintf(stderr, "thalweg: info: PIO's interface: %s\n", text.c_str());
}

// A quarter of the setting staging: while they are handed over, the library holds them several
// times.
std::int64_t staging_limit() {
    const char* const text = std::getenv("THALWEG_STAGING");
    if (text == nullptr) return 64 * mib;
    char* end = nullptr;
    const double number = std::strtod(text, &end);
    const std::string unit = end;
    double times = 1;
    if (unit.find("Ki") != std::string::npos) times = 1024;
    if (unit.find("Mi") != std::string::npos) times = mib;
    if (unit.find("Gi") != std::string::npos) times = 1024.0 * mib;
    if (unit.find("Ti") != std::string::npos) times = 1024.0 * 1024.0 * mib;
    return static_cast<std::int64_t>(number * times) / 4;
}

bool keeps_arrays() {
    const char* const service = std::getenv("THALWEG_SERVICE");
    return service == nullptr || std::string(service) == "inline";
}

Session::Session(MPI_Comm comm) {
    refuse_servers();
    const int status = tw_init(comm, "staging=8GiB; attributes=first", &handle_);
    if (status != TW_OK) {
        const Error error{code_of(status), tw_error_message(handle_)};
        tw_finalize(&handle_);
        throw error;
    }
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
}

Session::~Session() {
    grids.clear();
    if (handle_ != nullptr) {
        const int status = tw_finalize(&handle_);
        if (status != TW_OK && rank_ == 0)
            std::fprintf(stderr, "thalweg: at the end of the program: %s\n", tw_strerror(status));
    }
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Session::check(int status, const std::string& where) const {
    if (status == TW_OK) return;
    std::string text = tw_error_message(handle_);
    if (text.empty()) text = tw_strerror(status);
    throw Error{code_of(status), where.empty() ? text : where + ": " + text};
}

Session& session_of(MPI_Comm comm) {
    for (const auto& session : sessions()) {
        int same = MPI_UNEQUAL;
        MPI_Comm_compare(comm, session->comm(), &same);
        if (same == MPI_IDENT || same == MPI_CONGRUENT) return *session;
    }
    sessions().push_back(std::make_unique<Session>(comm));
    end_with_mpi();
    return *sessions().back();
}

}  // namespace thalweg::pio
