// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <array>

namespace thalweg::cfio {
namespace {

// Represents "no error" in a minimum over the ranks. An error has its rank in the upper half and
// its (negative) code in the lower half, so that the minimum is the error of the lowest rank.
constexpr std::int64_t no_error = INT64_MAX;

std::int64_t ranked(int rank, int error) {
    return error == 0 ? no_error : (std::int64_t{rank} << 32) | -std::int64_t{error};
}

int code(std::int64_t ranked) {
    return ranked == no_error ? 0 : -static_cast<int>(ranked & 0x7fffffff);
}

int client(std::int64_t ranked) { return ranked == no_error ? 0 : static_cast<int>(ranked >> 32); }

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

}  // namespace

Outcome agree(MPI_Comm clients, Call call, std::int64_t file, std::int64_t content, int error) {
    // All clients have the same number if its minimum over the clients equals its maximum. The
    // maximum is the complement of the minimum of the complements, so one reduction finds both.
    const auto kind = static_cast<std::int64_t>(call);
    const std::array<std::int64_t, 7> mine = {
        kind, ~kind, file, ~file, content, ~content, ranked(rank_in(clients), error)};
    std::array<std::int64_t, 7> least{};
    MPI_Allreduce(mine.data(), least.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_MIN,
                  clients);
    Outcome outcome;
    outcome.together = least[0] == ~least[1] && least[2] == ~least[3];
    outcome.alike = least[4] == ~least[5];
    outcome.error = code(least[6]);
    outcome.client = client(least[6]);
    return outcome;
}

int first_error(MPI_Comm comm, int error) {
    const std::int64_t mine = ranked(rank_in(comm), error);
    std::int64_t least = no_error;
    MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, comm);
    return code(least);
}

}  // namespace thalweg::cfio
