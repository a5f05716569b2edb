// Service inline: completes a write of all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "service/service.hpp"

namespace thalweg::detail {

/// The state of the file's contents: what has been written completely.
struct Progress {
    std::vector<char> filled;  ///< fixed-size variables that were written, or had values before
    std::int64_t records = 0;
};

/// Value of `records` that leaves the record count unchanged.
constexpr std::int64_t records_as_before = -1;

/**
 * Agrees on the outcome of a write. If no rank failed, counts the records first, so that errors in
 * counting are part of the outcome.
 * @param mine     this rank's own failure
 * @param misfit   the error for values of this rank that did not fit
 * @param records  number in the file, or records_as_before
 * @param closes   every rank also calls Storage::close_early()
 * @return the same on every rank: a failure, which the file keeps, or the error for values that did
 *     not fit
 * @note Collective
 */
Status finish_write(FileContext& file, Target& target, Status mine, const Status& misfit,
                    std::int64_t records, bool durable, bool closes = false);

}  // namespace thalweg::detail
