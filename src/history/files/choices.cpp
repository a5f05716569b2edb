// SPDX-License-Identifier: Apache-2.0
#include "history/files/choices.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace thalweg::history {

using detail::failure;

namespace {

/// Returns a longitude shifted by a multiple of 360, so that it lies in [west, west + 360).
double turned(double longitude, double west) {
    const double east_of = std::fmod(longitude - west, 360);
    return longitude +
           std::round((west + east_of + (east_of < 0 ? 360 : 0) - longitude) / 360) * 360;
}

/// Returns the indices of the elements in a box, sorted from west to east. The box may cross the
/// seam of the grid, where longitudes jump by 360.
Integers eastward(const std::vector<double>& longitudes, double west, double east) {
    std::vector<std::pair<double, std::int64_t>> inside;
    if (east < west) east += 360;
    for (std::size_t i = 0; i < longitudes.size(); ++i) {
        const double at = turned(longitudes[i], west);
        if (at <= east) inside.emplace_back(at, static_cast<std::int64_t>(i));
    }
    std::stable_sort(inside.begin(), inside.end());
    Integers indices;
    for (const auto& [at, index] : inside) indices.push_back(index);
    return indices;
}

Integers levels_of(const Levels& levels, std::int64_t length, const Coordinate* axis) {
    if (!levels.index.empty()) return levels.index;
    Integers indices;
    const std::vector<double> values =
        axis == nullptr ? std::vector<double>{} : numbers_of(*axis, axis->data);
    if (levels.range) {
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] >= (*levels.range)[0] && values[i] <= (*levels.range)[1])
                indices.push_back(static_cast<std::int64_t>(i));
        return indices;
    }
    for (const double wanted : levels.nearest) {
        if (std::ssize(values) != length) break;
        const auto best = std::min_element(values.begin(), values.end(), [&](double a, double b) {
            return std::abs(a - wanted) < std::abs(b - wanted);
        });
        indices.push_back(best - values.begin());
    }
    return indices;
}

/// Adds multiples of 360 to the chosen longitudes, or to their bounds, so that they increase.
/// @param longitudes  longitudes of the whole axis
/// @param chosen  indices of the chosen longitudes
template <class T>
void make_monotonic(const std::vector<double>& longitudes, const Integers& chosen, double west,
                    std::vector<char>& data) {
    const std::size_t n = data.size() / sizeof(T), row = n / chosen.size();
    T* values = reinterpret_cast<T*>(data.data());
    for (std::size_t i = 0; i < n; ++i) {
        const double longitude = longitudes[chosen[i / row]];
        values[i] += static_cast<T>(turned(longitude, west) - longitude);
    }
}

}  // namespace

Status Choices::find(const StreamTable& stream, const std::vector<std::string>& dims,
                     const Pick& pick, Choice& choice) const {
    const auto& shape = declared_.lengths();
    choice.pick = restricted(pick, dims);
    const bool selects = stream.levels && !stream.levels->interpolates();
    if (selects && std::count(pick.dims.begin(), pick.dims.end(), stream.levels->dim) != 0)
        return failure(TW_ESETTING,
                       "stream '{}': the region and the levels both select elements of dimension "
                       "'{}'; use one of them",
                       stream.name, stream.levels->dim);
    if (selects && shape.count(stream.levels->dim) != 0 &&
        std::count(dims.begin(), dims.end(), stream.levels->dim) != 0)
        choice.along[stream.levels->dim] = levels_of(*stream.levels, shape.at(stream.levels->dim),
                                                     declared_.axis(stream.levels->dim));
    if (!stream.region.empty()) {
        const RegionTable& region = table_.regions.at(stream.region);
        for (const IndexRange& range : region.index)
            if (std::count(dims.begin(), dims.end(), range.dim) != 0)
                for (std::int64_t i = range.first; i <= range.last; ++i)
                    choice.along[range.dim].push_back(i);
        if (region.box) {
            for (const std::string& dim : dims) {
                const Coordinate* c = declared_.axis(dim);
                if (c == nullptr) continue;
                const std::string units = text_of(c->attributes, "units");
                const std::vector<double> values = numbers_of(*c, c->data);
                if (choice.along.count(dim) != 0 && (is_east(units) || is_north(units)))
                    return failure(TW_ESETTING,
                                   "stream '{}': the region's box and the levels both select "
                                   "elements of dimension '{}'; use one of them",
                                   stream.name, dim);
                if (is_east(units))
                    choice.along[dim] = eastward(values, (*region.box)[0], (*region.box)[1]);
                if (!is_north(units)) continue;
                Integers inside;
                for (std::size_t i = 0; i < values.size(); ++i)
                    if (values[i] >= (*region.box)[2] && values[i] <= (*region.box)[3])
                        inside.push_back(static_cast<std::int64_t>(i));
                choice.along[dim] = inside;
            }
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

/// Makes the chosen longitudes, or their bounds, increase if the region is a box, which may cross
/// the seam.
void Choices::turn_eastward(const StreamTable& stream, const Coordinate& c, const Choice& choice,
                            std::vector<char>& data) const {
    if (c.dims.empty()) return;
    const RegionTable& region = table_.regions.at(stream.region);
    const Coordinate* along = declared_.axis(c.dims.front());
    if (along == nullptr || !is_east(text_of(along->attributes, "units"))) return;
    if (&c != along && text_of(along->attributes, "bounds") != c.name) return;
    const Integers& chosen = choice.along.at(c.dims.front());
    const double west = (*region.box)[0];
    if (c.type == TW_DOUBLE)
        make_monotonic<double>(numbers_of(*along, along->data), chosen, west, data);
    if (c.type == TW_FLOAT)
        make_monotonic<float>(numbers_of(*along, along->data), chosen, west, data);
}

Taken& Choices::take(int serial, const Part& part, const Choice& choice) {
    for (Taken& t : taken_)
        if (t.serial == serial && t.dims == part.dims && t.shape == part.shape &&
            t.choice == choice)
            return t;
    return taken_.emplace_back(Taken{serial, part.dims, part.shape, choice, choose(part, choice)});
}

Status Choices::declare(Ranks& ranks) {
    Status status;
    for (Taken& t : taken_)
        if (t.target == nullptr)
            keep_first(status,
                       ranks.status(history::declare(ranks.session(), t.chosen.part, &t.target)));
    return status;
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
            if (pick.dims.empty()) pick = restricted(variable->pick(), c->dims);
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
