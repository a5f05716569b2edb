// Fixtures for decompositions that all ranks of a job make together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "support/given.hpp"

class OnRanks : public testing::Test {
protected:
    OnRanks()
        : comm_(thalweg::detail::make_mpi_comm(MPI_COMM_WORLD)),
          rank_(comm_->rank()),
          size_(comm_->size()) {}

    /// Checks that every rank has the same status.
    void expect_alike(const thalweg::detail::Status& status) {
        std::vector<char> text(status.text.begin(), status.text.end());
        text.push_back(static_cast<char>(status.code));
        std::vector<char> first = text;
        comm_->broadcast(first, 0);
        EXPECT_EQ(text, first);
    }

    std::unique_ptr<thalweg::detail::Comm> comm_;
    int rank_, size_;
    std::shared_ptr<const thalweg::detail::Decomposition> made_;
};
