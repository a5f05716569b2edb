// Converts the configurations of other programs to that of a history.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "history/configuration/table.hpp"

namespace thalweg::app {

/// Converts an FMS diag_table, a namelist ice_in of CICE, or XML of XIOS or MPAS; the text itself
/// shows which of them it is.
/// @param path      path of the text, in whose folder are the files that it includes
/// @param problems  receives what could not be converted, with line numbers
void convert_history(const std::string& path, std::string_view text, std::string& converted,
                     std::vector<history::Problem>& problems);

void convert_diag_table(std::string_view text, std::string& converted,
                        std::vector<history::Problem>& problems);
void convert_ice_in(std::string_view text, std::string& converted,
                    std::vector<history::Problem>& problems);

/// Formats a text in quotes, as TOML does.
std::string quoted(std::string_view text);
std::string trimmed(std::string_view text);
std::string in_lower_case(std::string_view text);

}  // namespace thalweg::app
