// Which of the records that the ranks have put are put by all of them alike, so that they can be
// written together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "service/batch.hpp"

namespace thalweg::detail {

/// A record, or a fixed-size variable (record 0), of which each rank has put its part.
struct WholePut {
    int variable = 0;
    std::int64_t record = 0;
    std::int64_t key = 0;               ///< of the holding
    bool complete = false;              ///< no element is left out
    bool by_put = false;                ///< by tw_put
    const WaitingPart* part = nullptr;  ///< null: this rank has none
};

/**
 * Finds what the parts of a batch that are not of tw_put come to on all ranks together.
 * @param puts  receives those that are whole; has room for this rank's parts and all variables
 * @param rest  receives whether some rank has others
 * @return the same on every rank, as is all that is received but this rank's own parts
 * @note Collective
 */
Status find_whole_puts(const FileContext& file, const Batch& batch, const Agreed& agreed,
                       std::vector<WholePut>& puts, bool& rest);

}  // namespace thalweg::detail
