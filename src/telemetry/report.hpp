// Shows the summary of a run as a page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Puts a summary, and the advice on it, into the page src/telemetry/page.html, which needs no
/// network.
/// @param json   result of summarize(); figures that it lacks (in an older version) are left out
/// @param title  title of the page, in plain text
/// @param page   receives the page
/// @return TW_OK; TW_EFORMAT: the text is no summary
Status report_page(const std::string& json, const std::string& title, std::string& page);

}  // namespace thalweg::detail
