// The files that a history writes in a run, and the memory that it takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "history/configuration/resolve.hpp"
#include "streams/run.hpp"

namespace thalweg::app {

struct StreamEstimate {
    std::int64_t records = 0, files = 0;
    std::string first_file, last_file;
    std::int64_t record_bytes = 0;  ///< size in bytes of a record before compression
    std::int64_t bytes = 0;         ///< size in bytes of all files
    std::int64_t memory = 0;        ///< memory in bytes for sums and similar values on all ranks
    bool at_most = false;  ///< sizes are upper limits, because a region or a selection of levels
                           ///< may have fewer elements
};

/// Follows the steps of a run.
/// @return TW_OK, TW_EARG: a step is as long as a window
detail::Status estimate(const history::Table& table, const history::ResolvedStream& resolved,
                        const HistoryRun& run, StreamEstimate& found);

}  // namespace thalweg::app
