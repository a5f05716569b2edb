// Chooses a file's layout and writers when its definitions end.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/log.hpp"
#include "choose/choose_all.hpp"
#include "decomposition/starts.hpp"
#include "exchange/pieces.hpp"
#include "layout/writers.hpp"
#include "service/servers/served_file.hpp"
#include "service/servers/server_roles.hpp"
#include "storage/chunked/chunk_grid.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

namespace {

/// A dimension that is divided, and a variable whose blocks determine the positions of the cuts.
struct Axis {
    int dim = -1;
    const Variable* variable = nullptr;
    const Holding* holding = nullptr;  ///< holding of the variable
    /// Position of the dimension in the variable, not counting the record dimension.
    int at = 0;
};

struct Axes {
    std::vector<Axis> y, x;
};

/// Finds the horizontal dimensions of decomposed variables: the fastest one in the file is x, the
/// next one y. A dimension has the same role in every variable, determined by the largest variable
/// that has it, so it is divided in all of them or in none.
Axes find_axes(const Definitions& definitions, const Holdings& holdings, bool rows) {
    std::vector<std::size_t> variables;
    for (std::size_t i = 0; i < holdings.size(); ++i)
        if (!holdings[i]->decomposition->replicated && !definitions.variables[i].shape.empty())
            variables.push_back(i);
    const auto weight = [&](std::size_t i) {
        const Variable& v = definitions.variables[i];
        return std::make_pair(v.shape.size() > 1, v.elements() * v.element());
    };
    std::stable_sort(variables.begin(), variables.end(),
                     [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
    Axes axes;
    std::vector<char> settled(definitions.dims.size(), 0);
    for (const std::size_t i : variables) {
        const Variable* const v = &definitions.variables[i];
        const Holding* const holding = holdings[i].get();
        const auto nd = static_cast<int>(v->shape.size());
        for (int d = 0; d < nd; ++d) {
            const int dim = v->dims[static_cast<std::size_t>(d) + (v->record ? 1 : 0)];
            if (settled[dim]) continue;
            settled[dim] = 1;
            // In a file of one-dimensional variables, this dimension is divided into rows.
            if (d == nd - 2 || (nd == 1 && rows))
                axes.y.push_back({dim, v, holding, d});
            else if (d == nd - 1)
                axes.x.push_back({dim, v, holding, d});
        }
    }
    return axes;
}

/// Returns the indices along an axis at which blocks of this rank begin.
std::vector<std::int64_t> starts_along(const Axis& axis) {
    const int m = axis.holding->order[axis.at];
    std::vector<std::int64_t> starts{0};
    // A list has no blocks; its dimension is divided evenly.
    for (const Box& block : axis.holding->decomposition->blocks)
        if (block.volume() > 0) starts.push_back(block.low[m]);
    return starts;
}

/// Removes the axes of one direction that each tile contains completely, for example bounds of
/// cells. If the ranks divide some axes, the others are removed. If they divide none, axes are
/// removed whose length differs from that of the first axis by more than one (staggered grids), or
/// that some variable has together with the first axis.
void drop_whole(const Definitions& definitions, std::vector<Axis>& axes, Starts& starts,
                std::size_t first_start) {
    const auto is_cut = [&](std::size_t i) {
        // A list has no blocks, but it distributes the dimensions that it lists.
        return starts[first_start + i].size() > 1 || axes[i].holding->decomposition->listed;
    };
    const auto length = [&](std::size_t i) { return definitions.dims[axes[i].dim].length; };
    const auto with_first = [&](std::size_t i) {
        return std::any_of(definitions.variables.begin(), definitions.variables.end(),
                           [&](const Variable& v) {
                               return std::count(v.dims.begin(), v.dims.end(), axes[i].dim) > 0 &&
                                      std::count(v.dims.begin(), v.dims.end(), axes[0].dim) > 0;
                           });
    };
    std::vector<char> keep(axes.size(), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) keep[i] = is_cut(i);
    if (std::count(keep.begin(), keep.end(), 1) == 0)
        for (std::size_t i = 0; i < axes.size(); ++i)
            keep[i] = i == 0 || (std::abs(length(i) - length(0)) <= 1 && !with_first(i));
    for (std::size_t i = axes.size(); i-- > 0;) {
        if (keep[i]) continue;
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
        starts.erase(starts.begin() + static_cast<std::ptrdiff_t>(first_start + i));
    }
}

/// Returns the part in which this rank's first block begins, along the first axis; -1 if the rank
/// has no block.
int part_of(const std::vector<Axis>& axes, const std::vector<Cut>& cuts) {
    if (axes.empty()) return 0;
    const Axis& axis = axes.front();
    const Decomposition& d = *axis.holding->decomposition;
    std::int64_t first = -1;
    if (d.listed) {
        for (const HeldBox& held : axis.holding->held)
            for_runs(held, held.box, [&](const HeldBox&, const Box& part) {
                if (first < 0) first = part.low[axis.at];
            });
    } else {
        const int m = axis.holding->order[axis.at];
        for (const Box& block : d.blocks)
            if (first < 0 && block.volume() > 0) first = block.low[m];
    }
    if (first < 0) return -1;
    const auto& begin = cuts.front().begin;
    return static_cast<int>(std::upper_bound(begin.begin(), begin.end(), first) - begin.begin()) -
           1;
}

/// Finds the ranks that the settings name as writers.
Status choose_writers(const FileContext& file, bool asked, std::vector<int>& writers) {
    const FileOptions& options = file.options;
    const Topology& topology = file.team.topology();
    if (options.method == "serial") {
        writers = {0};
    } else if (options.method == "direct") {
        writers.assign(topology.by_place.begin(), topology.by_place.end());
    } else {
        Status status = pick_writers(topology, parse_writers(options.writers), !asked, writers);
        if (!status.ok()) status.text = file.path + ": " + status.text;
        return status;
    }
    return {};
}

/// Chooses a rank for each part of a grid. Targets, one for each part, are spread evenly over the
/// ranks in node order, so that all nodes take part. The writer of a part is the rank nearest to
/// its target among those whose first block begins in the part.
class PartWriters {
public:
    /// @param mine  part of which this rank holds elements; -1: none
    PartWriters(Team& team, int parts, int mine)
        : team_(team), parts_(parts), distance_(parts, team.size()) {
        const Topology& topology = team.topology();
        if (mine < 0) return;
        const std::int64_t place = topology.first[topology.node] + topology.node_rank;
        distance_[mine] = (place - target(mine) + ranks()) % ranks();
    }

    /// Finds the nearest rank for each part.
    /// @note Collective
    void agree() { team_.all_reduce(distance_, Reduce::min); }

    std::vector<int> choose() const {
        std::vector<char> taken(ranks(), 0);
        std::vector<std::int64_t> place(distance_.size(), -1);
        for (std::size_t k = 0; k < place.size(); ++k) {
            if (distance_[k] == ranks()) continue;
            place[k] = (target(k) + distance_[k]) % ranks();
            taken[place[k]] = 1;
        }
        std::vector<int> writers;
        for (std::size_t k = 0; k < place.size(); ++k) {
            if (place[k] < 0) {  // no rank's block begins in this part
                place[k] = target(k);
                while (taken[place[k]]) place[k] = (place[k] + 1) % ranks();
                taken[place[k]] = 1;
            }
            writers.push_back(team_.topology().by_place[place[k]]);
        }
        return writers;
    }

private:
    std::int64_t ranks() const { return team_.size(); }
    std::int64_t target(std::int64_t part) const { return part * ranks() / parts_; }

    Team& team_;
    int parts_;
    std::vector<std::int64_t> distance_;
};

/// Checks that a dimension can be divided at these positions if each part is in a separate file.
Status check_cut(const Definitions& definitions, const std::string& path, const Cut& cut) {
    const Dimension& dim = definitions.dims[cut.dim];
    if (dim.length < std::ssize(cut.begin))
        return failure(TW_ESETTING,
                       "{}: files=tiles: dimension '{}' of length {} cannot be divided into {} "
                       "parts",
                       path, dim.name, dim.length, cut.begin.size());
    if (dim.length > INT32_MAX)
        return failure(TW_ESETTING,
                       "{}: files=tiles: dimension '{}' of length {} is too long for the attribute "
                       "{}",
                       path, dim.name, dim.length, decomposition_attribute);
    for (const Variable& v : definitions.variables)
        if (cut.begin.size() > 1 && std::count(v.dims.begin(), v.dims.end(), cut.dim) > 1)
            return failure(TW_ESETTING,
                           "{}: files=tiles: variable '{}' has dimension '{}' twice, which is cut "
                           "into tiles",
                           path, OfVariable{v.name}, dim.name);
    const DecompositionPlace place = decomposition_place(definitions, cut.dim);
    const auto& attributes = place.variable < 0 ? definitions.attributes
                                                : definitions.variables[place.variable].attributes;
    for (const Attribute& a : attributes)
        if (a.name == place.attribute)
            return failure(TW_EEXISTS,
                           "{}: files=tiles: the attribute '{}' for dimension '{}' is already "
                           "defined",
                           path, a.name, dim.name);
    return {};
}

/// Checks that the tiles can be separate files: a dimension must be divided alike in all variables.
Status check_tiles(const FileContext& file, const Grid& grid) {
    const Definitions& definitions = file.definitions;
    const std::string& path = file.path;
    std::vector<int> cut_as(definitions.dims.size(), 0);
    for (const auto* cuts : {&grid.y, &grid.x})
        for (const Cut& cut : *cuts) {
            if (Status s = check_cut(definitions, path, cut); !s.ok()) return s;
            cut_as[cut.dim] = cuts == &grid.y ? 1 : 2;
        }
    for (const Attribute& a : definitions.attributes)
        if (a.name == files_attribute)
            return failure(TW_EEXISTS, "{}: files=tiles: the attribute '{}' is already defined",
                           path, a.name);
    for (const Variable& v : definitions.variables)
        for (const int axis : {1, 2})
            if (std::count_if(v.dims.begin(), v.dims.end(),
                              [&](int dim) { return cut_as[dim] == axis; }) > 1)
                return failure(TW_ESETTING,
                               "{}: files=tiles: two dimensions of variable '{}' would be divided "
                               "along the same tile axis",
                               path, OfVariable{v.name});
    if (file.team.rank() == 0 && (grid.rows > 1 || grid.columns > 1))
        for (const auto* cuts : {&grid.y, &grid.x})
            for (const Cut& cut : *cuts)
                if (decomposition_place(definitions, cut.dim).variable < 0)
                    log::info(
                        "{}: dimension '{}' has no coordinate variable, so only thalweg combine, "
                        "not mppnccombine, can join the tiles",
                        path, definitions.dims[cut.dim].name);
    return {};
}

/// Divides the domain into one part per process row or column, or into as many parts as there are
/// writers.
void choose_lines(const FileContext& file, const Axes& axes, const Starts& starts, int most,
                  Grid& grid) {
    const bool rows = file.options.method == "rows";
    const std::size_t first = rows ? 0 : axes.y.size();
    const std::size_t lines = (rows ? axes.y : axes.x).empty() ? 1 : starts[first].size();
    (rows ? grid.rows : grid.columns) = std::min(lines, static_cast<std::size_t>(most));
    if (file.team.rank() == 0)
        log::info("{}: method={}: the decompositions have {} process {}, written by {} writers",
                  file.path, file.options.method, lines, file.options.method, grid.parts());
}

/// Chooses the numbers of tiles along x and y: those that the settings name, or about the same
/// number along both.
/// @param spread  number of writers among which the tiles are divided
Status choose_tiles(const FileContext& file, const Axes& axes, int available, int spread,
                    bool servers, Grid& grid) {
    const Tiles tiles = parse_tiles(file.options.tiles);
    const std::int64_t asked = static_cast<std::int64_t>(tiles.x) * tiles.y;
    if (tiles.x > 0 && asked > available)
        return failure(
            TW_ESETTING, "{}: setting tiles is {}, which needs {} writers; there are only {} {}",
            file.path, file.options.tiles, asked, available, servers ? "servers" : "ranks");
    grid.columns = 1;
    for (int c = 1; c * c <= spread; ++c)
        if (spread % c == 0) grid.columns = c;
    grid.rows = spread / grid.columns;
    if (tiles.x > 0) {
        grid.columns = tiles.x;
        grid.rows = tiles.y;
    }
    if (axes.y.empty()) grid.rows = 1;
    if (axes.x.empty()) grid.columns = 1;
    return {};
}

/// Divides all dimensions of one direction.
/// @param first  index of the first of these axes in `starts`
std::vector<Cut> cut_axes(const Definitions& definitions, const std::vector<Axis>& axes,
                          const Starts& starts, std::size_t first, int parts) {
    std::vector<Cut> cuts;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t d = axes[i].dim;
        cuts.push_back(
            {axes[i].dim, cut_dimension(starts[first + i], definitions.dims[d].length, parts)});
    }
    return cuts;
}

/// The information from which a division of the horizontal domain is chosen.
struct Division {
    Axes axes;
    Starts starts;
    std::vector<std::int64_t> lengths;  ///< length of each axis
    std::vector<int> named;             ///< ranks that the settings name as writers
    int available = 0, spread = 0;
    bool served = false, rows = false, columns = false;
};

/// Collects this rank's information for the division. Local.
Status begin_division(const FileContext& file, bool writers_asked, Division& d, Target& target) {
    const FileOptions& options = file.options;
    LayoutChoice& layout = target.layout;
    layout.method = options.method;
    layout.alignment = options.alignment;
    constexpr std::int64_t part = 4 << 20;  // at least two chunks of Netcdf4Layout
    // Writers that compress take longer than the writes, so all of them must have work.
    if (has_chunks(file.format) && needs_whole_chunks(file.definitions)) layout.part = part;
    const ServerConnection* port = options.service == "servers" ? file.session.port() : nullptr;
    d.served = port != nullptr;
    d.available = port ? static_cast<int>(port->server_roles().servers().size()) : file.team.size();
    if (!port)
        if (Status s = choose_writers(file, writers_asked, d.named); !s.ok()) return s;
    d.spread = port ? d.available : static_cast<int>(d.named.size());
    if (!layout.gridded()) {
        layout.writers = d.spread;
        target.writers = std::move(d.named);
        return {};
    }
    d.rows = options.method == "rows";
    d.columns = options.method == "columns";
    d.axes = find_axes(file.definitions, file.holdings, d.rows);
    for (const auto* of : {&d.axes.y, &d.axes.x})
        for (const Axis& axis : *of) {
            d.starts.push_back(starts_along(axis));
            d.lengths.push_back(file.definitions.dims[axis.dim].length);
        }
    return {};
}

/// Moves the axis that the first cut divides to the front.
void sort_axes(std::vector<Axis>& axes, const std::vector<Cut>& cuts) {
    const auto is_first = [&](const Axis& axis) {
        return !cuts.empty() && axis.dim == cuts.front().dim;
    };
    const auto found = std::find_if(axes.begin(), axes.end(), is_first);
    if (found == axes.end())
        axes.clear();
    else
        std::rotate(axes.begin(), found, found + 1);
}

/// Divides the domain as an existing set of files divides it.
Status divide_as_existing(const FileContext& file, const Grid& existing, Division& d, Grid& grid) {
    const Tiles asked = parse_tiles(file.options.tiles);
    const bool one_way = existing.rows == 1 || existing.columns == 1;
    if (asked.x > 0 && (std::int64_t{asked.x} * asked.y != existing.parts() ||
                        (!one_way && asked.x != existing.columns)))
        return failure(TW_ESETTING, "{}: setting tiles is {}, but the files are {}x{} tiles",
                       file.path, file.options.tiles, existing.columns, existing.rows);
    const int most = d.named.empty() ? d.available : static_cast<int>(d.named.size());
    if (existing.parts() > most)
        return failure(TW_ESETTING, "{}: {} tiles need as many writers; there are only {} {}",
                       file.path, existing.parts(), most, d.served ? "servers" : "ranks");
    grid = existing;
    sort_axes(d.axes.y, grid.y);
    sort_axes(d.axes.x, grid.x);
    return {};
}

/// Divides the horizontal domain.
/// @param mine  receives the number of the part of which this rank holds elements; -1: none
Status divide(const FileContext& file, bool writers_asked, const Grid* existing, Division& d,
              Target& target, int& mine) {
    const FileOptions& options = file.options;
    Axes& axes = d.axes;
    Grid& grid = target.layout.grid;
    grid.own_files = file.in_files();
    if (grid.own_files && existing == nullptr) {
        drop_whole(file.definitions, axes.x, d.starts, axes.y.size());
        drop_whole(file.definitions, axes.y, d.starts, 0);
    }
    if (!writers_asked || (options.method == "tiles" && parse_tiles(options.tiles).x > 0))
        d.named.clear();
    const int most = d.named.empty() ? d.available : static_cast<int>(d.named.size());
    if (existing != nullptr) {
        if (Status s = divide_as_existing(file, *existing, d, grid); !s.ok()) return s;
    } else {
        if (d.rows || d.columns)
            choose_lines(file, axes, d.starts, most, grid);
        else if (Status s = choose_tiles(file, axes, d.available, d.spread, d.served, grid);
                 !s.ok())
            return s;
        if (!d.columns) grid.y = cut_axes(file.definitions, axes.y, d.starts, 0, grid.rows);
        if (!d.rows)
            grid.x = cut_axes(file.definitions, axes.x, d.starts, axes.y.size(), grid.columns);
        if (grid.own_files)
            if (Status s = check_tiles(file, grid); !s.ok()) return s;
    }
    target.layout.writers = grid.parts();
    if (d.served) return {};
    const std::size_t parts = grid.parts();
    for (std::size_t k = 0; k < parts && !d.named.empty(); ++k)
        target.writers.push_back(d.named[k * d.named.size() / parts]);
    const int row = d.columns ? 0 : part_of(axes.y, grid.y);
    const int column = d.rows ? 0 : part_of(axes.x, grid.x);
    mine = row < 0 || column < 0 ? -1 : row * grid.columns + column;
    return {};
}

}  // namespace

Status choose_layout(const FileContext& file, bool writers_asked, const Grid* existing,
                     Target& target) {
    Division d;
    // The result depends only on values that all ranks have in common, so the status is the same on
    // every rank.
    Status status = begin_division(file, writers_asked, d, target);
    if (!status.ok() || !target.layout.gridded()) return status;
    d.starts = unite_starts(file.team.world(), d.starts, d.lengths);
    int part = -1;
    status = divide(file, writers_asked, existing, d, target, part);
    if (status = file.team.agree(status); !status.ok() || d.served || !d.named.empty())
        return status;
    PartWriters writers(file.team, target.layout.grid.parts(), part);
    writers.agree();
    target.writers = writers.choose();
    return {};
}

}  // namespace thalweg::detail
