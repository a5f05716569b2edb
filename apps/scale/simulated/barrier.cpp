// SMPI's MPI_Ibarrier ends when rank 0 has entered it, whoever else has not: in place of
// src/comm/barrier.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "comm/barrier.hpp"

#include <array>
#include <memory>

namespace thalweg::detail {

namespace {

/// Dissemination: in round k every rank tells the one 2^k after it what it has heard so far.
class Dissemination {
public:
    explicit Dissemination(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_rank(comm, &rank_);
        PMPI_Comm_size(comm, &size_);
        begin_round();
    }

    bool done() {
        while (distance_ < size_) {
            int over = 0;
            PMPI_Testall(2, requests_.data(), &over, MPI_STATUSES_IGNORE);
            if (over == 0) return false;
            distance_ *= 2;
            begin_round();
        }
        return true;
    }

private:
    void begin_round() {
        if (distance_ >= size_) return;
        constexpr int tag = 11;  // rounds of one barrier differ by their partners
        PMPI_Irecv(nullptr, 0, MPI_BYTE, (rank_ - distance_ + size_) % size_, tag, comm_,
                   &requests_[0]);
        PMPI_Isend(nullptr, 0, MPI_BYTE, (rank_ + distance_) % size_, tag, comm_, &requests_[1]);
    }

    MPI_Comm comm_;
    int rank_ = 0, size_ = 1, distance_ = 1;
    std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

std::function<bool()> begin_barrier(MPI_Comm comm) {
    const auto barrier = std::make_shared<Dissemination>(comm);
    return [barrier] { return barrier->done(); };
}

}  // namespace thalweg::detail
