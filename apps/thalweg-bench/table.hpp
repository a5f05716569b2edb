// Medians and tables for people.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::bench {

/// 0 if there are no values.
double median(std::vector<double> values);

/// Rows of equally many cells in columns, the first row being the heads: numbers to the right, the
/// first and the last column to the left.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace thalweg::bench
