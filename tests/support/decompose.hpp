// Makes decompositions with the ranks of a communicator, as tw_decompose does with those of a
// session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/team.hpp"
#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/// Makes a decomposition from a declaration: check() checks the arguments, and take() sets this
/// rank's part.
/// @note Collective; the status is the same on every rank
template <class Check, class Take>
Status declare(Comm& comm, Decomposition&& given, Check&& check, Take&& take,
               std::shared_ptr<const Decomposition>& made) {
    std::optional<Declaration> told;
    Status own;
    auto d = std::make_shared<Decomposition>(std::move(given));
    const Status mine = check(*d);
    if (mine.ok()) {
        own = take(*d);
        told.emplace(*d, own);
    }
    if (Status status = agree(comm, mine); !status.ok()) return status;
    comm.all_reduce(told->alike, Reduce::bit_or);
    comm.all_reduce(told->most, Reduce::max);
    comm.all_reduce(told->sum_words(), Reduce::sum);
    Status status;
    const std::unique_ptr<Team> team = Team::make(comm.duplicate(), 0, status);
    if (status.ok()) status = judge(*team, *told, own, *d);
    if (status.ok()) made = std::move(d);
    return status;
}

inline Status make_decomposition(Comm& comm, Decomposition given,
                                 std::shared_ptr<const Decomposition>& made) {
    return declare(
        comm, std::move(given), check_boxes, [](Decomposition&) { return Status{}; }, made);
}

inline Status make_listed_decomposition(Comm& comm, Decomposition given,
                                        const std::vector<std::string>& listed,
                                        std::span<const std::int64_t> indices, bool shared,
                                        std::shared_ptr<const Decomposition>& made) {
    const auto check = [&](Decomposition& d) {
        return check_list(d, listed, std::ssize(indices), shared);
    };
    const auto take = [&](Decomposition& d) { return take_list(d, indices, comm.rank()); };
    return declare(comm, std::move(given), check, take, made);
}

}  // namespace thalweg::detail
