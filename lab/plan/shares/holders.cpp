// SPDX-License-Identifier: Apache-2.0
#include "plan/shares/holders.hpp"

#include <algorithm>
#include <cmath>

namespace thalweg::planning {

using namespace detail;

namespace {

/// Returns the first index of part k of a dimension.
std::int64_t begin_of(std::int64_t length, std::int64_t k, std::int64_t parts) {
    return length * k / parts;
}

/// Returns the part to which an index belongs.
std::int64_t part_of(std::int64_t length, std::int64_t index, std::int64_t parts) {
    return ((index + 1) * parts - 1) / length;
}

/// Reduces a box to part k of a dimension.
void keep_part(Box& box, std::size_t d, std::int64_t k, std::int64_t parts) {
    const std::int64_t length = box.count[d];
    const std::int64_t begin = begin_of(length, k, parts);
    box.low[d] += begin;
    box.count[d] = begin_of(length, k + 1, parts) - begin;
}

}  // namespace

Holders::Holders(const Run& run) : run_(run) {
    std::vector<int> node_of;
    for (int node = 0; node < run.nodes; ++node) {
        const int size = run.ranks / run.nodes + (node < run.ranks % run.nodes ? 1 : 0);
        node_of.insert(node_of.end(), size, node);
    }
    topology_ = topology_of(node_of);
    for (const RunVariables& v : run.variables) {
        Kind kind;
        kind.shape = run.shape(v);
        Axis* shared = nullptr;
        kind.axes.resize(run.grid.size());
        for (std::size_t a = 0; a < run.grid.size(); ++a) {
            Axis& axis = kind.axes[a];
            axis.parts = run.grid[a].parts;
            const auto at = std::find(v.dims.begin(), v.dims.end(), run.grid[a].dim);
            if (at == v.dims.end()) {
                kind.spare *= axis.parts;
                continue;
            }
            axis.at = at - v.dims.begin();
            shared = &axis;
        }
        if (shared != nullptr) shared->shared = kind.spare > 1;
        if (shared != nullptr) {
            kind.run = run.list_run;
            // Find the last listed dimension: all dimensions after it are complete.
            int last = 0;
            for (const Axis& axis : kind.axes) last = std::max(last, axis.at);
            for (int d = last + 1; d < std::ssize(kind.shape); ++d) kind.run *= kind.shape[d];
        }
        kinds_.push_back(std::move(kind));
    }
}

std::vector<std::int64_t> Holders::starts_of(int dim) const {
    std::vector<std::int64_t> starts{0};
    for (const Cuts& cuts : run_.grid)
        if (cuts.dim == dim)
            for (std::int64_t part = 1; part < cuts.parts; ++part)
                starts.push_back(begin_of(run_.lengths[dim], part, cuts.parts));
    return starts;
}

Box Holders::block_of(int of, int rank) const {
    const Kind& kind = kinds_[of];
    Box block = whole_box(kind.shape);
    std::int64_t rest = rank, which = 0, stride = 1;
    int shared = -1;
    for (std::size_t a = kind.axes.size(); a-- > 0;) {
        const Axis& axis = kind.axes[a];
        const std::int64_t part = rest % axis.parts;
        rest /= axis.parts;
        if (axis.at < 0) {
            which += part * stride;
            stride *= axis.parts;
            continue;
        }
        keep_part(block, axis.at, part, axis.parts);
        if (axis.shared) shared = axis.at;
    }
    if (shared >= 0)
        keep_part(block, shared, which, kind.spare);
    else if (which > 0)  // the first rank has all of a dimension that is not divided
        block.count.fill(0);
    return block;
}

double Holders::most_held(int of) const {
    const Kind& kind = kinds_[of];
    std::vector<std::int64_t> count = kind.shape;
    for (const Axis& axis : kind.axes) {
        if (axis.at < 0) continue;
        std::int64_t& n = count[axis.at];
        n = (n + axis.parts - 1) / axis.parts;
        if (axis.shared) n = (n + kind.spare - 1) / kind.spare;
    }
    double elements = 1;
    for (const std::int64_t n : count) elements *= n;
    return elements;
}

double Holders::held_by_rank(int kind, const Box& box, int rank) const {
    if (listed(kind)) return 1.0 * box.volume() / run_.ranks;
    Box common;
    return intersect(block_of(kind, rank), box, common) ? common.volume() : 0;
}

double Holders::held_on_node(int kind, const Box& box, int node) const {
    if (listed(kind)) return 1.0 * box.volume() * topology_.sizes[node] / run_.ranks;
    double elements = 0;
    for (int i = 0; i < topology_.sizes[node]; ++i)
        elements += held_by_rank(kind, box, topology_.first[node] + i);
    return elements;
}

/// Adds nodes line by line: the ranks of each line of the process grid that overlap the box form an
/// interval.
void Holders::add_nodes(int of, const Box& box, std::set<int>& nodes) const {
    const Kind& kind = kinds_[of];
    if (kind.run > 0) {
        const double runs = std::ceil(box.volume() / kind.run);
        for (int node = 0; node < run_.nodes && node < runs; ++node) nodes.insert(node);
        return;
    }
    const std::size_t n = kind.axes.size();
    std::vector<std::int64_t> low(n, 0), high(n, 0);
    std::int64_t first = 0, last = kind.spare - 1;  // interval of ranks that share a block
    bool cut = false;
    for (std::size_t a = 0; a < n; ++a) {
        const Axis& axis = kind.axes[a];
        if (axis.at < 0) continue;
        cut = true;
        const int d = axis.at;
        const std::int64_t length = kind.shape[d], end = box.low[d] + box.count[d] - 1;
        low[a] = part_of(length, box.low[d], axis.parts);
        high[a] = part_of(length, end, axis.parts);
        if (!axis.shared || low[a] != high[a]) continue;
        const std::int64_t begin = begin_of(length, low[a], axis.parts);
        const std::int64_t own = begin_of(length, low[a] + 1, axis.parts) - begin;
        first = part_of(own, box.low[d] - begin, kind.spare);
        last = part_of(own, end - begin, kind.spare);
    }
    // Combine the axes that are left out into one number, with the last axis first.
    std::int64_t stride = 1;
    for (std::size_t a = n; a-- > 0 && cut;) {
        if (kind.axes[a].at >= 0) continue;
        const std::int64_t parts = kind.axes[a].parts;
        const bool wide = last / stride - first / stride >= parts;
        low[a] = wide ? 0 : first / stride % parts;
        high[a] = wide ? parts - 1 : last / stride % parts;
        if (high[a] < low[a]) {
            low[a] = 0;
            high[a] = parts - 1;
        }
        stride *= parts;
    }
    if (n == 0) {
        nodes.insert(topology_.node_of.front());
        return;
    }
    std::vector<std::int64_t> line = low;
    for (;;) {
        std::int64_t base = 0;
        for (std::size_t a = 0; a + 1 < n; ++a) base = (base + line[a]) * run_.grid[a + 1].parts;
        const int first_node = topology_.node_of[base + low[n - 1]];
        const int last_node = topology_.node_of[base + high[n - 1]];
        for (int node = first_node; node <= last_node; ++node) nodes.insert(node);
        std::size_t a = n - 1;
        for (; a > 0 && ++line[a - 1] > high[a - 1]; --a) line[a - 1] = low[a - 1];
        if (a == 0) return;
    }
}

}  // namespace thalweg::planning
