// SPDX-License-Identifier: Apache-2.0
#include "batch_case.hpp"

#include <algorithm>

#include "system/check.hpp"
#include "system/random.hpp"
#include "system/random_settings.hpp"

namespace batches {

double value(std::size_t step, const Op& op, std::int64_t element) {
    return static_cast<double>((element * 13 + op.record * 101 + op.variable * 1009 +
                                static_cast<std::int64_t>(step) * 3001) %
                               30011);
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

// Chooses filters and chunks of a netCDF-4 file, or none.
void pack(Case& c, Random& random, bool always) {
    using Names = std::vector<std::string>;
    c.file +=
        always ? random.pick(Names{"; deflate=1", "; deflate=1; shuffle=no"})
               : random.pick(Names{"", "; deflate=1", "; shuffle=yes; deflate=1", "; shuffle=yes"});
    for (Variable& v : c.variables) {
        if (!random.percent(always ? 80 : 30)) continue;
        v.settings += check::text("; chunks=z=%lld,y=%lld,x=%lld",
                                  static_cast<long long>(random.between(1, c.nz)),
                                  static_cast<long long>(random.between(1, c.ny)),
                                  static_cast<long long>(random.between(1, c.nx)));
        if (random.percent(50)) v.settings += "; deflate=1";
    }
}

}  // namespace

Case make_case(std::uint64_t seed, int ranks, const std::string& service, bool nodes,
               const Bounds& bounds) {
    Random random(seed);
    Case c;
    c.nz = random.between(1, 4);
    c.ny = random.percent(20) ? random.between(1, 3) : random.between(ranks, 6 * ranks);
    c.nx = random.percent(20) ? random.between(300, 1500) : random.between(1, 30);
    c.nx = std::min(c.nx, bounds.nx);
    using Names = std::vector<std::string>;
    const std::int64_t kinds = random.between(1, 4);
    for (std::int64_t k = 0; k < kinds; ++k)
        c.cells.push_back(parts::make_decomposition(random, {0, 1, 2}, {c.nz, c.ny, c.nx}, ranks));
    const std::vector<tw_type> types{TW_FLOAT, TW_DOUBLE, TW_INT, TW_SHORT};
    const std::int64_t variables = random.between(1, 4);
    for (std::int64_t i = 0; i < variables; ++i) {
        Variable v;
        v.name = std::string(1, static_cast<char>('A' + i));
        v.record = random.percent(75);
        v.type = random.pick(types);
        v.shape = {c.nz, c.ny, c.nx};
        v.dims = v.record ? "time z y x" : "z y x";
        v.declared = random.percent(60) ? static_cast<int>(random.below(kinds)) : -1;
        v.settings = "fill=-77";
        c.variables.push_back(v);
    }
    const std::int64_t steps = random.between(1, bounds.steps);
    std::vector<char> put(c.variables.size(), 0);
    // percentage of steps in which all ranks put most variables by the same decompositions into one
    // record
    const int alike = random.pick(std::vector<int>{0, 40, 80, 100});
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
            const std::int64_t n = random.between(0, 3);
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
    // If ranks publish together, the boxes of a step must fit into the queue.
    const Names queues = service.find("background") != std::string::npos && nodes
                             ? Names{"auto"}
                             : Names{"auto", "auto", "256KiB", "1MiB"};
    c.file = service + "; " +
             RandomSettings::writing()
                 .leave_out("service")
                 .leave_out("storage")
                 .set("queue", queues)
                 .set("format", bounds.packed ? Names{"netcdf4", "netcdf4", "netcdf4-classic"}
                                              : Names{"auto", "auto", "cdf5", "netcdf4", "netcdf4"})
                 .draw(random);
    if (c.file.find("netcdf4") != std::string::npos) pack(c, random, bounds.packed);
    return c;
}

}  // namespace batches
