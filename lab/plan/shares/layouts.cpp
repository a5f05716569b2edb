// SPDX-License-Identifier: Apache-2.0
#include "plan/shares/layouts.hpp"

#include <algorithm>

namespace thalweg::planning {

using namespace detail;

Layouts::Layouts(const Run& run, const Holders& holders)
    : run_(run),
      holders_(holders),
      chosen_(choose_for_file_system(run.system(), run.nodes,
                                     {"posix", run.writers, -1, run.stripe_size, ""})) {
    const RunVariables* largest = nullptr;
    const auto bytes_of = [&](const RunVariables& v) { return volume(run.shape(v)) * v.element; };
    for (const RunVariables& v : run.variables)
        if (v.dims.size() > 1 && (largest == nullptr || bytes_of(v) > bytes_of(*largest)))
            largest = &v;
    if (largest != nullptr) {
        x_ = largest->dims.back();
        y_ = largest->dims[largest->dims.size() - 2];
    }
}

/// Divides the horizontal domain as choose_layout() of the library does.
void Layouts::cut_grid(const Way& way, int available, int spread, LayoutChoice& layout) const {
    Grid& grid = layout.grid;
    const bool rows = way.method == "rows", columns = way.method == "columns";
    if (rows || columns) {
        const int dim = rows ? y_ : x_;
        const int lines = dim < 0 ? 1 : holders_.starts_of(dim).size();
        (rows ? grid.rows : grid.columns) = std::min(lines, available);
    } else {
        for (int c = 1; c * c <= spread; ++c)
            if (spread % c == 0) grid.columns = c;
        grid.rows = spread / grid.columns;
        if (y_ < 0) grid.rows = 1;
        if (x_ < 0) grid.columns = 1;
        grid.own_files = way.own_files;
    }
    const auto cut = [&](int dim, int parts) {
        return Cut{dim, cut_dimension(holders_.starts_of(dim), run_.lengths[dim], parts)};
    };
    if (!columns && y_ >= 0) grid.y = {cut(y_, grid.rows)};
    if (!rows && x_ >= 0) grid.x = {cut(x_, grid.columns)};
    layout.writers = grid.parts();
}

MappedLayout Layouts::of(const Way& way) const {
    LayoutChoice layout;
    layout.method = way.method;
    layout.alignment = chosen_.alignment;
    std::vector<int> writers;  // ranks that write
    if (way.servers > 0) {
        layout.writers = way.method == "serial" ? 1 : way.servers;
    } else if (way.method == "serial") {
        writers = {0};
    } else {
        (void)pick_writers(holders_.topology(),
                           parse_writers(way.writers == "auto" ? chosen_.writers : way.writers),
                           true, writers);
    }
    if (way.servers == 0) layout.writers = writers.size();
    if (layout.gridded()) {
        const int available = way.servers > 0 ? way.servers : run_.ranks;
        cut_grid(way, available, layout.writers, layout);
    }
    MappedLayout mapped;
    mapped.layout = make_layout(layout);
    if (way.servers > 0) {
        const std::int64_t all = way.servers, nodes = run_.nodes;
        // Servers of a node have consecutive numbers.
        mapped.node_of = [all, nodes](int w) -> int { return w * std::min(all, nodes) / all; };
    } else if (layout.gridded()) {
        std::vector<int> nodes;
        for (int w = 0; w < mapped.layout->writers(); ++w)
            nodes.push_back(node_of_part(layout.grid, w));
        mapped.node_of = [nodes](int w) { return nodes[w]; };
    } else {
        mapped.node_of = [this, writers](int w) { return holders_.topology().node_of[writers[w]]; };
    }
    return mapped;
}

/// Finds the node of the rank that writes a part: the rank that holds elements of the part and is
/// nearest to the part's place in an even spread.
int Layouts::node_of_part(const Grid& grid, int part) const {
    const std::int64_t ranks = run_.ranks, target = part * ranks / grid.parts();
    const auto in_part = [&](int rank, const std::vector<Cut>& cuts, int k) {
        if (cuts.empty()) return true;
        const auto& begin = cuts.front().begin;
        std::int64_t rest = rank, at = 0;
        for (std::size_t a = run_.grid.size(); a-- > 0;) {
            const Cuts& axis = run_.grid[a];
            if (axis.dim == cuts.front().dim)
                at = run_.lengths[axis.dim] * (rest % axis.parts) / axis.parts;
            rest /= axis.parts;
        }
        return std::upper_bound(begin.begin(), begin.end(), at) - begin.begin() - 1 == k;
    };
    for (std::int64_t i = 0; i < ranks; ++i) {
        const int rank = (target + i) % ranks;
        if (in_part(rank, grid.y, part / grid.columns) &&
            in_part(rank, grid.x, part % grid.columns))
            return holders_.topology().node_of[rank];
    }
    return holders_.topology().node_of[target];
}

}  // namespace thalweg::planning
