// SPDX-License-Identifier: Apache-2.0
#include "storage/tiles/set.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace thalweg::detail {

namespace {

std::vector<std::int32_t> integers(const std::vector<Attribute>& attributes,
                                   const std::string& name) {
    for (const Attribute& a : attributes) {
        if (a.name != name || a.type != TW_INT) continue;
        std::vector<std::int32_t> values(a.n);
        std::memcpy(values.data(), a.values.data(), values.size() * sizeof values[0]);
        return values;
    }
    return {};
}

void remove_attribute(std::vector<Attribute>& from, const std::string& name) {
    std::erase_if(from, [&](const Attribute& a) { return a.name == name; });
}

}  // namespace

int TileSet::files(const Definitions& tile) {
    const auto n = integers(tile.attributes, files_attribute);
    return n.size() == 1 && n[0] > 0 ? n[0] : 0;
}

Status TileSet::add(const std::string& path, const Definitions& tile) {
    Definitions whole = tile;
    Place place;
    for (std::size_t i = 0; i < tile.dims.size(); ++i) {
        const DecompositionPlace at = decomposition_place(tile, i);
        auto& attributes =
            at.variable < 0 ? whole.attributes : whole.variables[at.variable].attributes;
        const auto told = integers(attributes, at.attribute);
        place.begin.push_back(0);
        place.length.push_back(tile.dims[i].length);
        if (told.empty()) continue;
        const std::vector<std::int64_t> is(told.begin(), told.end());
        if (is.size() != 4 || is[2] < is[0] || is[3] > is[1] ||
            is[3] - is[2] + 1 != tile.dims[i].length)
            return failure(TW_EFORMAT, "{}: attribute '{}' does not match dimension '{}'", path,
                           at.attribute, tile.dims[i].name);
        place.begin[i] = is[2] - is[0];
        whole.dims[i].length = is[1] - is[0] + 1;
        remove_attribute(attributes, at.attribute);
    }
    const int set = files(tile);
    remove_attribute(whole.attributes, files_attribute);
    for (Variable& v : whole.variables)
        for (std::size_t k = 0; k < v.shape.size(); ++k) {
            const std::size_t dim = v.dims[k + (v.record ? 1 : 0)];
            if (v.shape[k] == tile.dims[dim].length) v.shape[k] = whole.dims[dim].length;
        }
    if (places_.empty()) {
        first_ = path;
        files_ = set;
        whole_ = std::move(whole);
    } else if (set != files_) {
        return failure(TW_EFORMAT, "{}: belongs to a different set of tiles than {}", path, first_);
    } else if (describe(whole) != describe(whole_)) {
        return failure(TW_EFORMAT, "{}: its definitions differ from those of {}", path, first_);
    }
    places_.push_back(std::move(place));
    return {};
}

Box TileSet::box(int variable, int tile) const {
    const Variable& v = whole_.variables[variable];
    const Place& place = places_[tile];
    Box box = whole_box(v.shape);
    for (std::size_t d = 0; d < v.shape.size(); ++d) {
        const std::size_t dim = v.dims[d + (v.record ? 1 : 0)];
        box.low[d] = place.begin[dim];
        // Of a dimension without a fixed length that is not the records' all of it is in each.
        if (v.shape[d] == whole_.dims[dim].length) box.count[d] = place.length[dim];
    }
    return box;
}

/// Of a grid of so many rows and columns, the cuts.
bool TileSet::is_grid(Grid& grid) const {
    for (std::size_t d = 0; d < whole_.dims.size(); ++d) {
        const auto of = [&](int tile) { return places_[tile].begin[d]; };
        const auto end_of = [&](int tile) { return of(tile) + places_[tile].length[d]; };
        bool cut = false, by_row = true, by_column = true;
        for (int t = 0; t < size(); ++t) {
            const int row = t / grid.columns, column = t % grid.columns;
            cut |= places_[t].length[d] != whole_.dims[d].length;
            by_row &= of(t) == of(row * grid.columns) && end_of(t) == end_of(row * grid.columns);
            by_column &= of(t) == of(column) && end_of(t) == end_of(column);
        }
        if (!cut) continue;
        if (!by_row && !by_column) return false;
        // Along one direction each part begins where the one before ends.
        const int parts = by_row ? grid.rows : grid.columns, step = by_row ? grid.columns : 1;
        Cut at{static_cast<int>(d), {}};
        for (int k = 0; k < parts; ++k) {
            at.begin.push_back(of(k * step));
            if (at.begin.back() != (k == 0 ? 0 : end_of((k - 1) * step)) ||
                places_[k * step].length[d] < 1)
                return false;
        }
        (by_row ? grid.y : grid.x).push_back(std::move(at));
    }
    return true;
}

bool TileSet::find_grid(Grid& grid) const {
    for (int columns = 1; columns <= size(); ++columns) {
        if (size() % columns != 0) continue;
        Grid found;
        found.columns = columns;
        found.rows = size() / columns;
        found.own_files = true;
        if (!is_grid(found)) continue;
        grid = std::move(found);
        return true;
    }
    return false;
}

std::vector<int> TileSet::holders(int variable) const {
    std::set<Index> begins;
    std::vector<int> result;
    for (int t = 0; t < size(); ++t)
        if (begins.insert(box(variable, t).low).second) result.push_back(t);
    return result;
}

Status TileSet::check_cover(const std::string& path) const {
    std::set<std::vector<int>> known;  // variables of the same dimensions are cut alike
    for (std::size_t i = 0; i < whole_.variables.size(); ++i) {
        const Variable& v = whole_.variables[i];
        if (v.shape.size() > static_cast<std::size_t>(max_dims)) continue;
        std::vector<int> dims(v.dims.begin() + (v.record ? 1 : 0), v.dims.end());
        if (!known.insert(std::move(dims)).second) continue;
        std::vector<Box> boxes;
        std::int64_t n = 0;
        for (const int t : holders(i)) {
            boxes.push_back(box(i, t));
            n += boxes.back().volume();
        }
        bool twice = false;
        for (std::size_t a = 0; a < boxes.size() && n > 0; ++a)
            for (std::size_t b = 0; b < a; ++b) {
                Box common;
                twice |= intersect(boxes[a], boxes[b], common);
            }
        if (n == v.elements() && !twice) continue;
        return failure(TW_EFORMAT, "{}: the files have {} of {} elements of variable '{}'{}", path,
                       n, v.elements(), v.name, twice ? ", some twice" : "");
    }
    return {};
}

}  // namespace thalweg::detail
