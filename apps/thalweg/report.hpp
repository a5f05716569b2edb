// thalweg report: the summary of a run as a page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::app {

/// Writes the page.
/// @param summary  path of the JSON that the setting `summary` names; "-": standard input
/// @param output   path of the page; empty: path of the summary, but ending in .html; "-": standard
/// output
/// @param written  receives the path of the page; empty: standard output
/// @return TW_OK, TW_EIO, TW_EFORMAT (the file is no summary), TW_EARG (both paths are one file)
thalweg::detail::Status report(const std::string& summary, const std::string& output,
                               std::string& written);

}  // namespace thalweg::app
