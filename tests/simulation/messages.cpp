// Replaces the functions of MPI by which ranks and servers exchange messages, which arrive after
// simulated delays. All other communication is by ThreadComm. There is one communicator, which
// ThreadComm passes on as MPI_COMM_NULL.
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "simulation/run.hpp"
#include "simulation/scheduler.hpp"

using simulation::scheduler;
using simulation::self;

namespace {

constexpr std::size_t word = sizeof(std::int64_t);

struct Mail {
    int from = 0;
    double arrives = 0;
    std::vector<char> bytes;
};

/// Messages and barriers under way.
struct Post {
    std::map<int, std::deque<Mail>> boxes;  ///< messages, by receiver
    /// Arrival of the last message, by sender and receiver.
    std::map<std::pair<int, int>, double> last;
    std::map<std::intptr_t, double> sends;  ///< times at which requests are complete
    std::intptr_t next = 16;
    int in_barrier = 0;
};
Post& post() {
    static Post all;
    return all;
}

/// The request of a barrier.
constexpr std::intptr_t barrier = 8;

MPI_Request request_of(std::intptr_t number) { return (MPI_Request)number; }
std::intptr_t number_of(MPI_Request request) { return (std::intptr_t)request; }

double delay() {
    Random& random = scheduler->random();
    return 1e-6 * static_cast<double>(random.below(random.percent(5) ? 1000000 : 50));
}

}  // namespace

extern "C" {

int MPI_Comm_rank(MPI_Comm, int* rank) {
    *rank = self->rank;
    return MPI_SUCCESS;
}

int MPI_Isend(const void* data, int n, MPI_Datatype, int to, int, MPI_Comm, MPI_Request* request) {
    const auto* const begin = static_cast<const char*>(data);
    double& last = post().last[{self->rank, to}];
    last = std::max(last, scheduler->now() + delay());  // messages do not overtake each other
    post().boxes[to].push_back(
        {self->rank, last, {begin, begin + static_cast<std::size_t>(n) * word}});
    const std::intptr_t number = post().next++;
    post().sends[number] = scheduler->now() + delay();
    *request = request_of(number);
    scheduler->step();
    return MPI_SUCCESS;
}

int MPI_Iprobe(int, int, MPI_Comm, int* arrived, MPI_Status* status) {
    scheduler->step();
    *arrived = 0;
    for (const Mail& mail : post().boxes[self->rank]) {
        if (mail.arrives > scheduler->now()) continue;
        *arrived = 1;
        status->MPI_SOURCE = mail.from;
        status->MPI_ERROR = static_cast<int>(mail.bytes.size() / word);
        break;
    }
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status* status, MPI_Datatype, int* n) {
    *n = status->MPI_ERROR;
    return MPI_SUCCESS;
}

int MPI_Recv(void* data, int, MPI_Datatype, int from, int, MPI_Comm, MPI_Status*) {
    auto& box = post().boxes[self->rank];
    const auto mail =
        std::find_if(box.begin(), box.end(), [&](const Mail& m) { return m.from == from; });
    std::memcpy(data, mail->bytes.data(), mail->bytes.size());
    box.erase(mail);
    return MPI_SUCCESS;
}

int MPI_Ibarrier(MPI_Comm, MPI_Request* request) {
    ++post().in_barrier;
    *request = request_of(barrier);
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status*) {
    scheduler->step();
    *done = 1;
    if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
    const std::intptr_t number = number_of(*request);
    if (number == barrier)
        *done = post().in_barrier == simulation::ranks_of_run ? 1 : 0;
    else
        *done = post().sends.at(number) <= scheduler->now() ? 1 : 0;
    if (*done == 0) return MPI_SUCCESS;
    post().sends.erase(number);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    int done = 0;
    while (done == 0) MPI_Test(request, &done, status);
    return MPI_SUCCESS;
}

// Ends the job, because no job survives the end of one of its processes.
int MPI_Abort(MPI_Comm, int) { simulation::end_job("MPI_Abort"); }

}  // extern "C"
