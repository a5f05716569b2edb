// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

namespace thalweg::cfio {
namespace {

// Tests if the arguments are valid and the same on all ranks.
bool usable(int x, int y, int ratio) {
    const std::array<int, 6> mine = {x, ~x, y, ~y, ratio, ~ratio};
    std::array<int, 6> least{};
    MPI_Allreduce(mine.data(), least.data(), static_cast<int>(mine.size()), MPI_INT, MPI_MIN,
                  MPI_COMM_WORLD);
    const bool same = least[0] == ~least[1] && least[2] == ~least[3] && least[4] == ~least[5];
    return same && x > 0 && y > 0 && ratio > 0;
}

// Programs written for CFIO expect no log, so turn it off.
std::string settings_of(const Roles& roles) {
    return "service=servers; close=later; log=off; servers=" + std::to_string(roles.servers) +
           ":last";
}

const char* settings_of(int cmode) {
    if ((cmode & NC_NETCDF4) != 0) return "format=netcdf4";
    if ((cmode & NC_64BIT_DATA) != 0) return "format=cdf5";
    return (cmode & NC_64BIT_OFFSET) != 0 ? "format=cdf2" : "format=cdf1";
}

}  // namespace

// ---- roles ------------------------------------------------------------------------------------

void Program::init(int x, int y, int ratio) {
    const auto refuse = [](const std::string& why) {
        throw Error{CFIO_ERROR_INVALID_INIT_ARG, why, true};
    };
    int mpi_runs = 0;
    MPI_Initialized(&mpi_runs);
    if (mpi_runs == 0) refuse("call MPI_Init first");
    if (running_) refuse("called twice");
    error_ = 0;
    type_ = CFIO_PROC_BLANK;
    if (!usable(x, y, ratio)) refuse("grid and ratio must be positive and the same on all ranks");
    const Roles roles = roles_of(x, y, ratio);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (roles.needed() > size)
        refuse("a grid of " + std::to_string(x) + " x " + std::to_string(y) + " with ratio " +
               std::to_string(ratio) + " needs " + std::to_string(roles.needed()) +
               " ranks (clients: " + std::to_string(roles.clients) +
               ", servers: " + std::to_string(roles.servers) + "), but the program runs on " +
               std::to_string(size));
    start(roles, rank);
    running_ = true;
}

void Program::start(const Roles& roles, int rank) {
    const bool client = roles.is_client(rank);
    const bool blank = roles.is_blank(rank);
    // Clients send the result to blank ranks at once. Servers get it only when they have ended
    // their work.
    MPI_Comm waiting = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, client || blank ? 0 : MPI_UNDEFINED, rank, &waiting);
    MPI_Comm_split(MPI_COMM_WORLD, blank ? MPI_UNDEFINED : 0, rank, &group_);
    const std::string trouble = blank ? std::string() : start_session(roles, rank);
    int code = trouble.empty() ? 0 : CFIO_ERROR_INVALID_INIT_ARG;
    if (waiting != MPI_COMM_NULL) {
        code = first_error(waiting, code);
        MPI_Comm_free(&waiting);
    }
    if (client && code == 0) {
        type_ = CFIO_PROC_CLIENT;
    } else if (!blank) {
        // A server has ended its work now. It gets the clients' result here or in finish().
        code = error_ = first_error(group_, code);
        MPI_Comm_free(&group_);
        type_ = CFIO_PROC_SERVER;
    }
    if (code != CFIO_ERROR_INVALID_INIT_ARG) return;
    type_ = CFIO_PROC_BLANK;
    throw Error{code, trouble, true};
}

// Starts the session, on a server also ends it. Returns the text of an error, or "".
std::string Program::start_session(const Roles& roles, int rank) {
    const int status = tw_init(group_, settings_of(roles).c_str(), &session_);
    std::string trouble;
    if (status != TW_OK)
        trouble = text_of(status, session_);
    else if (!kept(roles, rank))
        trouble = "the settings in the environment conflict with CFIO's clients and servers";
    if (trouble.empty() && roles.is_client(rank))
        tw_model_comm(session_, &clients_);
    else
        tw_finalize(&session_);
    return trouble;
}

// Tests if the session has given the ranks the roles that CFIO requires. Settings in the
// environment can change them.
bool Program::kept(const Roles& roles, int rank) const {
    tw_role role = TW_MODEL;
    tw_inq_role(session_, &role);
    if ((role == TW_MODEL) != roles.is_client(rank)) return false;
    if (role == TW_SERVER) return true;
    // Model ranks keep the order of the group. So they are its first ranks if the last of them has
    // the expected number.
    MPI_Comm model = MPI_COMM_NULL;
    tw_model_comm(session_, &model);
    MPI_Group models = MPI_GROUP_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(model, &models);
    MPI_Comm_group(group_, &all);
    int count = 0;
    MPI_Group_size(models, &count);
    const int last = count - 1;
    int place = 0;
    MPI_Group_translate_ranks(models, 1, &last, all, &place);
    MPI_Group_free(&models);
    MPI_Group_free(&all);
    return count == roles.clients && place == last;
}

int Program::finalize() {
    int mpi_ended = 0;
    MPI_Finalized(&mpi_ended);
    if (mpi_ended != 0) return CFIO_ERROR_FINAL_AFTER_MPI;
    if (!running_) {
        remember(CFIO_ERROR_INVALID_INIT_ARG);
    } else if (type_ == CFIO_PROC_CLIENT) {
        finish();
    }
    running_ = false;
    return std::exchange(error_, 0);
}

void Program::finish() {
    // Wait until the other clients are in cfio_finalize, too. They may still be in calls that have
    // failed on this client.
    while (!agree(clients_, Call::finalize, 0, 0, 0).together) remember(CFIO_ERROR_NC);
    while (!files_.empty()) {
        const int id = files_.begin()->first;
        try {
            close(id);
        } catch (const Error& error) {
            files_.erase(id);
            fail("cfio_finalize", id, error);
            remember(error.code);
        }
    }
    complete_files(0);
    if (late_.code != 0) fail("cfio_finalize", 0, std::exchange(late_, {}));
    for (const auto& [id, error] : replaced_) remember(error.code);
    replaced_.clear();
    last_id_ = 0;
    clients_ = MPI_COMM_NULL;
    remember(code_of(tw_finalize(&session_)));
    error_ = first_error(group_, error_);
    MPI_Comm_free(&group_);
}

void Program::require_client() const {
    if (clients_ == MPI_COMM_NULL)
        throw Error{CFIO_ERROR_INVALID_INIT_ARG, "this rank is not a client, or cfio_init failed"};
}

// ---- files ------------------------------------------------------------------------------------

int Program::create(const std::string& path, int cmode) {
    require_client();
    const Outcome outcome =
        agree(clients_, Call::create, digest(path + std::to_string(cmode)), 0, 0);
    if (!outcome.together)
        throw Error{CFIO_ERROR_NC, "the other clients are in another call or create another file"};
    if ((cmode & NC_64BIT_OFFSET) != 0 && (cmode & NC_64BIT_DATA) != 0)
        throw Error{CFIO_ERROR_NC, "'" + path + "': cmode asks for two formats", true};
    if ((cmode & NC_NOCLOBBER) != 0) {
        complete_files(0);  // renames completed files to their final names
        int rank = 0;
        MPI_Comm_rank(clients_, &rank);
        // One client tests this for all, because nodes may see different states of the file system
        // for a moment.
        const bool taken = rank == 0 && access(path.c_str(), F_OK) == 0;
        if (first_error(clients_, taken ? CFIO_ERROR_NC : 0) != 0)
            throw Error{CFIO_ERROR_NC, "'" + path + "' already exists", true};
    }
    end_open_file(path);
    tw_file handle = nullptr;
    int status = tw_create(session_, path.c_str(), settings_of(cmode), &handle);
    if (status != TW_OK) {
        // This may be the error of an earlier file with the same path; the library returns it only
        // once.
        const Error first{code_of(status), text_of(status, session_), true};
        status = tw_create(session_, path.c_str(), settings_of(cmode), &handle);
        if (status != TW_OK) throw first;
        late_ = first;
    }
    ++last_id_;
    files_.try_emplace(last_id_, last_id_, path, session_, clients_, handle);
    return last_id_;
}

// Closes an open file of this path, because the new file replaces it: a program may create a path
// again before it closes the file. All clients have the same files open.
void Program::end_open_file(const std::string& path) {
    for (const auto& [id, file] : files_) {
        if (file.path() != path) continue;
        const int ended = id;
        Error error;
        try {
            close(ended);
        } catch (const Error& failure) {
            error = failure;
            files_.erase(ended);
        }
        replaced_[ended] = error;
        return;
    }
}

bool Program::close(int id) {
    if (const auto ended = replaced_.find(id); ended != replaced_.end()) {
        const Error error = ended->second;
        replaced_.erase(ended);
        if (error.code != 0) throw error;
        return false;
    }
    File& file = this->file(id);
    try {
        file.close();
    } catch (...) {
        if (!file.is_open()) files_.erase(id);
        throw;
    }
    files_.erase(id);
    return true;
}

void Program::complete_files(std::int64_t left) {
    const int status = tw_wait(session_, left);
    if (status != TW_OK && late_.code == 0)
        late_ = Error{code_of(status), text_of(status, session_), true};
}

void Program::tell_late() {
    complete_files(std::numeric_limits<std::int64_t>::max());
    if (late_.code != 0) throw std::exchange(late_, {});
}

File& Program::file(int id) {
    require_client();
    const auto there = files_.find(id);
    if (there == files_.end() && replaced_.contains(id))
        throw Error{CFIO_ERROR_NC_NO_EXIST,
                    "file " + std::to_string(id) + " was closed when its path was created again"};
    if (there == files_.end())
        throw Error{CFIO_ERROR_NC_NO_EXIST, "no open file with id " + std::to_string(id)};
    return there->second;
}

void Program::end_io() {
    require_client();
    for (auto& [id, file] : files_) file.end_io();
}

void Program::end_steps() {
    if (files_.empty()) return;
    std::vector<int> blocks;
    for (const auto& [id, file] : files_) blocks.push_back(static_cast<int>(file.blocks()));
    MPI_Allreduce(MPI_IN_PLACE, blocks.data(), static_cast<int>(blocks.size()), MPI_INT, MPI_MAX,
                  clients_);
    auto most = blocks.begin();
    for (auto& [id, file] : files_)
        if (*most++ == static_cast<int>(Blocks::ended)) file.end_step();
}

// ---- errors -----------------------------------------------------------------------------------

int Program::fail(const char* call, int file, const Error& error) {
    int mpi_runs = 0;
    int mpi_ended = 0;
    int rank = 0;
    MPI_Initialized(&mpi_runs);
    MPI_Finalized(&mpi_ended);
    if (mpi_runs != 0 && mpi_ended == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!error.shared || rank == 0)
        std::fprintf(stderr, "cfio: rank %d: %s: %s\n", rank, call, error.text.c_str());
    const auto there = files_.find(file);
    if (there != files_.end())
        there->second.remember(error.code);
    else if (!error.done)
        remember(error.code);
    return error.code;
}

}  // namespace thalweg::cfio
