// What a call asks for, as the library understands it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reading/read_context.hpp"
#include "service/deferred.hpp"

namespace thalweg::detail {

/// What tw_get and its relatives are given.
struct Wish {
    std::string name;
    std::shared_ptr<const Decomposition> decomposition;  ///< null: every rank wants the whole
    std::vector<int> order;  ///< memory dimension of each of the variable's; empty: by the names
    std::int64_t record = 0;
    tw_array array{};
    Status wrong;  ///< what the caller has found already
};

struct ReadRequest {
    int variable = 0;
    std::int64_t record = 0;
    std::shared_ptr<const Decomposition> decomposition;
    std::vector<int> order;
    ArrayView view;
    Glimpse glimpse;  ///< of an array that is deferred
};

/// @param request  becomes what a wish means
/// @return TW_OK, or what is wrong with it. Local
Status check_wish(const ReadContext& file, const Wish& wish, ReadRequest& request);
/// Whether the arrays are still what they were when they were asked to be filled. Local
Status check_deferred(const ReadContext& file, std::span<const ReadRequest> requests);

/// All ranks agree that they make a call, and ask for the same.
/// @param mine  this rank's own failure so far
/// @note Collective; the same status on every rank
Status agree_on(ReadContext& file, Call call, std::span<const ReadRequest> requests,
                const Status& mine);

}  // namespace thalweg::detail
