// SPDX-License-Identifier: Apache-2.0
#include "plan/shares.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "layout/writers.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Writers, and pieces of each, that are looked at.
constexpr std::int64_t sampled_writers = 8, sampled_pieces = 16;

/// The i-th of n that are spread over `all`, with the first and the last.
std::int64_t sample(std::int64_t i, std::int64_t n, std::int64_t all) {
    return n == 1 ? all / 2 : i * (all - 1) / (n - 1);
}

/// The same without a regular distance, which may be that of levels in the file: multiples of the
/// golden section.
std::int64_t irregular_sample(std::int64_t i, std::int64_t n, std::int64_t all) {
    if (n == all) return i;
    const double turns = 0.6180339887498949 * static_cast<double>(i + 1);
    return static_cast<std::int64_t>((turns - std::floor(turns)) * static_cast<double>(all));
}

/// Runs in the file of a box of an array.
double runs_of(std::span<const std::int64_t> box, std::span<const std::int64_t> whole) {
    double runs = 1;
    std::size_t d = box.size();
    while (d > 0 && box[d - 1] == whole[d - 1]) --d;
    for (std::size_t i = 0; i + 1 < d; ++i) runs *= static_cast<double>(box[i]);
    return runs;
}

/// Writes of some runs of equal length. @param bytes  of all
double calls_of(double runs, double bytes, double piece) {
    return bytes <= 0 ? 0 : runs * std::ceil(bytes / runs / piece);
}

}  // namespace

/// A layout, and on which node each of its writers is.
struct Shares::Laid {
    std::unique_ptr<Layout> layout;
    std::vector<int> writers;  ///< ranks; empty: of a grid, or servers
    Grid grid;
};

/// What was seen of a writer's share.
struct Shares::Look {
    double bytes = 0, runs = 0, calls = 0, shared = 0;  // shared: blocks with other writers
    double seen = 0, local = 0;  ///< bytes of pieces, and those held on the writer's node
    double sources = 0;          ///< other nodes that a piece comes from, on average
    std::set<int> nodes;         ///< of the piece that is looked at
};

Shares::Shares(const Run& run) : run_(run) {
    std::vector<int> node_of;
    for (int node = 0; node < run.nodes; ++node) {
        const int size = run.ranks / run.nodes + (node < run.ranks % run.nodes ? 1 : 0);
        node_of.insert(node_of.end(), size, node);
    }
    topology_ = topology_of(node_of);
    const RunVariables* largest = nullptr;
    for (const RunVariables& v : run.variables) {
        const std::vector<std::int64_t> shape = run.shape(v);
        const std::int64_t bytes = volume(shape) * v.element;
        if (v.dims.size() > 1 &&
            (largest == nullptr || bytes > volume(run.shape(*largest)) * largest->element))
            largest = &v;
        for (std::int64_t i = 0; i < v.count; ++i) {
            Place place;
            place.variable = static_cast<int>(space_.places.size());
            place.offset = space_.bytes;
            place.bytes = bytes;
            place.padded = (bytes + 3) / 4 * 4;
            place.element = v.element;
            place.shape = shape;
            place.dims = v.dims;
            space_.bytes += place.padded;
            space_.places.push_back(std::move(place));
        }
    }
    if (largest != nullptr) {
        x_ = largest->dims.back();
        y_ = largest->dims[largest->dims.size() - 2];
    }
    chosen_ = choose_way(run.file_system, run.nodes, {"posix", run.writers, -1, -1, ""});
}

// ---- who holds what -----------------------------------------------------------------------------

std::int64_t Shares::part_along(std::size_t axis, std::int64_t index) const {
    const Cuts& cuts = run_.grid[axis];
    const std::int64_t length = run_.lengths[cuts.dim];
    return ((index + 1) * cuts.parts - 1) / length;
}

std::vector<std::int64_t> Shares::starts_of(int dim) const {
    std::vector<std::int64_t> starts{0};
    for (const Cuts& cuts : run_.grid)
        if (cuts.dim == dim)
            for (std::int64_t part = 1; part < cuts.parts; ++part)
                starts.push_back(run_.lengths[dim] * part / cuts.parts);
    return starts;
}

/// What a rank holds; of a variable without a dimension that is cut, the first ranks along it.
Box Shares::block_of(const Place& place, int rank) const {
    Box block = whole_box(place.shape);
    std::int64_t rest = rank;
    for (std::size_t a = run_.grid.size(); a-- > 0;) {
        const Cuts& cuts = run_.grid[a];
        const std::int64_t part = rest % cuts.parts;
        rest /= cuts.parts;
        const auto at = std::find(place.dims.begin(), place.dims.end(), cuts.dim);
        if (at == place.dims.end()) {
            if (part > 0) block.count.fill(0);
            continue;
        }
        const std::size_t d = at - place.dims.begin();
        block.low[d] = place.shape[d] * part / cuts.parts;
        block.count[d] =
            std::min(block.count[d], place.shape[d] * (part + 1) / cuts.parts - block.low[d]);
    }
    return block;
}

/// Lists are taken to be spread evenly over all ranks, run by run.
bool Shares::listed(const Place& place) const {
    if (run_.list_run <= 0) return false;
    return std::any_of(run_.grid.begin(), run_.grid.end(), [&](const Cuts& cuts) {
        return std::count(place.dims.begin(), place.dims.end(), cuts.dim) > 0;
    });
}

double Shares::held_on_node(const Place& place, const Box& box, int node) const {
    if (listed(place))
        return static_cast<double>(box.volume()) * topology_.sizes[node] / run_.ranks;
    double elements = 0;
    const int first = topology_.first[node];
    for (int i = 0; i < topology_.sizes[node]; ++i) {
        Box common;
        if (intersect(block_of(place, first + i), box, common))
            elements += static_cast<double>(common.volume());
    }
    return elements;
}

/// The nodes of the ranks that hold some of a box: an interval of ranks for each line of the grid.
void Shares::mark_nodes(const Place& place, const Box& box, Look& look) const {
    if (listed(place)) {
        const double runs = std::ceil(static_cast<double>(box.volume()) / run_.list_run);
        for (int node = 0; node < run_.nodes && node < runs; ++node) look.nodes.insert(node);
        return;
    }
    const std::size_t n = run_.grid.size();
    std::vector<std::int64_t> low(n, 0), high(n, 0);
    for (std::size_t a = 0; a < n; ++a) {
        const auto at = std::find(place.dims.begin(), place.dims.end(), run_.grid[a].dim);
        if (at == place.dims.end()) continue;
        const std::size_t d = at - place.dims.begin();
        low[a] = part_along(a, box.low[d]);
        high[a] = part_along(a, box.low[d] + box.count[d] - 1);
    }
    std::vector<std::int64_t> line = low;
    for (;;) {
        std::int64_t base = 0;
        for (std::size_t a = 0; a + 1 < n; ++a) base = (base + line[a]) * run_.grid[a + 1].parts;
        const int first = topology_.node_of[base + low[n - 1]];
        const int last = topology_.node_of[base + high[n - 1]];
        for (int node = first; node <= last; ++node) look.nodes.insert(node);
        std::size_t a = n - 1;
        while (a-- > 0)
            if (++line[a] <= high[a])
                break;
            else
                line[a] = low[a];
        if (a == static_cast<std::size_t>(-1)) return;
    }
}

// ---- who writes what ----------------------------------------------------------------------------

/// As choose_layout() does it for the methods that divide the horizontal domain.
void Shares::lay_out_grid(const Way& way, int available, int spread, LayoutChoice& layout) const {
    Grid& grid = layout.grid;
    const bool rows = way.method == "rows", columns = way.method == "columns";
    if (rows || columns) {
        const int dim = rows ? y_ : x_;
        const std::size_t lines = dim < 0 ? 1 : starts_of(dim).size();
        (rows ? grid.rows : grid.columns) =
            static_cast<int>(std::min(lines, static_cast<std::size_t>(available)));
    } else {
        for (int c = 1; c * c <= spread; ++c)
            if (spread % c == 0) grid.columns = c;
        grid.rows = spread / grid.columns;
        if (y_ < 0) grid.rows = 1;
        if (x_ < 0) grid.columns = 1;
        grid.own_files = way.own_files;
    }
    const auto cut = [&](int dim, int parts) {
        return Cut{dim, cut_dimension(starts_of(dim), run_.lengths[dim], parts)};
    };
    if (!columns && y_ >= 0) grid.y = {cut(y_, grid.rows)};
    if (!rows && x_ >= 0) grid.x = {cut(x_, grid.columns)};
    layout.writers = grid.parts();
}

Shares::Laid Shares::lay_out(const Way& way) const {
    Laid laid;
    LayoutChoice layout;
    layout.method = way.method;
    layout.alignment = chosen_.alignment;
    if (way.servers > 0) {
        layout.writers = way.method == "serial" ? 1 : way.servers;
    } else if (way.method == "serial") {
        laid.writers = {0};
    } else {
        WriterWish wish;
        wish.count = parse_writers(way.writers);
        wish.as_possible = true;
        (void)pick_writers(topology_, wish, laid.writers);
    }
    if (way.servers == 0) layout.writers = static_cast<int>(laid.writers.size());
    if (layout.gridded()) {
        const int available = way.servers > 0 ? way.servers : run_.ranks;
        lay_out_grid(way, available, layout.writers, layout);
        laid.writers.clear();
        laid.grid = layout.grid;
    }
    laid.layout = make_layout(layout);
    return laid;
}

/// Of a rank that holds some of the part, the nearest to its place in an even spread.
int Shares::node_of_part(const Grid& grid, int part) const {
    const std::int64_t target = static_cast<std::int64_t>(part) * run_.ranks / grid.parts();
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
    for (std::int64_t i = 0; i < run_.ranks; ++i) {
        const auto rank = static_cast<int>((target + i) % run_.ranks);
        if (in_part(rank, grid.y, part / grid.columns) &&
            in_part(rank, grid.x, part % grid.columns))
            return topology_.node_of[rank];
    }
    return topology_.node_of[target];
}

void Shares::look_at_piece(const Share& share, Extent piece, int node, Look& look) const {
    const Space& seen = share.space();
    look.nodes.clear();
    for (std::size_t i = seen.place_at(piece.begin);
         i < seen.places.size() && seen.places[i].offset < piece.end; ++i) {
        const Place& p = seen.places[i];
        const Place& whole = space_.places[i];
        const std::int64_t begin = std::max<std::int64_t>(0, piece.begin - p.offset) / p.element;
        const std::int64_t end = std::min(p.bytes, piece.end - p.offset) / p.element;
        for_boxes_of_range(p.shape, begin, end, [&](const Box& box) {
            const Box placed = share.placed(i, box);
            const auto size = static_cast<double>(p.element);
            look.seen += static_cast<double>(box.volume()) * size;
            look.local += held_on_node(whole, placed, node) * size;
            mark_nodes(whole, placed, look);
        });
    }
    look.nodes.erase(node);
}

/// Blocks of the file in which some runs of a variable lie that others' runs share: those at the
/// ends of long runs, all of the variable's with short ones.
double Shares::shared_blocks(double runs, const Place& whole) const {
    const auto block = static_cast<double>(std::max<std::int64_t>(1, chosen_.alignment));
    return std::min(2 * runs, static_cast<double>(whole.bytes) / block);
}

Shares::Look Shares::look_at(const Share& share, int node) const {
    Look look;
    const Space& seen = share.space();
    const auto piece = static_cast<std::int64_t>(run_.limits.piece);
    for (const Extent& e : share.extents()) look.bytes += static_cast<double>(e.size());
    if (!share.boxed() || share.own_file()) {
        look.runs = static_cast<double>(share.extents().size());
        look.calls = calls_of(look.runs, look.bytes, run_.limits.piece);
    } else {
        for (std::size_t i = 0; i < seen.places.size(); ++i) {
            const Place& p = seen.places[i];
            if (p.bytes == 0) continue;
            const double runs = runs_of(p.shape, space_.places[i].shape);
            look.runs += runs;
            look.shared += shared_blocks(runs, space_.places[i]);
            look.calls += calls_of(runs, static_cast<double>(p.bytes), run_.limits.piece);
        }
    }
    std::int64_t looked = 0;
    double sources = 0;
    for (const Extent& e : share.extents()) {
        const std::int64_t pieces = (e.size() + piece - 1) / piece;
        const std::int64_t n = std::min(sampled_pieces, pieces);
        for (std::int64_t k = 0; k < n; ++k, ++looked) {
            const std::int64_t at = e.begin + irregular_sample(k, n, pieces) * piece;
            look_at_piece(share, {at, std::min(at + piece, e.end)}, node, look);
            sources += static_cast<double>(look.nodes.size());
        }
    }
    if (looked > 0) look.sources = sources / static_cast<double>(looked);
    return look;
}

/// Every rank writes what it holds.
void Shares::add_direct(Work& work) const {
    work.writers = run_.ranks;
    work.writer_nodes = run_.nodes;
    work.exchanged = false;
    work.writer_bytes = work.rank_bytes;
    work.requests = std::ceil(work.rank_bytes / run_.limits.piece);
    for (const Place& place : space_.places) {
        const Box block = block_of(place, 0);
        const std::span<const std::int64_t> counts(block.count.data(), place.shape.size());
        const double runs = listed(place)
                                ? std::ceil(static_cast<double>(block.volume()) / run_.list_run)
                                : runs_of(counts, place.shape);
        work.calls +=
            calls_of(runs, static_cast<double>(block.volume() * place.element), run_.limits.piece);
        work.locked += shared_blocks(runs, place) * (1 - 1.0 / work.nodes);
    }
}

Work Shares::reading() const {
    const bool few = run_.file_system.sharing == Sharing::parallel;
    Work straight = work_of({"direct", false, "", 0});
    straight.rounds = 0;
    straight.locked = 0;
    straight.compressed = false;
    constexpr double long_run = 128 << 10;
    double runs = 0;
    for (const Place& place : space_.places) {
        const Box block = block_of(place, 0);
        const std::span<const std::int64_t> counts(block.count.data(), place.shape.size());
        runs += runs_of(counts, place.shape);
    }
    const bool lists = run_.list_run > 0;
    if (!few && !lists && run_.storage == "posix" && straight.rank_bytes >= runs * long_run)
        return straight;
    Work work = work_of({"record", false, few ? "4/node" : fmt::format("{}/node", run_.ranks), 0});
    work.rounds = 0;
    work.locked = 0;
    work.copied = false;
    return work;
}

Work Shares::work_of(const Way& way) const {
    Work work;
    work.ranks = run_.ranks;
    work.nodes = run_.nodes;
    work.cores = run_.cores;
    work.bytes = bytes();
    work.copied = !run_.deferred;
    work.durable = run_.durable;
    for (const Place& place : space_.places) {
        double part = static_cast<double>(place.bytes);
        for (const Cuts& cuts : run_.grid)
            if (std::count(place.dims.begin(), place.dims.end(), cuts.dim) > 0) {
                const auto length = static_cast<double>(run_.lengths[cuts.dim]);
                part *= std::ceil(length / static_cast<double>(cuts.parts)) / length;
            }
        work.rank_bytes += part;
        if (listed(place)) work.runs += part / static_cast<double>(place.element) / run_.list_run;
    }
    work.compressed = run_.compressed();
    work.stored = run_.stored;
    const std::int64_t per_file = run_.outputs_per_file > 0 ? run_.outputs_per_file : run_.outputs;
    work.files = 1 / static_cast<double>(per_file);
    if (way.method == "direct") {
        add_direct(work);
        if (run_.storage == "pnetcdf") work.rounds = 1;
        return work;
    }
    const Laid laid = lay_out(way);
    work.writers = laid.layout->writers();
    if (way.own_files) work.files *= work.writers;
    const auto node_of = [&](int w) {
        if (way.servers > 0) return node_of_server(w);
        return laid.writers.empty() ? node_of_part(laid.grid, w)
                                    : topology_.node_of[laid.writers[w]];
    };
    work.writer_nodes = std::min(work.writers, run_.nodes);
    const double on_node = std::ceil(static_cast<double>(work.writers) / work.writer_nodes);
    const std::int64_t n = std::min<std::int64_t>(sampled_writers, work.writers);
    // A block that writers of one node share does not change hands.
    const double elsewhere = 1 - 1.0 / work.nodes;
    double messages = 0;  // of an average writer
    for (std::int64_t i = 0; i < n; ++i) {
        const auto w = static_cast<int>(sample(i, n, work.writers));
        const Look look = look_at(laid.layout->share(w, space_, 0), node_of(w));
        work.writer_bytes = std::max(work.writer_bytes, look.bytes);
        work.calls = std::max(work.calls, look.calls);
        if (work.writers > 1 && !way.own_files && way.method != "record")
            work.locked = std::max(work.locked, look.shared * elsewhere);
        if (look.seen <= 0) continue;
        const double remote = look.bytes * std::max(0.0, 1 - look.local / look.seen);
        const double received = std::ceil(look.bytes / run_.limits.piece) * look.sources;
        work.received = std::max(work.received, remote * on_node);
        work.messages = std::max(work.messages, received);
        messages += received / static_cast<double>(n);
    }
    work.received = std::min(work.received, work.bytes);
    work.requests = std::ceil(work.writer_bytes / run_.limits.piece);
    // Rounds of as much as the exchange buffers hold, in which all ranks call MPI-IO.
    if (run_.storage == "pnetcdf") work.rounds = std::ceil(work.writer_bytes / run_.limits.buffer);
    if (work.nodes > 1) {
        work.sent = work.bytes / work.nodes;
        work.messages = std::max(work.messages, messages * work.writers / work.nodes);
    }
    return work;
}

}  // namespace thalweg::planning
