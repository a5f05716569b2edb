// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace thalweg::bench {
namespace {

const Dimension* find(const Workload& w, const std::string& name) {
    for (const Dimension& d : w.dims)
        if (d.name == name) return &d;
    return nullptr;
}

/// Formats the sizes of the dimensions 'x', 'y' and 'z', fastest first: "360 x 240 x 40".
std::string grid_text(const Workload& w) {
    std::string text;
    for (const char role : {'x', 'y', 'z'})
        for (const Dimension& d : w.dims)
            if (d.role == role) text += (text.empty() ? "" : " x ") + std::to_string(d.length);
    return text;
}

std::string cut_text(const Workload& paper, const Workload& w) {
    std::string text;
    if (grid_text(w) != grid_text(paper))
        text = fmt::format("grid {} instead of {}", grid_text(w), grid_text(paper));
    for (std::size_t g = 0; g < w.groups.size(); ++g)
        if (w.groups[g].count != paper.groups[g].count)
            text += fmt::format("{}{} variables {} instead of {}", text.empty() ? "" : ", ",
                                w.groups[g].count, w.groups[g].prefix, paper.groups[g].count);
    return text;
}

}  // namespace

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> table = [] {
        std::vector<Workload> all;
        for (const auto& paper : {cam_workloads(), cfio_workloads(), cmaq_workloads(),
                                  mom5_workloads(), unstructured_workloads()})
            all.insert(all.end(), paper.begin(), paper.end());
        return all;
    }();
    return table;
}

Workload find_workload(const Options& options) {
    const auto& table = workloads();
    const auto entry = std::find_if(table.begin(), table.end(),
                                    [&](const Workload& w) { return w.name == options.workload; });
    if (entry == table.end()) {
        std::string names;
        for (const Workload& w : table) names += (names.empty() ? "" : ", ") + w.name;
        throw UsageError("unknown workload \"" + options.workload + "\"; the workloads are " +
                         names);
    }
    Workload w = *entry;
    const double scale = options.scale > 0 ? options.scale : w.scale;
    for (Dimension& d : w.dims)
        if (d.role != 'z')
            d.length =
                std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(d.length)));
    const auto resize = [&](char role, std::int64_t length, const char* option) {
        if (length == 0) return;
        bool found = false;
        for (Dimension& d : w.dims) {
            if (d.role == role) {
                d.length = length;
                found = true;
            }
        }
        if (!found) throw UsageError(fmt::format("{}: {} has no such dimension", option, w.name));
    };
    resize('x', options.nx, "--nx");
    resize('y', options.ny, "--ny");
    resize('z', options.nz, "--nz");
    const int variables = options.variables > 0 ? options.variables : w.variables;
    for (VariableGroup& g : w.groups)
        if (g.main && variables > 0) g.count = variables;
    w.cut = cut_text(*entry, w);
    return w;
}

std::vector<int> process_grid(const Workload& workload, const std::string& grid, int ranks) {
    const std::size_t naxes = workload.axes.size();
    std::vector<int> factors(naxes, 1);
    if (grid.empty() || grid == "1d") {
        factors[0] = ranks;
        if (grid == "1d" || workload.cut_axes < 2) return factors;
        // The second axis gets the largest divisor of the number of ranks up to its square root,
        // but not more ranks than the axis has elements: further ranks would hold nothing.
        const Dimension* second = find(workload, workload.axes[1].front());
        for (int f = 1; f <= ranks / f; ++f) {
            if (ranks % f == 0 && f <= second->length) {
                factors[0] = ranks / f;
                factors[1] = f;
            }
        }
        return factors;
    }
    std::int64_t product = 1;
    std::size_t axis = 0;
    const char* at = grid.data();
    const char* const end = at + grid.size();
    for (;; ++axis) {
        int factor = 0;
        const auto [rest, error] = std::from_chars(at, end, factor);
        if (axis == naxes || error != std::errc{} || factor < 1 || (rest != end && *rest != 'x'))
            throw UsageError(fmt::format(
                "--grid {}: expected 1d, or a grid like 4x2 of at most {} axes", grid, naxes));
        factors[axis] = factor;
        product *= factor;
        if (rest == end) break;
        at = rest + 1;
    }
    if (product != ranks)
        throw UsageError(fmt::format("--grid {} has {} members, but {} ranks are running", grid,
                                     product, ranks));
    return factors;
}

std::string fmt_line(const std::string& name, const std::string& text) {
    return fmt::format("  {:<26}{}\n", name, text);
}

}  // namespace thalweg::bench
