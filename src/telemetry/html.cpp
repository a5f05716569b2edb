// SPDX-License-Identifier: Apache-2.0
#include "telemetry/html.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace thalweg::detail {

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            case '\'': result += "&#39;"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
                    result += "&#xFFFD;";
                else
                    result += c;
        }
    }
    return result;
}

std::string cell(double value, const std::string& shown) {
    return fmt::format("<td class=\"n\" data-value=\"{}\">{}</td>", value, escaped(shown));
}

std::string cell(const std::string& text) { return "<td>" + escaped(text) + "</td>"; }

std::string header_row(const std::vector<std::string>& titles) {
    std::string row = "<tr>";
    for (const std::string& t : titles) row += "<th scope=\"col\">" + escaped(t) + "</th>";
    return row + "</tr>\n";
}

namespace {

constexpr double chart_width = 900, label_width = 130;

/// Opens a drawing that grows with the page.
std::string drawing(double height, const std::string& title) {
    return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                       chart_width, height, escaped(title));
}

}  // namespace

std::string bar_chart(const std::vector<Bar>& bars, const std::string& title) {
    double longest = 0;
    for (const Bar& bar : bars) {
        double sum = 0;
        for (const BarPart& p : bar.parts) sum += std::max(0.0, p.value);
        longest = std::max(longest, sum);
    }
    const double step = bars.size() > 32 ? 10 : 22, thick = step * 0.8;
    std::string svg = drawing(step * bars.size() + 4, title);
    const double scale = longest > 0 ? (chart_width - label_width) / longest : 0;
    double y = 2;
    for (const Bar& bar : bars) {
        svg += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                           step < 20 ? "t s" : "t", label_width - 8, y + thick * 0.78,
                           escaped(bar.label));
        double x = label_width;
        for (const BarPart& p : bar.parts) {
            const double width = std::max(0.0, p.value) * scale;
            if (width <= 0) continue;
            svg += fmt::format(
                "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\">"
                "<title>{}: {} {}</title></rect>\n",
                p.colour, x, y, width, thick, escaped(bar.label), escaped(p.name),
                escaped(p.shown));
            x += width;
        }
        y += step;
    }
    return svg + "</svg>\n";
}

std::string column_chart(const std::vector<Column>& columns, const std::string& title) {
    constexpr double height = 150, base = 125, top = 18;
    double most = 0;
    for (const Column& c : columns) most = std::max(most, c.value);
    const double step = std::min(80.0, chart_width / std::max<std::size_t>(1, columns.size()));
    std::string svg = drawing(height, title);
    double x = 0;
    for (const Column& c : columns) {
        const double tall = most > 0 ? c.value / most * (base - top) : 0;
        const double middle = x + step / 2;
        svg += fmt::format(
            "<rect class=\"p3\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>"
            "<text class=\"m\" x=\"{:.1f}\" y=\"{:.1f}\">{:.0f}</text>"
            "<text class=\"m\" x=\"{:.1f}\" y=\"{}\">{}</text>\n",
            x + step * 0.1, base - tall, step * 0.8, tall, middle, base - tall - 4, c.value, middle,
            base + 16, escaped(c.label));
        x += step;
    }
    return svg + "</svg>\n";
}

std::string legend(const std::vector<BarPart>& parts) {
    std::string result = "<p class=\"legend\">";
    for (const BarPart& p : parts)
        result += fmt::format(
            "<span><svg viewBox=\"0 0 10 10\"><rect class=\"{}\" width=\"10\" height=\"10\"/></svg>"
            " {}</span> ",
            p.colour, escaped(p.name));
    return result + "</p>\n";
}

}  // namespace thalweg::detail
