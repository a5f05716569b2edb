// Prints the results as JSON and as a table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace pio_bench {

std::string report_json(const Context& context, const std::vector<Row>& rows);
std::string report_table(const Context& context, const std::vector<Row>& rows);

}  // namespace pio_bench
