// SPDX-License-Identifier: Apache-2.0
#include "storage/tiles/set.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace thalweg::detail {

namespace {

/// Returns the values of an attribute of any integer type; empty if the attribute has another type.
std::vector<std::int64_t> integers(const Attribute& a) {
    return with_number(a.type, [&](auto number) -> std::vector<std::int64_t> {
        if constexpr (!std::is_integral_v<decltype(number)>) return {};
        std::vector<decltype(number)> values(a.n);
        std::memcpy(values.data(), a.values.data(), values.size() * sizeof number);
        return {values.begin(), values.end()};
    });
}

void remove_attribute(NamedList<Attribute>& from, const std::string& name) {
    from.remove_if([&](const Attribute& a) { return a.name == name; });
}

/// Removes the tile's number from the attribute in which FMS stores the file name.
void remove_number(NamedList<Attribute>& attributes, int tile) {
    const std::string number = tile_path("", tile);
    for (Attribute& a : attributes) {
        if (a.name != "filename" || a.type != TW_CHAR) continue;
        const std::string_view text(a.values.data(), a.values.size());
        if (!text.ends_with(number)) continue;
        a.values.resize(a.values.size() - number.size());
        a.n = std::ssize(a.values);
    }
}

/// Returns the first line in which two lists differ, in the form "a and b".
std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return fmt::format("{} and {}", x == a.end() ? "nothing" : *x, y == b.end() ? "nothing" : *y);
}

}  // namespace

int TileSet::files(const Definitions& tile) {
    const Attribute* const a = tile.attributes.get(files_attribute);
    const auto n = a == nullptr ? std::vector<std::int64_t>{} : integers(*a);
    return n.size() == 1 && n[0] > 0 && n[0] <= INT32_MAX ? static_cast<int>(n[0]) : 0;
}

/// Reads how a dimension is divided, and removes the attribute with this information from the
/// definitions of the whole data set.
Status TileSet::divide(const std::string& path, const Definitions& tile, int dim,
                       Definitions& whole, Place& place, Division& division) const {
    const Dimension& part = tile.dims[dim];
    const DecompositionPlace at = decomposition_place(tile, dim);
    auto& attributes = at.variable < 0 ? whole.attributes : whole.variables[at.variable].attributes;
    division.attribute = at.attribute;
    place.begin.push_back(0);
    place.length.push_back(part.length);
    const Attribute* const a = attributes.get(at.attribute);
    if (a == nullptr) return {};
    const std::vector<std::int64_t> is = integers(*a);
    std::int64_t span = 0;
    if (is.size() != 4 || is[2] < is[0] || is[3] < is[2] || is[3] > is[1] ||
        __builtin_sub_overflow(is[1], is[0], &span) || span == INT64_MAX ||
        is[3] - is[2] + 1 != part.length)
        return failure(TW_EFORMAT, "{}: attribute '{}' does not match dimension '{}' of length {}",
                       OfFile{path}, at.attribute, part.name, part.length);
    division.present = true;
    division.first = is[0];
    place.begin.back() = is[2] - is[0];
    whole.dims[dim].length = span + 1;
    remove_attribute(attributes, at.attribute);
    return {};
}

/// Compares the definitions of the whole data set that follow from a tile with those that follow
/// from the first tile.
Status TileSet::compare(const std::string& path, const Definitions& whole,
                        const std::vector<Division>& divisions) const {
    const std::string& first = places_.front().path;
    const auto differs = [&](const std::string& how) {
        return failure(TW_EFORMAT, "{}: its definitions differ from those of {}: {}", OfFile{path},
                       first, how);
    };
    for (std::size_t i = 0; i < std::min(divisions.size(), divisions_.size()); ++i) {
        const Dimension &mine = whole.dims[i], &its = whole_.dims[i];
        const Division &a = divisions[i], &b = divisions_[i];
        if (mine.name != its.name) break;
        if (a.present != b.present)
            return differs(fmt::format("dimension '{}' has no attribute '{}' in {}", mine.name,
                                       a.attribute, a.present ? first : path));
        if (mine.length == its.length && a.first == b.first) continue;
        if (a.present)
            return differs(fmt::format("the whole dimension '{}' has indices {} to {} and {} to {}",
                                       mine.name, a.first, a.first + mine.length - 1, b.first,
                                       b.first + its.length - 1));
        if (!mine.unlimited() && !its.unlimited())
            return differs(fmt::format(
                "dimension '{}' has lengths {} and {}, but no attribute '{}' says how it is "
                "divided",
                mine.name, mine.length, its.length, a.attribute));
    }
    const std::vector<std::string> mine = describe(whole), its = describe(whole_);
    return mine == its ? Status{} : differs(first_difference(mine, its));
}

Status TileSet::add(const std::string& path, const Definitions& tile) {
    Definitions whole = tile;
    Place place{path, {}, {}};
    std::vector<Division> divisions(tile.dims.size());
    for (std::size_t i = 0; i < tile.dims.size(); ++i)
        if (Status s = divide(path, tile, i, whole, place, divisions[i]); !s.ok()) return s;
    const int set = files(tile);
    remove_attribute(whole.attributes, files_attribute);
    remove_number(whole.attributes, size());
    for (Variable& v : whole.variables) {
        std::int64_t bytes = std::max<std::int64_t>(1, v.element());
        for (std::size_t k = 0; k < v.shape.size(); ++k) {
            const std::size_t dim = v.dims[k + (v.record ? 1 : 0)];
            if (v.shape[k] == tile.dims[dim].length) v.shape[k] = whole.dims[dim].length;
            if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(1, v.shape[k]), &bytes))
                return failure(TW_EFORMAT, "{}: variable '{}' has too many elements", OfFile{path},
                               OfVariable{v.name});
        }
    }
    if (places_.empty()) {
        files_ = set;
        whole_ = std::move(whole);
        divisions_ = std::move(divisions);
    } else if (set != files_) {
        return failure(TW_EFORMAT, "{}: belongs to a different set of tiles than {}", OfFile{path},
                       places_.front().path);
    } else if (Status status = compare(path, whole, divisions); !status.ok()) {
        return status;
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
        // Dimensions without a fixed length, other than the record dimension, are not divided.
        if (v.shape[d] == whole_.dims[dim].length) box.count[d] = place.length[dim];
    }
    return box;
}

/// Finds the cuts of a grid from its numbers of rows and columns.
/// @return false if the tiles do not form such a grid
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
        // Check, in one direction, that each part begins at the end of the part before it.
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

std::vector<std::vector<int>> TileSet::copies(int variable) const {
    std::map<std::pair<Index, Index>, std::size_t> known;
    std::vector<std::vector<int>> lists;
    for (int t = 0; t < size(); ++t) {
        const Box own = box(variable, t);
        const auto [at, is_new] = known.try_emplace({own.low, own.count}, lists.size());
        if (is_new) lists.emplace_back();
        lists[at->second].push_back(t);
    }
    return lists;
}

std::vector<int> TileSet::holders(int variable) const {
    std::vector<int> first;
    for (const std::vector<int>& tiles : copies(variable)) first.push_back(tiles.front());
    return first;
}

std::string TileSet::undivided() const {
    std::string names;
    for (std::size_t i = 0; i < divisions_.size(); ++i)
        if (!divisions_[i].present)
            names += fmt::format("{}'{}'", names.empty() ? "" : ", ", whole_.dims[i].name);
    return names;
}

/// Checks that no two tiles hold the same part of the whole data set.
Status TileSet::check_places() const {
    std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, int> known;
    for (int t = 0; t < size(); ++t) {
        const Place& place = places_[t];
        const auto [at, is_new] = known.try_emplace({place.begin, place.length}, t);
        if (is_new) continue;
        const std::string names = undivided();
        return failure(TW_EFORMAT, "{}: is the same part of the whole as {}{}", OfFile{place.path},
                       places_[at->second].path,
                       names.empty() ? ""
                                     : fmt::format(": no attribute '{}' divides dimension {}",
                                                   decomposition_attribute, names));
    }
    return {};
}

/// Checks that the parts of a dimension contain all of its indices, for each part of the other
/// dimensions.
Status TileSet::check_dimension(int dim) const {
    std::vector<std::pair<std::int64_t, int>> begins;
    for (int t = 0; t < size(); ++t) begins.emplace_back(places_[t].begin[dim], t);
    std::sort(begins.begin(), begins.end());
    std::int64_t end = 0;
    int last = begins.front().second;  // tile with the largest end so far
    const auto gap = [&](std::int64_t next) {
        const std::int64_t first = divisions_[dim].first;
        return failure(TW_EFORMAT, "{}: beside it, no file has indices {} to {} of dimension '{}'",
                       OfFile{places_[last].path}, first + end, first + next - 1,
                       whole_.dims[dim].name);
    };
    for (const auto& [begin, tile] : begins) {
        if (begin > end) return gap(begin);
        if (begin + places_[tile].length[dim] <= end) continue;
        end = begin + places_[tile].length[dim];
        last = tile;
    }
    return end == whole_.dims[dim].length ? Status{} : gap(whole_.dims[dim].length);
}

/// Checks that each element of a variable is in one part, and in only one.
Status TileSet::check_variable(int variable) const {
    const Variable& v = whole_.variables[variable];
    const std::vector<int> tiles = holders(variable);
    std::vector<Box> boxes;
    std::int64_t n = 0;
    for (const int t : tiles) {
        boxes.push_back(box(variable, t));
        n += boxes.back().volume();
    }
    for (std::size_t a = 0; a < boxes.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
            Box common;
            if (!intersect(boxes[a], boxes[b], common)) continue;
            std::size_t d = 0;
            while (boxes[a].low[d] == boxes[b].low[d] && boxes[a].count[d] == boxes[b].count[d])
                ++d;
            return failure(TW_EFORMAT, "{}: overlaps {} along dimension '{}' (variable '{}')",
                           OfFile{places_[tiles[a]].path}, places_[tiles[b]].path,
                           whole_.dims[v.dims[d + (v.record ? 1 : 0)]].name, OfVariable{v.name});
        }
    if (n == v.elements()) return {};
    std::string names;
    for (std::size_t i = 0; i < divisions_.size(); ++i)
        if (divisions_[i].present && std::count(v.dims.begin(), v.dims.end(), int(i)) > 0)
            names += fmt::format("{}'{}'", names.empty() ? "" : ", ", whole_.dims[i].name);
    return failure(TW_EFORMAT,
                   "{}: it and the other files have {} of {} elements of variable '{}', which is "
                   "divided along {}",
                   OfFile{places_.front().path}, n, v.elements(), OfVariable{v.name}, names);
}

Status TileSet::check_cover() const {
    if (Status status = check_places(); !status.ok()) return status;
    for (std::size_t d = 0; d < divisions_.size(); ++d) {
        if (!divisions_[d].present) continue;
        if (Status status = check_dimension(d); !status.ok()) return status;
    }
    // All variables with the same dimensions are divided alike, so check only one of them.
    std::set<std::vector<int>> known;
    for (std::size_t i = 0; i < whole_.variables.size(); ++i) {
        const Variable& v = whole_.variables[i];
        if (v.shape.size() > static_cast<std::size_t>(max_dims)) continue;
        std::vector<int> dims(v.dims.begin() + (v.record ? 1 : 0), v.dims.end());
        if (!known.insert(std::move(dims)).second) continue;
        if (Status status = check_variable(i); !status.ok()) return status;
    }
    return {};
}

}  // namespace thalweg::detail
