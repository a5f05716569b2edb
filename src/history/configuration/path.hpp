// Templates of file names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "history/calendar/calendar.hpp"
#include "history/calendar/duration.hpp"

namespace thalweg::history {

/// Values for the placeholders of a template.
struct PathValues {
    std::string stream = {}, variable = {}, op = {}, every = {}, region = {}, map = {}, zoom = {};
    Calendar calendar = Calendar::standard;
    /// Nominal period of the file; if it ends before it begins, placeholders of dates are kept.
    Time begin = 0, end = -1;
    /// Unit of new_file, which determines the form of a date without a format.
    Unit coarseness = Unit::day;
};

/// Checks a template: placeholders and formats of dates.
/// @return TW_OK, TW_ESETTING
Status check_path(std::string_view path);

/// Tests if a template has a placeholder of this name.
bool path_has(std::string_view path, std::string_view placeholder);

/// Tests if files of different periods of a unit get different paths.
bool path_separates(std::string_view path, Unit unit);

/// Returns the path of a file. The template must be valid.
std::string fill_path(std::string_view path, const PathValues& values);

}  // namespace thalweg::history
