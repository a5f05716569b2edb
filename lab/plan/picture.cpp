// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "plan/report.hpp"

namespace thalweg::planning {

namespace {

constexpr double left = 70, right = 620, top = 40, bottom = 320;

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        if (c == '&')
            safe += "&amp;";
        else if (c == '<')
            safe += "&lt;";
        else
            safe += c;
    }
    return safe;
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                       y1, x2, y2, style);
}

}  // namespace

std::string picture_of(const Run& run, const Plan& plan) {
    const double compute = run.compute() * static_cast<double>(run.outputs);
    double most = std::max(plan.without_servers, compute), servers = 2;
    if (!std::isfinite(most)) most = compute;
    for (const Option& o : plan.servers) {
        most = std::max(most, o.seconds);
        servers = std::max(servers, static_cast<double>(o.way.servers));
    }
    if (most <= 0) most = 1;
    const auto x = [&](double n) {
        return left + (right - left) * std::log(n) / std::log(servers);
    };
    const auto y = [&](double s) { return bottom - (bottom - top) * s / most; };
    std::string svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"680\" height=\"380\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"680\" height=\"380\" "
        "fill=\"white\"/>\n";
    const std::string title = run.title.empty() ? run.file : run.title;
    svg += label(left, 22, "start", title + ": seconds of the run by number of servers");
    svg += line(left, bottom, right, bottom, "stroke=\"black\"");
    svg += line(left, top, left, bottom, "stroke=\"black\"");
    for (int tick = 0; tick <= 4; ++tick)
        svg +=
            label(left - 6, y(most * tick / 4) + 4, "end", fmt::format("{:.4g}", most * tick / 4));
    for (double n = 1; n <= servers; n *= servers > 256 ? 4 : 2)
        svg += label(x(n), bottom + 18, "middle", fmt::format("{:.0f}", n));
    svg += label((left + right) / 2, bottom + 40, "middle", "servers");
    svg += line(left, y(compute), right, y(compute), "stroke=\"gray\" stroke-dasharray=\"4 3\"");
    svg += label(right, y(compute) + 14, "end", "computing alone");
    if (std::isfinite(plan.without_servers)) {
        const double without = y(plan.without_servers);
        svg += line(left, without, right, without, "stroke=\"#c05020\" stroke-dasharray=\"6 3\"");
        svg += label(right, without - 4, "end", "best without servers");
    }
    std::string points;
    for (const Option& o : plan.servers)
        points += fmt::format("{:.1f},{:.1f} ", x(o.way.servers), y(o.seconds));
    svg += "<polyline fill=\"none\" stroke=\"#2060a0\" stroke-width=\"2\" points=\"" + points +
           "\"/>\n";
    if (!plan.servers.empty()) {
        const Option& best = plan.servers[plan.best_servers];
        svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#2060a0\"/>\n",
                           x(best.way.servers), y(best.seconds));
    }
    return svg + "</svg>\n";
}

}  // namespace thalweg::planning
