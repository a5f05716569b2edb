// The description of a run whose history is estimated: its time and its fields.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "history/configuration/resolve.hpp"

namespace thalweg::app {

struct HistoryRun {
    history::RunTimes times;
    history::Time end = 0;
    std::vector<history::DeclaredField> fields;
};

/// Reads a description:
///
///     calendar = "noleap"
///     start = "2000-01-01"
///     end = "2001-01-01"
///     step = 1800                     # seconds
///     dims = { lev = 30, lat = 180, lon = 360 }
///     [fields]
///     ta = "float lev lat lon"        # type and dimensions, in file order, without time
///     siconc = "float lat lon missing=varying"
///
/// @return problems, empty if all is right
std::vector<history::Problem> parse_run(std::string_view text, std::string_view name,
                                        HistoryRun& run);

}  // namespace thalweg::app
