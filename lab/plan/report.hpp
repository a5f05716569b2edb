// The output of `./run plan`: tables for people, JSON for programs, and a picture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace thalweg::planning {

/// Formats a plan as tables for people, or as JSON.
std::string text_of(const Run& run, const Shares& shares, const Plan& plan);
std::string json_of(const Run& run, const Shares& shares, const Plan& plan);
/// Draws the time of the run as a function of the number of servers, as an SVG picture.
std::string picture_of(const Run& run, const Plan& plan);

/// Replaces the contents of a file. If this fails, an existing file stays as it was. Local.
/// @return TW_OK, TW_EIO
detail::Status write_file(const std::string& path, const std::string& text);

}  // namespace thalweg::planning
