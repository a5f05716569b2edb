// Workloads of unstructured models, whose ranks hold lists of indices. The lists are those of
// thalweg-bench; the numbers of variables are this program's.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "contents.hpp"
#include "irregular/generators.hpp"
#include "problem.hpp"

namespace thalweg::scale {

namespace {

using bench::irregular::List;

struct ListWorkload {
    const char* name;
    const char* kind;             ///< argument of bench::irregular::generate()
    std::int64_t points, levels;  ///< number of points (columns or cells) and of levels
    bool levels_listed;           ///< lists are over points and levels; otherwise over points only
    bool levels_last;             ///< levels are the last dimension, in file and memory
    int volumes, planes;          ///< numbers of variables with levels and without them
};

constexpr ListWorkload list_workloads[] = {
    // the grids of E3SM's high-resolution runs: ne120, and 18 to 6 km
    {"e3sm-f", "f", 777'602, 72, true, false, 8, 32},
    {"e3sm-g", "g", 3'693'225, 100, false, true, 4, 8},
    // the grid of MPAS at 3 km
    {"atmosphere-3km-lists", "c", 41'943'042, 80, false, false, 4, 20},
};

/// Returns the mean number of elements in a run of consecutive indices.
double run_of(const std::vector<std::int64_t>& indices) {
    std::int64_t runs = 0;
    for (std::size_t i = 0; i < indices.size(); ++i)
        runs += i == 0 || indices[i] != indices[i - 1] + 1;
    return runs == 0 ? 0 : static_cast<double>(indices.size()) / static_cast<double>(runs);
}

class Lists : public Contents {
public:
    Lists(const ListWorkload& w, const bench::Options& options, int rank, int ranks) {
        const double scale = options.scale > 0 ? options.scale : 1;
        const auto points =
            std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(w.points)));
        // Two of the generators make lists over points and levels.
        const bool columns = std::string(w.kind) == "c";
        List list = bench::irregular::generate(w.kind, columns ? points : points * w.levels, 1,
                                               rank, ranks);
        const bench::irregular::Dim point = list.dims[w.levels_last ? 0 : list.dims.size() - 1];
        const std::string level = columns ? "level" : list.dims[w.levels_last ? 1 : 0].name;
        dims_ = {{level, w.levels}, {point.name, point.length}};
        if (w.levels_last) std::swap(dims_[0], dims_[1]);

        Holding plane{{point.name}, {point.length}, {}, {}, {point.name}, {}};
        if (columns) {
            plane.indices = list.indices;
        } else {  // otherwise use the elements of the list at level 0
            for (const std::int64_t i : list.indices)
                if (w.levels_last ? i % w.levels == 0 : i < point.length)
                    plane.indices.push_back(w.levels_last ? i / w.levels : i);
        }
        Holding volume = plane;
        volume.dims = {dims_[0].first, dims_[1].first};
        volume.shape = {dims_[0].second, dims_[1].second};
        if (w.levels_listed) {
            volume.listed = volume.dims;
            volume.indices = std::move(list.indices);
        }
        const auto held = static_cast<std::int64_t>(volume.indices.size());
        const int volumes = options.variables > 0 ? options.variables : w.volumes;
        groups_ = {
            {"T", volumes, TW_FLOAT, volume.dims, 0, w.levels_listed ? held : held * w.levels},
            {"H", w.planes, TW_FLOAT, plane.dims, 1,
             static_cast<std::int64_t>(plane.indices.size())}};
        list_run_ = run_of(volume.indices);
        holdings_ = {std::move(volume), std::move(plane)};
        name_variables();
        grid_ = {ranks};
        decomposition_ = fmt::format("{}={}", point.name, ranks);
        if (point.length != w.points)
            reduced_ = fmt::format("{} {} instead of {}", point.length, point.name, w.points);
        if (volumes != w.volumes)
            reduced_ += fmt::format("{}{} variables instead of {}", reduced_.empty() ? "" : ", ",
                                    volumes, w.volumes);
    }

    void fill() override {
        for (const Group& g : groups_) {
            std::vector<float> all;
            for (int m = 0; m < g.count; ++m) append_values(g, m, all);
            values_.push_back(std::move(all));
        }
    }

    const void* values(const Variable& variable, int step) const override {
        const Group& g = group(variable);
        return values_[static_cast<std::size_t>(variable.group)].data() +
               (variable.member + step) % g.count * g.elements;
    }

private:
    /// Appends the values of one variable of a group, in memory order.
    void append_values(const Group& g, int member, std::vector<float>& values) const {
        const Holding& h = holdings_[static_cast<std::size_t>(g.holding)];
        List list{{}, 0, h.listed.size(), h.indices};
        for (std::size_t d = 0; d < h.dims.size(); ++d)
            list.dims.push_back({h.dims[d], h.shape[d]});
        while (h.dims[list.first] != h.listed.front()) ++list.first;
        const std::size_t begin = values.size();
        values.resize(begin + static_cast<std::size_t>(g.elements));
        list.for_each([&](std::int64_t at, std::int64_t index) {
            values[begin + static_cast<std::size_t>(at)] =
                bench::field_number<float>(static_cast<std::uint32_t>(member), index);
        });
    }

    std::vector<std::vector<float>> values_;  ///< one list for each group
};

}  // namespace

std::unique_ptr<Contents> make_lists(const bench::Options& options, int rank, int ranks) {
    for (const ListWorkload& w : list_workloads) {
        if (w.name != options.workload) continue;
        if (!options.grid.empty() || options.nx + options.ny + options.nz > 0)
            throw bench::UsageError(options.workload +
                                    ": its ranks hold lists; it has no grid, nx, ny, nz");
        return std::make_unique<Lists>(w, options, rank, ranks);
    }
    return nullptr;
}

}  // namespace thalweg::scale
