// Finds the records that all ranks have put alike, so that they can be written together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "service/batch.hpp"

namespace thalweg::detail {

/// A record, or a fixed-size variable (record 0), of which each rank has put its part.
struct WholePut {
    int variable = 0;
    std::int64_t record = 0;
    std::int64_t key = 0;               ///< key of the holding
    bool complete = false;              ///< no element is left out
    bool by_put = false;                ///< it was put by tw_put
    const WaitingPart* part = nullptr;  ///< null: this rank has none
};

/**
 * Finds the records that the parts of a batch, without those of tw_put, make up on all ranks.
 * @param puts  receives those that are whole; has room for this rank's parts and all variables
 * @param rest  receives true if some rank has others
 * @return the same on every rank, as are `puts`, except this rank's own parts, and `rest`
 * @note Collective
 */
Status find_whole_puts(const FileContext& file, const Batch& batch, const Agreed& agreed,
                       std::vector<WholePut>& puts, bool& rest);

}  // namespace thalweg::detail
