// A barrier in a simulation, in place of src/comm/barrier.cpp: SMPI's MPI_Ibarrier ends when rank 0
// has entered it, regardless of the others.
// SPDX-License-Identifier: Apache-2.0
#include "comm/barrier.hpp"

#include <memory>
#include <vector>

namespace thalweg::detail {

namespace {

/// A dissemination barrier: in round k, each rank sends what it has received so far to the rank 2^k
/// after it. The barrier never calls MPI_Test, because SimGrid 3.32 keeps each request that
/// MPI_Test has found complete in a list, which it searches at the end of each message. Instead, a
/// rank looks at the memory of the message, and waits only for requests that are complete or will
/// be soon.
class Dissemination {
public:
    explicit Dissemination(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_rank(comm, &rank_);
        PMPI_Comm_size(comm, &size_);
        begin_round();
    }

    bool done() {
        while (distance_ < size_) {
            if (heard_ == 0) return false;
            PMPI_Wait(&receive_, MPI_STATUS_IGNORE);
            distance_ *= 2;
            begin_round();
        }
        // All ranks have entered the barrier, so the messages arrive without further calls.
        PMPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
        return true;
    }

private:
    void begin_round() {
        if (distance_ >= size_) return;
        // All rounds can have the same tag, because a rank has another partner in each round.
        constexpr int tag = 11;
        heard_ = 0;
        PMPI_Irecv(&heard_, 1, MPI_CHAR, (rank_ - distance_ + size_) % size_, tag, comm_,
                   &receive_);
        PMPI_Isend(&word, 1, MPI_CHAR, (rank_ + distance_) % size_, tag, comm_,
                   &sends_.emplace_back());
    }

    static constexpr char word = 1;
    MPI_Comm comm_;
    int rank_ = 0, size_ = 1, distance_ = 1;
    char heard_ = 0;
    MPI_Request receive_ = MPI_REQUEST_NULL;
    std::vector<MPI_Request> sends_;
};

}  // namespace

std::function<bool()> begin_barrier(MPI_Comm comm) {
    const auto barrier = std::make_shared<Dissemination>(comm);
    return [barrier] { return barrier->done(); };
}

}  // namespace thalweg::detail
