// Service inline: what the ranks do after they have written together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "service/service.hpp"

namespace thalweg::detail {

/// What is in the file, complete.
struct Progress {
    std::vector<char> filled;  ///< fixed-size variables that were written, or are there
    std::int64_t records = 0;
};

/// For finish_write(): records are not counted anew.
constexpr std::int64_t records_as_before = -1;

/**
 * All ranks learn what became of a write. Where all of it is good, the records are counted before
 * they do, so that they learn of that, too.
 * @param mine     this rank's own failure
 * @param misfit   values of this rank that did not fit
 * @param records  of the file, or records_as_before
 * @return the same on every rank: a failure, which is kept, or that values did not fit
 * @note Collective
 */
Status finish_write(FileContext& file, Target& target, Status mine, const Status& misfit,
                    std::int64_t records, bool durable);

}  // namespace thalweg::detail
