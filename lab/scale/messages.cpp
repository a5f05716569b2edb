// scale-messages: checks the simulation's assumptions about messages. Measures latency, bandwidth,
// and progress while the sender computes, between the first and the last rank, which a job places
// on its first and last node.
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

namespace {

constexpr int rounds = 20;
constexpr double computing = 2;  // seconds

/// Returns the seconds that a message takes in one direction: the minimum over some rounds.
/// @note Collective over both ranks
double one_way(std::vector<char>& data, int bytes, int rank, int peer) {
    double least = 1e9;
    for (int i = 0; i < rounds; ++i) {
        const double start = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(data.data(), bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
            MPI_Recv(data.data(), bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data.data(), bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data.data(), bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
        }
        least = std::min(least, (MPI_Wtime() - start) / 2);
    }
    return least;
}

/// Computes without calling MPI.
void compute() {
    timespec time{static_cast<time_t>(computing), 0};
    nanosleep(&time, nullptr);
}

/// Returns the seconds until a message arrives whose sender computes after it has started the
/// message.
double arrival(std::vector<char>& data, int rank, int peer) {
    const auto bytes = static_cast<int>(data.size());
    char ready = 0;
    double seconds = 0;
    if (rank == 0) {
        MPI_Recv(&ready, 1, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request request;
        MPI_Isend(data.data(), bytes, MPI_CHAR, peer, 2, MPI_COMM_WORLD, &request);
        compute();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(&seconds, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(&ready, 1, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        MPI_Recv(data.data(), bytes, MPI_CHAR, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        seconds = MPI_Wtime() - start;
        MPI_Send(&seconds, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD);
    }
    return seconds;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int other = ranks - 1;
    if (ranks < 2) {
        std::fprintf(stderr, "scale-messages: start it on two ranks or more\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0 || rank == other) {
        std::vector<char> data(100'000'000, 1);
        const int peer = rank == 0 ? other : 0;
        const double latency = one_way(data, 8, rank, peer);
        const int large = 16 << 20;
        const double rate = large / one_way(data, large, rank, peer);
        const double arrived = arrival(data, rank, peer);
        if (rank == 0)
            std::printf(
                "{\"latency\": %.3e, \"message\": %.3e, \"arrived\": %.3f, \"computing\": %g}\n",
                latency, rate, arrived, computing);
    }
    MPI_Finalize();
    return 0;
}
