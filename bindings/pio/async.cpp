// SPDX-License-Identifier: Apache-2.0
#include "async.hpp"

#include <unistd.h>

#include <map>
#include <vector>

#include "library.hpp"

using namespace thalweg::pio;

namespace {

struct Waiting {
    MPI_Comm world;
    std::vector<int> ranks;  // of the I/O tasks
    bool tells;              // the first rank of the component
};

std::map<int, Waiting>& waiting() {
    static std::map<int, Waiting> all;
    return all;
}

constexpr int tag = 1;

void wait_for(int components, MPI_Comm world) {
    for (int ended = 0; ended < components;) {
        int there = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, tag, world, &there, &status);
        if (there == 0) {
            usleep(2000);
            continue;
        }
        MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, tag, world, MPI_STATUS_IGNORE);
        ended++;
    }
}

void join(MPI_Comm world, int components, const MPI_Comm* comp_comms, bool io, int* iosysidp) {
    need(iosysidp, "iosysidp");
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(world, &own);
    int ranks = 1;
    MPI_Comm_size(own, &ranks);
    std::vector<int> is_io(static_cast<std::size_t>(ranks), 0);
    const int mine = io ? 1 : 0;
    MPI_Allgather(&mine, 1, MPI_INT, is_io.data(), 1, MPI_INT, own);
    std::vector<int> io_ranks;
    for (int r = 0; r < ranks; r++)
        if (is_io[static_cast<std::size_t>(r)] != 0) io_ranks.push_back(r);
    tell_once("asynchronous I/O: the I/O ranks stay idle (use THALWEG_SERVICE=background)");
    for (int c = 0; c < components; c++) {
        iosysidp[c] = -1;
        if (comp_comms[c] == MPI_COMM_NULL) continue;
        int rank = 0, size = 1;
        MPI_Comm_rank(comp_comms[c], &rank);
        MPI_Comm_size(comp_comms[c], &size);
        const int number = std::max(1, std::min(static_cast<int>(io_ranks.size()), size));
        iosysidp[c] = add_iosystem(comp_comms[c], number, std::max(1, size / number), 0).id;
        waiting()[iosysidp[c]] = {own, io_ranks, rank == 0};
    }
    if (io) wait_for(components, own);
}

// Communicators of lists of ranks: that of the I/O ranks and one for each component.
void split(MPI_Comm world, const std::vector<int>& color_of, int components, MPI_Comm* io_comm,
           std::vector<MPI_Comm>& comp_comms) {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    const int color = color_of[static_cast<std::size_t>(rank)];
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_split(world, color < 0 ? MPI_UNDEFINED : color, rank, &made);
    *io_comm = color == 0 ? made : MPI_COMM_NULL;
    comp_comms.assign(static_cast<std::size_t>(components), MPI_COMM_NULL);
    if (color > 0) comp_comms[static_cast<std::size_t>(color - 1)] = made;
}

}  // namespace

void thalweg::pio::leave_async(int iosysid) {
    const auto found = waiting().find(iosysid);
    if (found == waiting().end()) return;
    if (found->second.tells)
        for (const int rank : found->second.ranks)
            MPI_Send(nullptr, 0, MPI_BYTE, rank, tag, found->second.world);
    waiting().erase(found);
}

int PIOc_init_async_from_comms(MPI_Comm world, int component_count, MPI_Comm* comp_comm,
                               MPI_Comm io_comm, int, int* iosysidp) {
    return attempt("PIOc_init_async_from_comms", nullptr, "", [&] {
        need(comp_comm, "comp_comm");
        join(world, component_count, comp_comm, io_comm != MPI_COMM_NULL, iosysidp);
    });
}

int PIOc_init_async(MPI_Comm world, int num_io_procs, int* io_proc_list, int component_count,
                    int* num_procs_per_comp, int** proc_list, MPI_Comm* io_comm,
                    MPI_Comm* comp_comm, int, int* iosysidp) {
    return attempt("PIOc_init_async", nullptr, "", [&] {
        need(num_procs_per_comp, "num_procs_per_comp");
        int ranks = 1;
        MPI_Comm_size(world, &ranks);
        std::vector<int> color(static_cast<std::size_t>(ranks), -1);
        const auto give = [&](int rank, int to) {
            if (rank < 0 || rank >= ranks || color[static_cast<std::size_t>(rank)] >= 0)
                throw Error{NC_EINVAL,
                            "rank " + std::to_string(rank) + " does not exist or has two roles"};
            color[static_cast<std::size_t>(rank)] = to;
        };
        int next = 0;
        for (int i = 0; i < num_io_procs; i++, next++)
            give(io_proc_list != nullptr ? io_proc_list[i] : next, 0);
        for (int c = 0; c < component_count; c++)
            for (int i = 0; i < num_procs_per_comp[c]; i++, next++)
                give(proc_list != nullptr ? proc_list[c][i] : next, c + 1);
        MPI_Comm io = MPI_COMM_NULL;
        std::vector<MPI_Comm> comps;
        split(world, color, component_count, &io, comps);
        if (io_comm != nullptr) *io_comm = io;
        for (int c = 0; comp_comm != nullptr && c < component_count; c++)
            comp_comm[c] = comps[static_cast<std::size_t>(c)];
        join(world, component_count, comps.data(), io != MPI_COMM_NULL, iosysidp);
    });
}

int PIOc_init_async_from_F90(int f90_world_comm, int num_io_procs, int* io_proc_list,
                             int component_count, int* num_procs_per_comp, int* flat_proc_list,
                             int* f90_io_comm, int* f90_comp_comm, int rearranger, int* iosysidp) {
    // Fortran's list has a row of the longest component for each of them.
    int longest = 0;
    for (int c = 0; num_procs_per_comp != nullptr && c < component_count; c++)
        longest = std::max(longest, num_procs_per_comp[c]);
    std::vector<int*> lists;
    for (int c = 0; c < component_count; c++)
        lists.push_back(flat_proc_list + static_cast<std::ptrdiff_t>(c) * longest);
    MPI_Comm io = MPI_COMM_NULL;
    std::vector<MPI_Comm> comps(static_cast<std::size_t>(std::max(component_count, 0)),
                                MPI_COMM_NULL);
    const int code =
        PIOc_init_async(MPI_Comm_f2c(f90_world_comm), num_io_procs, io_proc_list, component_count,
                        num_procs_per_comp, flat_proc_list != nullptr ? lists.data() : nullptr, &io,
                        comps.data(), rearranger, iosysidp);
    if (f90_io_comm != nullptr) *f90_io_comm = MPI_Comm_c2f(io);
    for (std::size_t c = 0; f90_comp_comm != nullptr && c < comps.size(); c++)
        f90_comp_comm[c] = MPI_Comm_c2f(comps[c]);
    return code;
}

int PIOc_init_async_comms_from_F90(int f90_world_comm, int component_count, int* f90_comp_comms,
                                   int f90_io_comm, int rearranger, int* iosysidp) {
    // 0 is no communicator, too.
    const auto comm_of = [](int f) { return f == 0 ? MPI_COMM_NULL : MPI_Comm_f2c(f); };
    std::vector<MPI_Comm> comps;
    for (int c = 0; c < component_count; c++) comps.push_back(comm_of(f90_comp_comms[c]));
    return PIOc_init_async_from_comms(MPI_Comm_f2c(f90_world_comm), component_count, comps.data(),
                                      comm_of(f90_io_comm), rearranger, iosysidp);
}
