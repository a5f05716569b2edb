// SPDX-License-Identifier: Apache-2.0
#include "plan/shares/share_estimate.hpp"

#include <algorithm>
#include <cmath>

#include "plan/shares/samples.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Number of sampled pieces of a writer.
constexpr std::int64_t sampled_pieces = 16;

/// Number of pieces of each writer that are packed together (a window); and numbers of windows,
/// writers and nodes that are sampled.
constexpr std::int64_t slots = 4, sampled_windows = 8, sampled_lanes = 32, sampled_nodes = 2;

/// Measures by which factor the largest of several values exceeds their mean.
class Uneven {
public:
    void add(const std::vector<double>& values) {
        if (values.empty()) return;
        double sum = 0;
        for (const double value : values) sum += value;
        most_ += *std::max_element(values.begin(), values.end());
        mean_ += sum / values.size();
    }
    double ratio() const { return mean_ > 0 ? most_ / mean_ : 1; }

private:
    double most_ = 0, mean_ = 0;
};

/// Calls visit(place, box) for each box of a piece; the box has indices of the whole place.
template <class Visit>
void for_placed(const Share& share, Extent piece, Visit&& visit) {
    const FileSection& seen = share.space();
    for (std::size_t i = seen.place_at(piece.begin);
         i < seen.places.size() && seen.places[i].offset < piece.end; ++i) {
        const VariableSlot& p = seen.places[i];
        const std::int64_t begin = std::max<std::int64_t>(0, piece.begin - p.offset) / p.element;
        const std::int64_t end = std::min(p.bytes, piece.end - p.offset) / p.element;
        for_boxes_of_range(p.shape, begin, end,
                           [&](const Box& box) { visit(i, share.placed(i, box)); });
    }
}

/// Returns the writers in [first, end): all of them if they are few, otherwise those known to be
/// busy.
std::vector<int> group_of(const std::vector<int>& busy, std::int64_t first, std::int64_t end) {
    std::vector<int> group;
    if (end - first <= sampled_lanes)
        for (std::int64_t w = first; w < end; ++w) group.push_back(w);
    else
        std::ranges::copy_if(busy, std::back_inserter(group),
                             [&](int w) { return first <= w && w < end; });
    return group;
}

/// Returns the k-th piece of a share; it is empty after the last.
Extent piece_of(const Share& share, std::int64_t k, std::int64_t piece) {
    for (const Extent& e : share.extents()) {
        const std::int64_t pieces = (e.size() + piece - 1) / piece;
        if (k < pieces) return {e.begin + k * piece, std::min(e.begin + (k + 1) * piece, e.end)};
        k -= pieces;
    }
    return {};
}

std::int64_t pieces_of(const Share& share, std::int64_t piece) {
    std::int64_t n = 0;
    for (const Extent& e : share.extents()) n += (e.size() + piece - 1) / piece;
    return n;
}

}  // namespace

double runs_of(std::span<const std::int64_t> box, std::span<const std::int64_t> whole) {
    double runs = 1;
    std::size_t d = box.size();
    while (d > 0 && box[d - 1] == whole[d - 1]) --d;
    for (std::size_t i = 0; i + 1 < d; ++i) runs *= box[i];
    return runs;
}

double calls_of(double runs, double bytes, double piece) {
    return bytes <= 0 ? 0 : runs * std::ceil(bytes / runs / piece);
}

void ShareEstimator::at_piece(const MappedLayout& mapped, const Share& share, Extent piece,
                              int node, ShareEstimate& estimate, std::set<int>& sources,
                              std::set<std::int64_t>& blocks) const {
    for_placed(share, piece, [&](std::size_t i, const Box& placed) {
        const VariableSlot& whole = record_.space.places[i];
        const double size = whole.element;
        estimate.seen += placed.volume() * size;
        estimate.local += holders_.held_on_node(record_.kinds[i], placed, node) * size;
        holders_.add_nodes(record_.kinds[i], placed, sources);
        if (share.boxed() && mapped.layout->writers() > 1 && run_.nodes > 1)
            blocks_.add(i, placed, blocks);
    });
    sources.erase(node);
}

double ShareEstimator::nodes_met(const MappedLayout& mapped, int writer, std::int64_t piece) const {
    const Share share = mapped.layout->reach(writer, record_.space);
    const std::int64_t pieces = pieces_of(share, piece), n = std::min(sampled_pieces, pieces);
    std::set<int> nodes;
    for (std::int64_t k = 0; k < n; ++k)
        for_placed(share, piece_of(share, irregular_sample(k, n, pieces), piece),
                   [&](std::size_t p, const Box& box) {
                       holders_.add_nodes(record_.kinds[p], box, nodes);
                   });
    nodes.erase(mapped.node_of(writer));
    return nodes.size();
}

ShareEstimate ShareEstimator::at(const MappedLayout& mapped, int writer, std::int64_t piece) const {
    ShareEstimate estimate;
    const Share share = mapped.layout->share(writer, record_.space, 0);
    const int node = mapped.node_of(writer);
    const FileSection& seen = share.space();
    const double size = piece;
    for (const Extent& e : share.extents()) estimate.bytes += e.size();
    if (!share.boxed() || share.own_file()) {
        estimate.calls = calls_of(share.extents().size(), estimate.bytes, size);
    } else {
        for (std::size_t i = 0; i < seen.places.size(); ++i) {
            const VariableSlot& p = seen.places[i];
            if (p.bytes == 0) continue;
            const double runs = runs_of(p.shape, record_.space.places[i].shape);
            estimate.calls += calls_of(runs, p.bytes, size);
        }
    }
    const std::int64_t pieces = pieces_of(share, piece), n = std::min(sampled_pieces, pieces);
    for (std::int64_t k = 0; k < n; ++k) {
        std::set<int> sources;
        std::set<std::int64_t> blocks;
        at_piece(mapped, share, piece_of(share, irregular_sample(k, n, pieces), piece), node,
                 estimate, sources, blocks);
        const double from = sources.size();
        estimate.sources += from / n;
        estimate.met.merge(sources);
        if (!share.own_file()) estimate.locked += blocks_.shared(blocks, mapped) * pieces / n;
    }
    return estimate;
}

/// The writers that write at the same time, or a sample of them.
struct ShareEstimator::Lanes {
    std::vector<Share> shares;
    std::vector<int> node_of;
    std::int64_t windows = 0;  ///< number of windows of the writer with most data
};

ShareEstimator::Lanes ShareEstimator::lanes_of(const MappedLayout& mapped,
                                               const std::vector<int>& writers,
                                               std::int64_t piece) const {
    Lanes lanes;
    const std::int64_t all = writers.size(), n = std::min(sampled_lanes, all);
    for (std::int64_t i = 0; i < n; ++i) {
        const int w = writers[sample(i, n, all)];
        Share share = mapped.layout->share(w, record_.space, 0);
        if (share.extents().empty()) continue;
        lanes.shares.push_back(std::move(share));
        lanes.node_of.push_back(mapped.node_of(w));
        const std::int64_t pieces = pieces_of(lanes.shares.back(), piece);
        lanes.windows = std::max(lanes.windows, (pieces + slots - 1) / slots);
    }
    return lanes;
}

Unevenness ShareEstimator::unevenness(const MappedLayout& mapped, const std::vector<int>& busy,
                                      std::int64_t piece, double active) const {
    const std::int64_t writers = mapped.layout->writers();
    const std::int64_t together = std::clamp<std::int64_t>(std::llround(active), 1, writers);
    const std::int64_t all_groups = writers / together;
    const std::int64_t groups = std::min(sampled_windows, all_groups);
    const std::int64_t nodes = std::min<std::int64_t>(sampled_nodes, run_.nodes);
    Uneven packed, received;
    for (std::int64_t g = 0; g < groups; ++g) {
        const std::int64_t first = sample(g, groups, all_groups) * together;
        const Lanes lanes = lanes_of(mapped, group_of(busy, first, first + together), piece);
        const std::int64_t n = std::min(sampled_windows / groups, lanes.windows);
        for (std::int64_t i = 0; i < n; ++i) {
            std::vector<std::pair<std::size_t, Box>> boxes;  // boxes with their places
            received.add(
                received_in(lanes, irregular_sample(i + g, n + g, lanes.windows), piece, boxes));
            for (std::int64_t at = 0; at < nodes; ++at)
                packed.add(packed_by_ranks(boxes, sample(at, nodes, run_.nodes)));
        }
    }
    Unevenness found;
    found.packed = packed.ratio() * record_.space.bytes / run_.ranks;
    found.received = received.ratio();
    return found;
}

/// Returns the number of bytes that each writer receives from other nodes in a window.
/// @param boxes  receives all boxes in the window
std::vector<double> ShareEstimator::received_in(
    const Lanes& lanes, std::int64_t window, std::int64_t piece,
    std::vector<std::pair<std::size_t, Box>>& boxes) const {
    std::vector<double> of_lane;
    for (std::size_t lane = 0; lane < lanes.shares.size(); ++lane) {
        double remote = 0;
        for (std::int64_t k = window * slots; k < (window + 1) * slots; ++k)
            for_placed(lanes.shares[lane], piece_of(lanes.shares[lane], k, piece),
                       [&](std::size_t p, const Box& b) {
                           const double size = record_.space.places[p].element;
                           const double local =
                               holders_.held_on_node(record_.kinds[p], b, lanes.node_of[lane]);
                           remote += size * (b.volume() - local);
                           boxes.emplace_back(p, b);
                       });
        of_lane.push_back(remote);
    }
    return of_lane;
}

/// Returns, for each rank of a node, the number of bytes of some boxes that it holds.
std::vector<double> ShareEstimator::packed_by_ranks(
    const std::vector<std::pair<std::size_t, Box>>& boxes, int node) const {
    const Topology& topology = holders_.topology();
    std::vector<double> bytes(topology.sizes[node], 0);
    for (const auto& [place, box] : boxes)
        for (int r = 0; r < topology.sizes[node]; ++r)
            bytes[r] += record_.space.places[place].element *
                        holders_.held_by_rank(record_.kinds[place], box, topology.first[node] + r);
    return bytes;
}

}  // namespace thalweg::planning
