// Pieces of an HTML page: escaped text, table cells, bars.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::detail {

/// Text as HTML shows it, in elements and in quoted attributes; control characters become U+FFFD.
std::string escaped(const std::string& text);

/// A cell with a number, whose exact value is the attribute `data-value`.
std::string cell(double value, const std::string& shown);
std::string cell(const std::string& text);
std::string header_row(const std::vector<std::string>& titles);

/// A part of a bar.
struct BarPart {
    std::string name;
    std::string colour;  ///< a class of the page's style
    double value = 0;
    std::string shown;  ///< the value as text
};

/// Horizontal bars, one a row, with the parts side by side on one scale.
struct Bar {
    std::string label;
    std::vector<BarPart> parts;
};
std::string bar_chart(const std::vector<Bar>& bars, const std::string& title);

/// Vertical columns, one a value, each with its label.
struct Column {
    std::string label;
    double value = 0;
};
std::string column_chart(const std::vector<Column>& columns, const std::string& title);

/// The colours of a chart's parts.
std::string legend(const std::vector<BarPart>& parts);

}  // namespace thalweg::detail
