// Requests of reads, in the library's terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reading/read_context.hpp"
#include "service/deferred.hpp"

namespace thalweg::detail {

/// The arguments of tw_get and related functions.
struct GetArguments {
    std::string name;
    /// Decomposition of the array; null if each rank requests the whole variable.
    std::shared_ptr<const Decomposition> decomposition;
    /// For each dimension of the variable, the corresponding dimension in memory; empty if they are
    /// matched by name.
    std::vector<int> order;
    std::int64_t record = 0;
    tw_array array{};
    Status wrong;  ///< error that the caller has already found
};

struct ReadRequest {
    int variable = 0;
    std::int64_t record = 0;
    std::shared_ptr<const Decomposition> decomposition;
    std::vector<int> order;
    ArrayView view;
    Fingerprint fingerprint;  ///< sample of the values of a deferred array, to detect changes
};

/// Checks the arguments and translates them. Local.
/// @param request  receives the translation
/// @return TW_OK, or the error in the arguments
Status check_arguments(const ReadContext& file, const GetArguments& arguments,
                       ReadRequest& request);
/// Checks that arrays have not changed since their read was deferred. Local.
Status check_deferred(const ReadContext& file, std::span<const ReadRequest> requests);

/// Checks that all ranks make the same call with the same requests.
/// @param mine  this rank's own error so far
/// @note Collective; the same status on every rank
Status agree_on(ReadContext& file, Call call, std::span<const ReadRequest> requests,
                const Status& mine);

}  // namespace thalweg::detail
