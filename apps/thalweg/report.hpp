// thalweg report: the summary of a run as a page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::app {

/// Writes an HTML page for a summary.
/// @param summary path of the JSON file that the setting `summary` has named; "-": standard input
/// @param output path of the page; "-": standard output; empty: path of the summary with the ending
///               .html
/// @param written receives the path of the page; empty: standard output
/// @return TW_OK, TW_EIO, TW_EFORMAT (the file is no summary), TW_EARG (both paths are one file)
thalweg::detail::Status report(const std::string& summary, const std::string& output,
                               std::string& written);

}  // namespace thalweg::app
