// Finds the records that all ranks have put alike, so that they can be written together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "service/batch.hpp"

namespace thalweg::detail {

/// A record of a variable, or a fixed-size variable (record 0), of which every rank has put its
/// part.
struct WholePut {
    int variable = 0;
    std::int64_t record = 0;
    std::int64_t key = 0;               ///< key of the holding
    bool complete = false;              ///< all elements were put
    bool by_put = false;                ///< it was put by tw_put
    const WaitingPart* part = nullptr;  ///< this rank's part; null if it has none
};

/**
 * Finds the records that all ranks have put as a whole, among the parts of a batch that are not
 * from tw_put.
 * @param puts  receives those records; must have room for this rank's parts and all variables
 * @param rest  receives true if some rank has other parts
 * @return the same on every rank, as are `rest` and `puts`, except for WholePut::part
 * @note Collective
 */
Status find_whole_puts(const FileContext& file, const Batch& batch, const Agreed& agreed,
                       std::vector<WholePut>& puts, bool& rest);

}  // namespace thalweg::detail
