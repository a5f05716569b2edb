// SPDX-License-Identifier: Apache-2.0
#include "history/files/choices.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace thalweg::history {

/// Returns a longitude shifted by a multiple of 360, so that it lies in [west, west + 360).
static double turned(double longitude, double west) {
    const double east_of = std::fmod(longitude - west, 360);
    return longitude +
           std::round((west + east_of + (east_of < 0 ? 360 : 0) - longitude) / 360) * 360;
}

static Integers within(const std::vector<double>& values, double low, double high) {
    Integers indices;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] >= low && values[i] <= high) indices.push_back(static_cast<std::int64_t>(i));
    return indices;
}

/// Returns the index of the element next to a position; none if it is farther away than its own
/// neighbours.
static Integers nearest(const std::vector<double>& values, double position) {
    if (values.empty()) return {};
    const auto distance = [](double a, double b) { return std::abs(std::remainder(a - b, 360)); };
    std::size_t best = 0;
    for (std::size_t i = 1; i < values.size(); ++i)
        if (distance(values[i], position) < distance(values[best], position)) best = i;
    double step = 0;
    if (best > 0) step = distance(values[best - 1], values[best]);
    if (best + 1 < values.size()) step = std::max(step, distance(values[best + 1], values[best]));
    if (distance(values[best], position) > step) return {};
    return {static_cast<std::int64_t>(best)};
}

/// Returns the indices of the elements in a box, sorted from west to east. The box may cross the
/// seam of the grid, where longitudes jump by 360.
static Integers eastward(std::vector<double> longitudes, double west, double east) {
    if (west == east) return nearest(longitudes, west);
    for (double& longitude : longitudes) longitude = turned(longitude, west);
    Integers indices = within(longitudes, -1e9, east < west ? east + 360 : east);
    std::ranges::stable_sort(indices, {}, [&](std::int64_t i) { return longitudes[i]; });
    return indices;
}

static Integers levels_of(const Levels& levels, std::int64_t length, const Coordinate* axis) {
    if (!levels.index.empty()) return levels.index;
    const std::vector<double> values = axis == nullptr ? std::vector<double>{} : numbers_of(*axis);
    if (levels.range) return within(values, (*levels.range)[0], (*levels.range)[1]);
    Integers indices;
    for (const double wanted : levels.nearest) {
        if (std::ssize(values) != length) break;
        const auto best = std::ranges::min_element(
            values, {}, [&](double value) { return std::abs(value - wanted); });
        indices.push_back(best - values.begin());
    }
    return indices;
}

/// Adds multiples of 360 to the chosen longitudes, or to their bounds, so that they increase.
/// @param longitudes  those of the whole axis @param chosen  indices of the chosen ones
template <class T>
static void make_monotonic(const std::vector<double>& longitudes, const Integers& chosen,
                           double west, std::vector<char>& data) {
    const std::size_t n = data.size() / sizeof(T), row = n / chosen.size();
    T* values = reinterpret_cast<T*>(data.data());
    for (std::size_t i = 0; i < n; ++i) {
        const double longitude = longitudes[chosen[i / row]];
        values[i] += static_cast<T>(turned(longitude, west) - longitude);
    }
}

Status Choices::find(const StreamTable& stream, const Names& dims, const Pick& pick,
                     Choice& choice) const {
    const auto& shape = declared_.lengths();
    choice.pick = restricted(pick, dims);
    const auto both = [&](const char* what, const std::string& dim) {
        return failure(TW_ESETTING,
                       "stream '{}': the {} and the levels both select elements of dimension "
                       "'{}'; use one of them",
                       stream.name, what, dim);
    };
    if (stream.levels && !stream.levels->interpolates()) {
        const std::string& dim = stream.levels->dim;
        if (place_of(dim, pick.dims) >= 0) return both("region", dim);
        if (shape.contains(dim) && place_of(dim, dims) >= 0)
            choice.along[dim] = levels_of(*stream.levels, shape.at(dim), declared_.axis(dim));
    }
    if (!stream.region.empty()) {
        const RegionTable& region = table_.regions.at(stream.region);
        for (const auto& [dim, first, last] : region.index)
            for (std::int64_t i = first; i <= last && place_of(dim, dims) >= 0; ++i)
                choice.along[dim].push_back(i);
        for (const std::string& dim : dims) {
            const Coordinate* c = region.box ? declared_.axis(dim) : nullptr;
            const std::string units = c == nullptr ? "" : text_of(c->attributes, "units");
            if (!is_east(units) && !is_north(units)) continue;
            const auto [west, east, south, north] = *region.box;
            const std::vector<double> values = numbers_of(*c);
            if (choice.along.contains(dim)) return both("region's box", dim);
            choice.along[dim] = is_east(units)   ? eastward(values, west, east)
                                : south == north ? nearest(values, south)
                                                 : within(values, south, north);
        }
    }
    for (const auto& [dim, indices] : choice.along) {
        const auto length = shape.find(dim);
        if (length == shape.end()) continue;
        for (const std::int64_t index : indices)
            if (index < 0 || index >= length->second)
                return failure(TW_ESETTING,
                               "stream '{}': index {} of dimension '{}' is outside 0 to {}",
                               stream.name, index, dim, length->second - 1);
        const std::set<std::int64_t> different(indices.begin(), indices.end());
        if (std::ssize(different) != std::ssize(indices))
            return failure(TW_ESETTING, "stream '{}': an element of dimension '{}' is chosen twice",
                           stream.name, dim);
        if (indices.empty())
            return failure(TW_ESETTING, "stream '{}': no element of dimension '{}' is selected",
                           stream.name, dim);
    }
    return {};
}

/// Makes the chosen longitudes, or their bounds, increase in a box, which may cross the seam.
void Choices::turn_eastward(const StreamTable& stream, const Coordinate& c, const Choice& choice,
                            std::vector<char>& data) const {
    if (c.dims.empty()) return;
    const RegionTable& region = table_.regions.at(stream.region);
    const Coordinate* along = declared_.axis(c.dims.front());
    if (along == nullptr || !is_east(text_of(along->attributes, "units"))) return;
    if (&c != along && text_of(along->attributes, "bounds") != c.name) return;
    const Integers& chosen = choice.along.at(c.dims.front());
    // The column next to a meridian may lie on either side of it.
    const double west = (*region.box)[0] - ((*region.box)[0] == (*region.box)[1] ? 180 : 0);
    if (c.type == TW_DOUBLE) make_monotonic<double>(numbers_of(*along), chosen, west, data);
    if (c.type == TW_FLOAT) make_monotonic<float>(numbers_of(*along), chosen, west, data);
}

Taken& Choices::take(int serial, const Part& part, const Choice& choice) {
    for (Taken& t : taken_)
        if (t.serial == serial && t.dims == part.dims && t.shape == part.shape &&
            t.choice == choice)
            return t;
    return taken_.emplace_back(Taken{choose(part, choice), serial, part.dims, part.shape, choice});
}

Part restart_part(const Part& part) {
    Part renamed = part;
    for (int d = 0; d < part.nd(); ++d)
        renamed.dims[d] = fmt::format("history_{}_{}", d, part.shape[d]);
    return renamed;
}

Status Choices::declare(const Ranks& ranks, bool restart) {
    Checks check(ranks);
    for (Taken& t : taken_) {
        const Part part = restart ? restart_part(t.part) : t.part;
        tw_decomposition& to = restart ? t.restart : t.target;
        if (to == nullptr) check(history::declare(ranks.session(), part, &to));
    }
    return check.status;
}

std::vector<WrittenCoordinate> Choices::coordinates_of(
    const StreamTable& stream, const std::vector<Variable*>& variables,
    const std::vector<const Coordinate*>& others) {
    std::vector<WrittenCoordinate> all;
    std::set<std::string> names;
    for (const Coordinate* other : others) names.insert(other->name);
    for (const Coordinate* c : needed_coordinates(declared_.coordinates(), variables, names)) {
        Pick pick;
        for (const Variable* variable : variables)
            if (pick.dims.empty()) pick = restricted(variable->pick, c->dims);
        Choice choice;
        // Cannot fail: the fields' choices were found before.
        (void)find(stream, c->part.dims, pick, choice);
        Taken& t = take(c->serial, c->part, choice);
        auto& kept = coordinate_data_[{c, &t}];
        if (!kept) {
            // The positions in `t` may be those of a field with the same decomposition, whose list
            // may have holes. The coordinate's data have none.
            kept = std::make_shared<std::vector<char>>(chosen_data(*c, choose(c->part, choice)));
        }
        auto data = kept;
        if (!stream.region.empty() && table_.regions.at(stream.region).box) {
            // Two regions with the same elements may begin at different longitudes.
            auto own = std::make_shared<std::vector<char>>(*kept);
            turn_eastward(stream, *c, choice, *own);
            if (*own != *kept) data = std::move(own);
        }
        all.push_back({c, picked_dims(c->dims, pick), &t, data});
    }
    for (const Coordinate* other : others)
        all.push_back({other, other->dims, &take(other->serial, other->part, {}),
                       std::make_shared<std::vector<char>>(other->data)});
    return all;
}

}  // namespace thalweg::history
