// PIO's asynchronous mode, in which some ranks only do I/O: they are servers, which the components
// share.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "library.hpp"

using namespace thalweg::pio;

namespace {

void check_arguments(int components, int rearranger, const int* iosysidp) {
    need(iosysidp, "iosysidp");
    if (components < 1) throw Error{NC_EINVAL, std::to_string(components) + " components"};
    if (rearranger != PIO_REARR_BOX && rearranger != PIO_REARR_SUBSET)
        throw Error{NC_EINVAL, "there is no rearranger " + std::to_string(rearranger)};
}

// Starts the sessions of the components. I/O ranks serve all of them, and return when these
// sessions have ended.
void begin(MPI_Comm world, int components, const MPI_Comm* comp_comms, bool io, int* iosysidp) {
    std::fill_n(iosysidp, components, -1);
    const std::vector<MPI_Comm> comms(comp_comms, comp_comms + components);
    int servers = io ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &servers, 1, MPI_INT, MPI_SUM, world);
    const std::vector<Session*> sessions = begin_served(world, comms, io);
    for (std::size_t c = 0; c < sessions.size(); c++) {
        if (sessions[c] == nullptr) {
            if (!io) iosysidp[c] = add_iosystem_elsewhere();
            continue;
        }
        // Functions about I/O tasks count the ranks of the component alone.
        const int ranks = sessions[c]->ranks();
        const int number = std::min(servers, ranks);
        iosysidp[c] = add_iosystem(*sessions[c], number, ranks / number, 0).id;
    }
}

// Makes a communicator for the I/O ranks, and one for each component, from lists of ranks.
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

int init_async(MPI_Comm world, int num_io_procs, const int* io_proc_list, int component_count,
               const int* num_procs_per_comp, const int* const* proc_list, MPI_Comm* io_comm,
               MPI_Comm* comp_comm, int rearranger, int* iosysidp) {
    return attempt("PIOc_init_async", nullptr, "", [&] {
        check_arguments(component_count, rearranger, iosysidp);
        need(num_procs_per_comp, "num_procs_per_comp");
        if (num_io_procs < 1)
            throw Error{NC_EINVAL, std::to_string(num_io_procs) + " ranks for I/O"};
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
        begin(world, component_count, comps.data(), io != MPI_COMM_NULL, iosysidp);
    });
}

}  // namespace

int PIOc_init_async_from_comms(MPI_Comm world, int component_count, MPI_Comm* comp_comm,
                               MPI_Comm io_comm, int rearranger, int* iosysidp) {
    return attempt(__func__, nullptr, "", [&] {
        check_arguments(component_count, rearranger, iosysidp);
        need(comp_comm, "comp_comm");
        begin(world, component_count, comp_comm, io_comm != MPI_COMM_NULL, iosysidp);
    });
}

int PIOc_init_async(MPI_Comm world, int num_io_procs, int* io_proc_list, int component_count,
                    int* num_procs_per_comp, int** proc_list, MPI_Comm* io_comm,
                    MPI_Comm* comp_comm, int rearranger, int* iosysidp) {
    return init_async(world, num_io_procs, io_proc_list, component_count, num_procs_per_comp,
                      proc_list, io_comm, comp_comm, rearranger, iosysidp);
}

int PIOc_init_async_from_F90(int f90_world_comm, int num_io_procs, const int* io_proc_list,
                             int component_count, const int* num_procs_per_comp,
                             const int* flat_proc_list, int* f90_io_comm, int* f90_comp_comm,
                             int rearranger, int* iosysidp) {
    // Fortran's list has one row for each component; all rows have the length of the longest.
    int longest = 0;
    for (int c = 0; num_procs_per_comp != nullptr && c < component_count; c++)
        longest = std::max(longest, num_procs_per_comp[c]);
    std::vector<const int*> lists;
    for (int c = 0; c < component_count; c++)
        lists.push_back(flat_proc_list + static_cast<std::ptrdiff_t>(c) * longest);
    MPI_Comm io = MPI_COMM_NULL;
    std::vector<MPI_Comm> comps(static_cast<std::size_t>(std::max(component_count, 0)),
                                MPI_COMM_NULL);
    const int code =
        init_async(MPI_Comm_f2c(f90_world_comm), num_io_procs, io_proc_list, component_count,
                   num_procs_per_comp, flat_proc_list != nullptr ? lists.data() : nullptr, &io,
                   comps.data(), rearranger, iosysidp);
    if (f90_io_comm != nullptr) *f90_io_comm = MPI_Comm_c2f(io);
    for (std::size_t c = 0; f90_comp_comm != nullptr && c < comps.size(); c++)
        f90_comp_comm[c] = MPI_Comm_c2f(comps[c]);
    return code;
}

int PIOc_init_async_comms_from_F90(int f90_world_comm, int component_count,
                                   const int* f90_comp_comms, int f90_io_comm, int rearranger,
                                   int* iosysidp) {
    // The handle 0 also means that there is no communicator.
    const auto comm_of = [](int f) { return f == 0 ? MPI_COMM_NULL : MPI_Comm_f2c(f); };
    std::vector<MPI_Comm> comps;
    for (int c = 0; c < component_count; c++) comps.push_back(comm_of(f90_comp_comms[c]));
    return PIOc_init_async_from_comms(MPI_Comm_f2c(f90_world_comm), component_count, comps.data(),
                                      comm_of(f90_io_comm), rearranger, iosysidp);
}
