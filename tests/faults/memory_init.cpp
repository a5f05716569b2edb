// Makes every allocation of tw_init and tw_init_components fail, one per run, on one rank.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: memory_init [--every N]
//
// Nothing may hang, and all ranks must get the same status, TW_OK or TW_ENOMEM. After TW_OK the
// session must work; after TW_ENOMEM there must be a text, and the next session must work.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "faults/failing_memory.hpp"
#include "system/check.hpp"

namespace {

std::string folder;
long every = 1;

bool ok(tw_session session, int status) {
    CHECK_TEXT(failing_memory::is_expected(session, status), "%s: %s", tw_strerror(status),
               tw_error_message(session));
    return status == TW_OK;
}

/// Writes a file in a session that tw_init has started. Calls may fail with TW_ENOMEM if memory
/// runs out on a server.
void use(tw_session session, const std::string& name) {
    MPI_Comm comm = MPI_COMM_NULL;
    ok(session, tw_model_comm(session, &comm));
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const std::int64_t n = size, start = rank, count = 1;
    tw_decomposition cells = nullptr;
    tw_file file = nullptr;
    const int value = 7;
    ok(session, tw_decompose(session, "x", 1, &n, &start, &count, &cells));
    ok(session, tw_create(session, (folder + "/" + name).c_str(), "", &file));
    ok(session, tw_def_var(file, "v", TW_INT, "time x", cells));
    if (ok(session, tw_enddef(file)) && ok(session, tw_put(file, "v", TW_INT, &value, 1)))
        ok(session, tw_end_step(file));
    ok(session, tw_close(&file));
}

/// Ends a session; if there is none, checks the error. A server has finished its work at this
/// point.
void end(tw_session session, int status, const std::string& name) {
    if (status != TW_OK && session != nullptr)
        CHECK_TEXT(std::string(tw_error_message(session)).find("memory") != std::string::npos, "%s",
                   tw_error_message(session));
    if (session == nullptr) return;
    tw_role role = TW_SERVER;
    CHECK(tw_inq_role(session, &role) == TW_OK);
    if (status == TW_OK && role == TW_MODEL) use(session, name);
    const int ended = tw_finalize(&session);
    CHECK_TEXT(ended == TW_OK || ended == TW_ENOMEM, "%s", tw_error_message(nullptr));
}

/// Repeats a call while its allocations fail.
/// @param begin makes the call, and returns the number of its allocations
template <class Begin>
void try_all(const std::string& name, Begin&& begin) {
    for (const int victim : {0, check::state.size - 1}) {
        for (long n = 1, most = 0;; n += every) {
            check::step("%s: allocation %ld of rank %d", name.c_str(), n, victim);
            int status = TW_OK;
            most = begin(check::state.rank == victim ? n : -1, status);
            MPI_Bcast(&most, 1, MPI_LONG, victim, MPI_COMM_WORLD);
            const auto all = check::gather(std::to_string(status));
            for (const std::string& other : all)
                CHECK_TEXT(other == all[0] && (status == TW_OK || status == TW_ENOMEM),
                           "%s, allocation %ld of rank %d: status %s and %s", name.c_str(), n,
                           victim, all[0].c_str(), other.c_str());
            if (most < n) break;
        }
        if (check::state.size == 1) break;
    }
}

void init(const std::string& settings) {
    const std::string all = "log=off; summary=" + folder + "/summary; " + settings;
    try_all("tw_init, " + settings, [&](long n, int& status) {
        tw_session session = nullptr;
        const auto call = [&] { return tw_init(MPI_COMM_WORLD, all.c_str(), &session); };
        long made = 0;
        status = failing_memory::failed_call(call, n, made);
        end(session, status, "init.nc");
        return made;
    });
}

/// Tests two components, and a server on the last rank.
void components() {
    const int rank = check::state.rank, size = check::state.size;
    if (size < 3) return;
    const bool serves = rank == size - 1;
    const std::size_t own = rank < size / 2 ? 0 : 1;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, serves ? 2 : static_cast<int>(own), rank, &comm);
    MPI_Comm comms[] = {MPI_COMM_NULL, MPI_COMM_NULL};
    if (!serves) comms[own] = comm;
    try_all("tw_init_components", [&](long n, int& status) {
        tw_session sessions[] = {nullptr, nullptr};
        const auto call = [&] {
            return tw_init_components(MPI_COMM_WORLD, 2, comms, serves ? 1 : 0,
                                      "log=off; service=servers; node_size=2", sessions);
        };
        long made = 0;
        status = failing_memory::failed_call(call, n, made);
        for (std::size_t c = 0; c < 2; ++c)
            end(sessions[c], status, "component" + std::to_string(c) + ".nc");
        return made;
    });
    MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 20);
    every = std::atol(check::option(argc, argv, "--every", "1").c_str());
    folder = check::make_folder("memory_init");
    init("");
    init("node_size=2");
    init("trace=" + folder + "/trace; summary=" + folder + "/summary.json");
    if (check::state.size > 1) {
        init("servers=1; service=servers");
        init("servers=auto; service=servers");
    }
    if (check::state.size > 3) init("servers=2; node_size=2; service=servers");
    components();
    check::remove_folder(folder);
    return check::verdict("memory_init");
}
