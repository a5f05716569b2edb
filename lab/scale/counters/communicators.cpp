// SPDX-License-Identifier: Apache-2.0
#include "communicators.hpp"

#ifndef THALWEG_SIMULATED

namespace thalweg::scale {

int duplicate(MPI_Comm comm, MPI_Comm* made) { return PMPI_Comm_dup(comm, made); }

int split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
    return PMPI_Comm_split(comm, color, key, made);
}

}  // namespace thalweg::scale

#else

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace thalweg::scale {

namespace {

/// Returns the group of a communicator. Groups are not freed, because SMPI would then refuse them
/// to other ranks.
MPI_Group group_of(MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    return group;
}

struct GetArguments {
    int color, key;
};

/// Returns the group of the new communicator of each rank.
std::vector<MPI_Group> groups_of(MPI_Comm comm, const std::vector<GetArguments>& all_arguments) {
    // Members of each color, as pairs of key and rank.
    std::map<int, std::vector<std::array<int, 2> > > members;
    for (int rank = 0; rank < static_cast<int>(all_arguments.size()); ++rank) {
        const auto [color, key] = all_arguments[static_cast<std::size_t>(rank)];
        if (color != MPI_UNDEFINED) members[color].push_back({key, rank});
    }
    std::vector<MPI_Group> groups(all_arguments.size(), MPI_GROUP_EMPTY);
    for (auto& [color, ordered] : members) {
        std::sort(ordered.begin(), ordered.end());
        std::vector<int> ranks;
        for (const auto& [key, rank] : ordered) ranks.push_back(rank);
        MPI_Group group = MPI_GROUP_NULL;
        PMPI_Group_incl(group_of(comm), static_cast<int>(ranks.size()), ranks.data(), &group);
        for (const int rank : ranks) groups[static_cast<std::size_t>(rank)] = group;
    }
    return groups;
}

}  // namespace

int duplicate(MPI_Comm comm, MPI_Comm* made) {
    return PMPI_Comm_create(comm, group_of(comm), made);
}

/// Splits a communicator. Rank 0 makes the groups of all new communicators.
int split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
    int rank = 0, size = 1;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    const GetArguments mine{color, key};
    std::vector<GetArguments> all_arguments(rank == 0 ? static_cast<std::size_t>(size) : 0);
    PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all_arguments.data(), sizeof mine, MPI_BYTE, 0, comm);
    std::vector<MPI_Group> groups;
    if (rank == 0) groups = groups_of(comm, all_arguments);
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Scatter(groups.data(), sizeof group, MPI_BYTE, &group, sizeof group, MPI_BYTE, 0, comm);
    *made = MPI_COMM_NULL;
    return color == MPI_UNDEFINED ? MPI_SUCCESS : PMPI_Comm_create(comm, group, made);
}

}  // namespace thalweg::scale

#endif
