// Shows the summary of a run as a page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Makes an HTML page from a summary and the advice on it. The page (src/telemetry/page.html) loads
/// nothing from the network.
/// @param json   result of summarize(); the page leaves out figures that an older version does not
///               have
/// @param title  title of the page, in plain text
/// @param page   receives the page
/// @return TW_OK; TW_EFORMAT: the text is not a summary
Status report_page(const std::string& json, const std::string& title, std::string& page);

}  // namespace thalweg::detail
