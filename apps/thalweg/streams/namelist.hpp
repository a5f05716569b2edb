// The assignments in a file of Fortran namelists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/configuration/table.hpp"

namespace thalweg::app {

/// One assignment, such as `histfreq(2:3) = 'd', 'm'`.
struct Assignment {
    std::string group;  ///< name of the group, in lower case
    std::string name;   ///< name as written, without subscripts
    std::int64_t line = 0;
    std::size_t first = 0;    ///< index of the element that gets the first value, from 0
    bool subscripts = false;  ///< the name has subscripts
    bool whole = true;  ///< the values go to successive elements of a list, not to parts of them
    std::vector<std::optional<std::string>> values;  ///< none: a null value, which changes nothing
};

/// Reads all groups as Fortran does: with repeated and null values, comments, texts in quotes, and
/// values on several lines. Of groups of the same name, the first counts.
std::vector<Assignment> read_namelists(std::string_view text,
                                       std::vector<history::Problem>& problems);

}  // namespace thalweg::app
