// The output of `thalweg plan`: tables for people, JSON for programs, and a picture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "planning/plan.hpp"

namespace thalweg::app {

/// Formats a plan as tables for people, or as JSON.
std::string text_of(const planning::Run& run, const planning::Shares& shares,
                    const planning::Plan& plan);
std::string json_of(const planning::Run& run, const planning::Shares& shares,
                    const planning::Plan& plan);
/// Draws the time of the run as a function of the number of servers, as an SVG picture.
std::string picture_of(const planning::Run& run, const planning::Plan& plan);

}  // namespace thalweg::app
