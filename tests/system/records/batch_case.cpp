// SPDX-License-Identifier: Apache-2.0
#include "batch_case.hpp"

#include <algorithm>

#include "support/text.hpp"
#include "system/random.hpp"
#include "system/random_settings.hpp"
#include "system/values.hpp"

namespace batches {

double value(const Case& c, std::size_t step, const Op& op, std::int64_t element) {
    const std::uint64_t which = mix(c.seed + step, static_cast<std::uint64_t>(op.variable));
    return static_cast<double>(
        mix(which + static_cast<std::uint64_t>(op.record * 2 + op.version) * 4099,
            static_cast<std::uint64_t>(element)) %
        97);
}

std::int64_t element_of(const Case& c, const parts::Decomposition& cells,
                        const std::vector<std::int64_t>& index) {
    const std::vector<std::int64_t> at = parts::in_order(cells, {0, 1, 2}, index);
    return (at[0] * c.ny + at[1]) * c.nx + at[2];
}

BoxOf box_of(const Case& c, const Op& op, std::size_t step, int rank, int ranks) {
    Random random(mix(mix(step, static_cast<std::uint64_t>(op.variable * 100 + op.record)),
                      static_cast<std::uint64_t>(rank)));
    BoxOf b{};
    if (op.kind == Kind::part) {
        const parts::Decomposition& x = c.cells[static_cast<std::size_t>(op.cells)];
        const auto& boxes = x.boxes[static_cast<std::size_t>(rank)];
        if (boxes.empty()) return b;
        const std::vector<std::int64_t> low = parts::in_order(x, {0, 1, 2}, boxes[0].start),
                                        n = parts::in_order(x, {0, 1, 2}, boxes[0].count);
        return {1, 1, low[0], low[0] + n[0], low[1], low[1] + (n[1] + 1) / 2, low[2], low[2] + n[2],
                1, 1};
    }
    b.z1 = c.nz;
    b.records = op.reach > 1 ? random.between(0, 3) : 1;
    b.record_step = op.reach > 1 ? random.between(1, 2) : 1;
    const std::int64_t low = c.ny * rank / ranks, high = c.ny * (rank + 1) / ranks;
    b.y0 = random.between(low, high);
    b.y1 = random.between(b.y0, high);
    b.x0 = random.percent(40) ? 0 : random.below(c.nx);
    b.x1 = random.percent(40) ? c.nx : random.between(b.x0, c.nx);
    b.y_step = random.percent(30) ? random.between(2, 3) : 1;
    b.x_step = random.percent(30) ? random.between(2, 4) : 1;
    return b;
}

namespace {

using Names = std::vector<std::string>;

// Chooses filters and chunks of a netCDF-4 file, or none.
void pack(Case& c, Random& random, bool always) {
    c.file +=
        always ? random.pick(Names{"; deflate=1", "; deflate=1; shuffle=no"})
               : random.pick(Names{"", "; deflate=1", "; shuffle=yes; deflate=1", "; shuffle=yes"});
    for (Variable& v : c.variables) {
        if (!random.percent(always ? 80 : 30)) continue;
        v.settings = check::text("chunks=z={},y={},x={}", random.between(1, c.nz),
                                 random.between(1, c.ny), random.between(1, c.nx));
        if (random.percent(50)) v.settings += "; deflate=1";
    }
}

void make_variables(Case& c, Random& random, int ranks, const Bounds& bounds) {
    c.nz = random.between(1, 4);
    c.ny = random.percent(20) ? random.between(1, 3) : random.between(ranks, 6 * ranks);
    c.nx = random.percent(20) ? random.between(300, 1500) : random.between(1, 30);
    c.nx = std::min(c.nx, bounds.nx);
    c.format =
        random.pick(bounds.packed ? Names{"netcdf4", "netcdf4", "netcdf4-classic"}
                                  : Names{"cdf1", "cdf2", "cdf2", "cdf5", "netcdf4", "netcdf4"});
    const bool new_types = c.format == "cdf5" || c.format == "netcdf4";
    const std::vector<tw_type> old{TW_BYTE, TW_SHORT, TW_INT, TW_FLOAT, TW_DOUBLE};
    for (std::int64_t i = 0, n = random.between(1, 4); i < n; ++i) {
        Variable v;
        v.name = std::string(1, static_cast<char>('A' + i));
        v.record = random.percent(75);
        v.type = random.pick(new_types ? number_types() : old);
        v.shape = {c.nz, c.ny, c.nx};
        v.dims = v.record ? "time z y x" : "z y x";
        c.variables.push_back(v);
    }
}

/// Puts the record of the last operation again, or leaves it to some ranks. The elements that a
/// rank puts with other values are its own, because the ranks put them in no order.
void put_again(std::vector<Op>& ops, Random& random, int ranks, std::int64_t kinds) {
    Op op = ops.back();
    switch (random.below(5)) {
        case 0: op.kind = Kind::part; [[fallthrough]];
        case 1: op.version = 1; break;
        case 2: op.cells = static_cast<int>(random.below(kinds)); break;
        default:
            if (ranks > 1) ops.back().who = static_cast<int>(random.below(ranks));
            ops.back().others = ranks > 1 && random.percent(50);
            return;
    }
    ops.push_back(op);
}

/// Chooses the decompositions and the steps of a run.
void make_puts(Case& c, Random& random, int ranks, const Bounds& bounds) {
    const std::int64_t kinds = random.between(1, 4);
    for (std::int64_t k = 0; k < kinds; ++k)
        c.cells.push_back(parts::make_decomposition(random, {0, 1, 2}, {c.nz, c.ny, c.nx}, ranks));
    for (Variable& v : c.variables)
        v.declared = c.plain || random.percent(60) ? static_cast<int>(random.below(kinds)) : -1;
    const std::int64_t steps = random.between(1, bounds.steps);
    std::vector<char> put(c.variables.size(), c.before && !c.plain ? 1 : 0);
    // percentage of steps in which all ranks put most variables by the same decompositions into one
    // record
    const int alike = c.plain ? 0 : random.pick(std::vector<int>{0, 40, 80, 100});
    std::vector<int> usual;
    for (std::size_t v = 0; v < c.variables.size(); ++v)
        usual.push_back(static_cast<int>(random.below(kinds)));
    std::int64_t next = 0;  // record of the next of these steps
    for (std::int64_t s = 0; s < steps; ++s) {
        Step step;
        step.sync = random.percent(25);
        step.reopen = s > 0 && random.percent(15);
        if (step.reopen) std::fill(put.begin(), put.end(), 1);
        const bool is_alike = random.percent(alike);
        const std::int64_t common = random.percent(75) ? next++ : random.below(s + 3);
        for (std::size_t v = 0; v < c.variables.size(); ++v) {
            const Variable& var = c.variables[v];
            if (is_alike && random.percent(92)) {
                const bool changes = random.percent(8);
                step.ops.push_back({random.percent(70) ? Kind::record : Kind::record_deferred,
                                    static_cast<int>(v),
                                    changes ? static_cast<int>(random.below(kinds)) : usual[v],
                                    var.record ? common : 0});
                if (bounds.again && random.percent(20)) put_again(step.ops, random, ranks, kinds);
                put[v] = 1;
                continue;
            }
            // If the record is new, tw_put fills elements that no rank holds, so it must come first
            // and only once.
            const bool may_put = var.declared >= 0 && (var.record || put[v] == 0);
            if (may_put && random.percent(45)) {
                step.ops.push_back({random.percent(70) ? Kind::put : Kind::deferred,
                                    static_cast<int>(v), var.declared, s});
                put[v] = 1;
                continue;
            }
            const std::int64_t n = c.plain ? 0 : random.between(0, 3);
            std::vector<std::int64_t> used;
            for (std::int64_t k = 0; k < n; ++k) {
                const std::int64_t record = var.record ? random.below(s + 3) : 0;
                const auto kind = random.below(10);
                const int reach = kind > 5 && var.record && random.percent(25) ? 5 : 1;
                const auto in_reach = [&](std::int64_t other) {
                    return other >= record && other < record + reach;
                };
                if (std::any_of(used.begin(), used.end(), in_reach)) continue;
                for (int i = 0; i < reach; ++i) used.push_back(record + i);
                step.ops.push_back({kind < 4   ? Kind::record
                                    : kind < 5 ? Kind::record_deferred
                                    : kind < 6 ? Kind::whole
                                               : Kind::box,
                                    static_cast<int>(v), static_cast<int>(random.below(kinds)),
                                    record, reach});
                put[v] = 1;
            }
        }
        random.shuffle(step.ops);
        if (random.percent(20) && !step.ops.empty())
            step.sync_before =
                static_cast<int>(random.below(static_cast<std::int64_t>(step.ops.size())));
        c.steps.push_back(step);
    }
    c.steps.back().open = random.percent(20);
    if (c.steps.back().open) c.steps.back().sync = false;
}

/// Chooses how netCDF-C has stored a variable.
void store(const Case& c, Variable& v, Random& random) {
    v.deflate = random.percent(40) ? static_cast<int>(random.between(1, 9)) : 0;
    v.shuffle = random.percent(30);
    v.sum = random.percent(20);
    const bool chunked = v.record || v.deflate > 0 || v.shuffle || v.sum;
    if (!random.percent(chunked ? 70 : 30)) return;
    if (v.record) v.chunk.push_back(static_cast<std::size_t>(random.pick<int>({1, 1, 2, 3, 7})));
    for (const std::int64_t length : {c.nz, c.ny, c.nx})
        v.chunk.push_back(static_cast<std::size_t>(random.between(1, length)));
}

/// Chooses an earlier run, on other ranks or of netCDF-C, which has made the file.
void make_before(Case& c, Random& random, int ranks, const Bounds& bounds) {
    c.ranks_before = static_cast<int>(random.between(c.tiles.empty() ? 0 : c.parts, ranks));
    auto before = std::make_shared<Case>(c);
    before->seed = mix(c.seed);
    make_puts(*before, random, std::max(c.ranks_before, 1), bounds);
    for (Step& s : before->steps) s.reopen = s.sync = s.open = false, s.sync_before = -1;
    RandomSettings settings = RandomSettings::writing();
    settings.leave_out("storage").leave_out("writers");
    if (!c.tiles.empty())
        settings.set("method", {"tiles"}).set("files", {"tiles"}).set("tiles", {c.tiles});
    before->file = settings.draw(random) + "; format=" + c.format;
    if (c.netcdf4()) pack(*before, random, bounds.packed);
    if (c.ranks_before == 0) {
        for (Variable& v : before->variables)
            if (c.netcdf4()) store(c, v, random);
        before->pad = c.pad = random.pick(std::vector<std::size_t>{0, 100, 4096});
        before->align = c.align = random.pick(std::vector<std::size_t>{4, 64, 512});
        before->between = c.between = random.pick(std::vector<std::size_t>{0, 0, 300});
    }
    c.first = random.percent(50) ? random.below(5) : -1;
    c.drop = random.percent(50);
    c.before = std::move(before);
}

/// A run that replaces records does so by tw_put only, or by all calls, of which tw_put comes after
/// others: in a step in which a file is first written by number, it may replace or keep elements.
void order(Case& c) {
    std::vector<Op>& ops = c.steps.front().ops;
    const auto is_put = [](const Op& op) {
        return op.kind == Kind::put || op.kind == Kind::deferred;
    };
    if (c.first < 0 || c.plain) return;
    std::erase_if(ops, is_put);
    c.steps.front().sync_before = -1;
    if (std::all_of(ops.begin(), ops.end(), [](const Op& op) { return op.is_box(); })) c.first = -1;
}

}  // namespace

Case make_case(std::uint64_t seed, int ranks, const std::string& service, bool nodes,
               const Bounds& bounds) {
    Random random(seed);
    Case c;
    c.seed = seed;
    make_variables(c, random, ranks, bounds);
    const auto most = std::min<std::int64_t>({bounds.tiles, c.ny, c.nx});
    if (most > 0 && random.percent(20)) {
        c.parts = static_cast<int>(random.between(1, most));
        const std::string n = std::to_string(c.parts);
        c.tiles = random.percent(50) ? "1x" + n : n + "x1";
    }
    if (bounds.tiles > 0 && random.percent(40)) make_before(c, random, ranks, bounds);
    c.plain = bounds.again && random.percent(c.before ? 50 : 10);
    make_puts(c, random, ranks, bounds);
    order(c);
    // If ranks publish together, the boxes of a step must fit into the queue.
    const Names queues = service.find("background") != std::string::npos && nodes
                             ? Names{"auto"}
                             : Names{"auto", "auto", "256KiB", "1MiB"};
    RandomSettings settings = RandomSettings::writing();
    settings.leave_out("service").leave_out("storage").set("queue", queues);
    if (c.plain) settings.set("queue", {"auto", "4KiB"}).set("staging", {"256MiB", "1KiB"});
    if (!c.tiles.empty()) settings.leave_out("writers");
    if (!c.tiles.empty() && (!c.before || random.percent(50)))
        settings.set("method", {"tiles"})
            .set("files", {"tiles"})
            .set("tiles", {c.before ? "auto" : c.tiles});
    c.file = service + "; " + settings.draw(random);
    if (!c.before) c.file += "; format=" + c.format;
    if (!c.before && c.netcdf4()) pack(c, random, bounds.packed);
    return c;
}

}  // namespace batches
