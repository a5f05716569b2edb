// Medians and tables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::bench {

/// Returns the median; 0 if there are no values.
double median(std::vector<double> values);

/// Formats rows with the same number of cells in columns. The first row has the headings; numbers
/// are right-aligned, the first and the last column left-aligned.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace thalweg::bench
