// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <stdexcept>

#include "irregular/generators.hpp"

namespace pio_bench {
namespace {

using Index = std::int64_t;

struct Range {
    Index start, count;
};

// Returns part number `which` of a range that is divided into equal parts.
Range part(Range whole, int which, int parts) {
    const Index low = whole.count * which / parts, high = whole.count * (which + 1) / parts;
    return {whole.start + low, high - low};
}

// Returns the larger factor of a process grid that is as square as possible.
int larger_factor(int ranks) {
    int factor = 1;
    for (int f = 1; f * f <= ranks; ++f)
        if (ranks % f == 0) factor = f;
    return ranks / factor;
}

void add(Workload& w, const std::string& prefix, int count, int layout) {
    for (int i = 1; i <= count; ++i) w.variables.push_back({prefix + std::to_string(i), layout});
}

int chosen(int variables, int by_default) { return variables > 0 ? variables : by_default; }

// A history step of CAM's finite-volume core: in memory (lon, lev, lat) with longitude fastest. 3-D
// fields are divided in latitude and level; 2-D fields in latitude only, into the same number of
// parts.
Workload cam(const Options& options, int rank, int ranks, Index nlon, Index nlat) {
    const int ny = larger_factor(ranks), nz = ranks / ny;
    const Range y = part({0, nlat}, rank % ny, ny), z = part({0, 26}, rank / ny, nz);
    const Range row = part(y, rank / ny, nz);
    Workload w;
    w.layouts = {
        {"scalar", {}, {}},
        {"2-D", {{"lat", nlat}, {"lon", nlon}}, {0, 1}, {{{row.start, 0}, {row.count, nlon}}}},
        {"3-D",
         {{"lev", 26}, {"lat", nlat}, {"lon", nlon}},
         {1, 0, 2},
         {{{y.start, z.start, 0}, {y.count, z.count, nlon}}}}};
    add(w, "S", 2, 0);
    add(w, "H", 60, 1);
    add(w, "T", chosen(options.variables, 34), 2);
    return w;
}

Workload fv_b(const Options& o, int rank, int ranks) {
    Workload w = cam(o, rank, ranks, 144, 91);
    w.steps = 4;
    return w;
}

Workload fv_d(const Options& o, int rank, int ranks) { return cam(o, rank, ranks, 576, 361); }

// A concentration file of CMAQ over California, with a variable for each species.
Workload cmaq(const Options& options, int rank, int ranks) {
    const int nx = larger_factor(ranks), ny = ranks / nx;
    const Range x = part({0, 89}, rank % nx, nx), y = part({0, 134}, rank / nx, ny);
    Workload w;
    w.layouts = {{"3-D",
                  {{"lay", 35}, {"row", 134}, {"col", 89}},
                  {0, 1, 2},
                  {{{0, y.start, x.start}, {35, y.count, x.count}}}}};
    add(w, "C", chosen(options.variables, 146), 0);
    return w;
}

// Output of E3SM's atmosphere or ocean, with its index maps.
Workload irregular(const Options& options, int rank, int ranks, const char* kind) {
    const auto list = thalweg::bench::irregular::generate(kind, options.elements, 1, rank, ranks);
    Workload w;
    Layout layout{kind, {}, {}};
    for (const auto& dim : list.dims) {
        layout.memory.push_back(static_cast<int>(layout.dims.size()));
        layout.dims.push_back({dim.name, dim.length});
    }
    layout.is_list = true;
    layout.indices = list.indices;
    w.layouts = {layout};
    add(w, "V", chosen(options.variables, 8), 0);
    w.steps = 2;
    return w;
}

Workload map_f(const Options& o, int rank, int ranks) { return irregular(o, rank, ranks, "f"); }
Workload map_g(const Options& o, int rank, int ranks) { return irregular(o, rank, ranks, "g"); }

// A horizontal grid and the size of its blocks.
struct BlockGrid {
    Index nx, ny, width, height;
};

// Assigns the blocks of a grid to the ranks in turn. Each block has the full length of all other
// dimensions.
Layout blocks_of(const BlockGrid& grid, const std::string& name, const std::vector<Dim>& more,
                 int rank, int ranks) {
    const auto [nx, ny, width, height] = grid;
    Layout layout{name, more, {}};
    layout.dims.push_back({"nj", ny});
    layout.dims.push_back({"ni", nx});
    for (std::size_t d = 0; d < layout.dims.size(); ++d)
        layout.memory.push_back(static_cast<int>(d));
    layout.halo = 1;
    for (Index b = rank; b < (nx / width) * (ny / height); b += ranks) {
        Block block{std::vector<Index>(more.size(), 0), {}};
        for (const Dim& dim : more) block.count.push_back(dim.length);
        block.start.insert(block.start.end(),
                           {b / (nx / width) * height, b % (nx / width) * width});
        block.count.insert(block.count.end(), {height, width});
        layout.blocks.push_back(std::move(block));
    }
    return layout;
}

// A history file of CICE with ten decompositions. Most variables use the first one; the others are
// for dimensions of other lengths.
Workload history(const Options& options, int rank, int ranks, const BlockGrid& grid,
                 int variables) {
    const std::vector<std::vector<Dim>> kinds{{},
                                              {{"nc", 5}},
                                              {{"nkice", 7}},
                                              {{"nksnow", 1}},
                                              {{"nkbio", 9}},
                                              {{"nkaer", 12}},
                                              {{"nf", 8}},
                                              {{"nc", 5}, {"nkice", 7}},
                                              {{"nc", 5}, {"nksnow", 1}},
                                              {{"nc", 5}, {"nf", 8}}};
    Workload w;
    w.file_per_step = true;
    for (int k = 0; k < options.decompositions; ++k) {
        const auto known = static_cast<std::size_t>(k);
        const std::string name = "k" + std::to_string(k);
        w.layouts.push_back(blocks_of(
            grid, name,
            known < kinds.size() ? kinds[known]
                                 : std::vector<Dim>{{name, static_cast<Index>(known % 8 + 1)}},
            rank, ranks));
        add(w, name + "_", k == 0 ? chosen(options.variables, variables) : 1, k);
    }
    return w;
}

Workload cice(const Options& o, int rank, int ranks) {
    Workload w = history(o, rank, ranks, {320, 384, 20, 24}, 40);  // the one-degree grid
    w.steps = 4;
    return w;
}

Workload cice_small(const Options& o, int rank, int ranks) {
    Workload w = history(o, rank, ranks, {128, 128, 16, 16}, 81);
    w.steps = 17;
    return w;
}

struct Entry {
    const char* name;
    const char* text;
    Workload (*make)(const Options&, int rank, int ranks);
};

const Entry entries[] = {
    {"fv-b", "CAM FV-B, 144 x 91 x 26, 49 MB a step", fv_b},
    {"fv-d", "CAM FV-D, 576 x 361 x 26, 786 MB a step", fv_d},
    {"cmaq-ca", "CMAQ California, 89 x 134 x 35, 146 species, 244 MB a step", cmaq},
    {"f", "columns of E3SM's atmosphere, spread over the ranks in chunks", map_f},
    {"g", "cells of E3SM's ocean, divided along a space-filling curve", map_g},
    {"cice", "blocks with halos, ten decompositions, a file for each output; 76 MB", cice},
    {"cice-128", "the same on 128 x 128, with 90 variables and 17 files; 14 MB each", cice_small},
};

}  // namespace

std::int64_t Workload::bytes() const {
    std::int64_t all = 0;
    for (const Variable& v : variables)
        all += layout_of(v).dims.empty() ? 8 : 4 * layout_of(v).global_elements();
    return all;
}

float value_of(int variable, std::int64_t index) {
    return static_cast<float>(index % 65521) * 0.25F + static_cast<float>(variable);
}

Workload make_workload(const Options& options, int rank, int ranks) {
    for (const Entry& entry : entries) {
        if (options.workload != entry.name) continue;
        Workload w = entry.make(options, rank, ranks);
        w.name = entry.name;
        w.text = entry.text;
        if (options.steps > 0) w.steps = options.steps;
        int layout = -1;
        std::vector<std::int64_t> dofs;
        for (std::size_t i = 0; i < w.variables.size(); ++i) {
            Variable& v = w.variables[i];
            if (v.layout != layout) {
                layout = v.layout;
                dofs.assign(1, 1);
                if (!w.layout_of(v).dims.empty()) dofs = w.layout_of(v).degrees_of_freedom();
            }
            v.values.reserve(dofs.size());
            for (const std::int64_t dof : dofs)
                v.values.push_back(value_of(static_cast<int>(i), dof));
        }
        return w;
    }
    throw std::runtime_error("there is no workload " + options.workload);
}

std::string workload_list() {
    std::string text;
    for (const Entry& entry : entries)
        text += "  " + std::string(entry.name) +
                std::string(10 - std::string(entry.name).size(), ' ') + entry.text + "\n";
    return text;
}

}  // namespace pio_bench
