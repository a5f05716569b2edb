// SPDX-License-Identifier: Apache-2.0
#include "history/selection/region_picks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>

#include "thalweg/thalweg.h"

namespace thalweg::history {

bool is_place(double longitude, double latitude) {
    return std::abs(latitude) <= 90.001 && std::abs(longitude) <= 1e6;
}

static Centre centre_of(double longitude, double latitude, std::int64_t index) {
    constexpr double degree = std::numbers::pi / 180;
    const double lambda = std::remainder(longitude, 360) * degree, phi = latitude * degree;
    return {{std::cos(phi) * std::cos(lambda), std::cos(phi) * std::sin(lambda), std::sin(phi)},
            index};
}

using Points = std::vector<std::array<double, 2>>;

/// Calls visit(number of the point, centre, square of the chord between them).
template <class Visit>
static void for_chords(const Points& points, const std::vector<Centre>& centres, Visit&& visit) {
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Centre point = centre_of(points[i][0], points[i][1], 0);
        for (const Centre& centre : centres) {
            double square = 0;
            for (std::size_t d = 0; d < 3; ++d)
                square += (point.at[d] - centre.at[d]) * (point.at[d] - centre.at[d]);
            visit(i, centre, square);
        }
    }
}

/// Returns the square of the distance from each point to its nearest centre, or infinity.
static std::vector<double> nearest_squares(const Points& points,
                                           const std::vector<Centre>& centres) {
    std::vector<double> squares(points.size(), std::numeric_limits<double>::infinity());
    for_chords(points, centres, [&](std::size_t i, const Centre&, double square) {
        squares[i] = std::min(squares[i], square);
    });
    return squares;
}

/// Returns for each point the lowest index among the centres that are as near as the nearest centre
/// of all ranks, but for rounding; the largest integer if there is none.
static Integers lowest_nearest(const Points& points, const std::vector<Centre>& centres,
                               const std::vector<double>& squares) {
    Integers found(points.size(), std::numeric_limits<std::int64_t>::max());
    for_chords(points, centres, [&](std::size_t i, const Centre& centre, double square) {
        const double limit = std::sqrt(squares[i]) * (1 + 1e-9) + 1e-12;
        if (square <= limit * limit) found[i] = std::min(found[i], centre.index);
    });
    return found;
}

/// Reads lines of a longitude, a latitude and, in all or none, a name.
static Status read_points(const std::string& path, const std::string& text, RegionTable& region) {
    region.points.clear();
    region.names.clear();
    std::istringstream lines(text);
    std::int64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        std::istringstream words(line.substr(0, line.find('#')));
        double longitude = 0, latitude = 0;
        std::string name, all;
        if (!(words >> name)) continue;
        words.seekg(0);
        if (!(words >> longitude >> latitude) || !is_place(longitude, latitude))
            return failure(TW_ESETTING,
                           "{}:{}: expected a longitude and a latitude in degrees, and a name",
                           path, number);
        while (words >> name) all += (all.empty() ? "" : " ") + name;
        region.points.push_back({longitude, latitude});
        if (!all.empty()) region.names.push_back(all);
        if (!region.names.empty() && region.names.size() != region.points.size())
            return failure(TW_ESETTING, "{}:{}: some points have a name, and some have none", path,
                           number);
    }
    if (region.points.empty()) return failure(TW_ESETTING, "{}: it has no points", path);
    return {};
}

/// Returns names as an array of text that every rank has all of.
static Coordinate names_of_stations(const Names& names) {
    const std::size_t length =
        std::max<std::size_t>(1, std::ranges::max(names, {}, &std::string::size).size());
    std::vector<char> text;
    for (const std::string& name : names) {
        text.insert(text.end(), name.begin(), name.end());
        text.resize(text.size() + length - name.size(), '\0');
    }
    const Integers shape{std::ssize(names), static_cast<std::int64_t>(length)};
    return make_coordinate("station_name",
                           replicated_part({"station", "station_name_length"}, shape), text,
                           {{"long_name", "name of the station"}, {"cf_role", "timeseries_id"}});
}

const RegionPick* RegionPicks::of(const StreamTable& stream, const Field& field) const {
    const std::string owner = with_own_picks_.contains(stream.name) ? stream.name : "";
    const auto found = std::ranges::find_if(picks_, [&](const RegionPick& one) {
        return one.owner == owner && one.region->name == stream.region &&
               one.field->serial == field.serial && one.field->dims == field.dims &&
               one.field->part.dims == field.part.dims && one.centres == declared_.centres(field);
    });
    return found == picks_.end() ? nullptr : &*found;
}

bool RegionPicks::waits(const StreamTable& stream, const Field& field) const {
    const RegionPick* const pick = of(stream, field);
    return pick != nullptr && pick->state == RegionPick::State::waits;
}

bool RegionPicks::any_waits() const {
    return std::ranges::find(picks_, RegionPick::State::waits, &RegionPick::state) != picks_.end();
}

Status RegionPicks::list(const std::vector<ResolvedStream>& resolved) {
    picks_.clear();
    with_own_picks_.clear();
    for (const ResolvedStream& one : resolved) {
        const StreamTable& stream = table_.streams[one.table];
        if (stream.region.empty()) continue;
        RegionTable& region = table_.regions.at(stream.region);
        if (!region.picks()) continue;
        const std::string dim = region.list_file.empty() ? "station" : region.name;
        for (const std::string& name : {table_.time, table_.bounds, table_.bounds_dim})
            if (dim == name || declared_.lengths().count(dim) != 0 ||
                declared_.coordinates().count(dim) != 0)
                return failure(TW_ESETTING,
                               "stream '{}': region '{}' makes a dimension '{}', a name that the "
                               "model or the history uses",
                               stream.name, region.name, dim);
        const auto misses = [&](const StreamField& about) {
            return declared_.fields()[about.declared].missing == Missing::fixed;
        };
        const bool wait = region.list_file.empty() && std::ranges::any_of(one.fields, misses);
        if (wait) with_own_picks_.insert(stream.name);
        for (const StreamField& about : one.fields) {
            const Field& field = declared_.fields()[about.declared];
            if (of(stream, field) != nullptr) continue;
            RegionPick made{picks_.size(), &region, &field, wait ? stream.name : "",
                            declared_.centres(field)};
            made.pick.dim = dim;
            made.state = wait ? RegionPick::State::waits : RegionPick::State::found;
            made.pick.dims = field.horizontal;
            for (const std::string& each : made.pick.dims)
                made.shape.push_back(declared_.lengths().at(each));
            if (made.pick.dims.empty())
                return failure(TW_ESETTING,
                               "stream '{}': region '{}' needs longitudes and latitudes, which "
                               "field '{}' has not, to find the dimensions of the list",
                               stream.name, region.name, field.name);
            picks_.push_back(std::move(made));
        }
    }
    return {};
}

/// @note Collective
static Status read_list(const Ranks& ranks, RegionTable& region) {
    tw_file file = nullptr;
    const char* var = region.list_var.c_str();
    Checks check(ranks);
    check(tw_open(ranks.session(), region.list_file.c_str(), nullptr, &file));
    if (!check.ok()) return check.status;
    tw_type type{};
    int dims = 0;
    std::int64_t n = 0;
    check(tw_inq_var(file, var, &type, &dims, nullptr));
    if (check.ok() && (dims != 1 || is_real(type)))
        check(failure(TW_ESETTING,
                      "{}: '{}' is no list of integers: it has the type {}, and its number of "
                      "dimensions is {}",
                      region.list_file, var, detail::name_of(type), dims));
    if (check.ok()) check(tw_inq_var_dim(file, var, 0, nullptr, &n));
    region.list.resize(n);
    if (check.ok()) check(tw_get(file, var, nullptr, 0, TW_INT64, region.list.data(), n));
    check(tw_close(&file));
    if (check.ok() && n == 0)
        check(failure(TW_ESETTING, "{}: '{}' is empty", region.list_file, var));
    return check.status;
}

/// @note Collective
Status RegionPicks::read_regions() {
    station_names_.clear();
    std::set<std::string> done;
    for (const RegionPick& one : picks_) {
        RegionTable& region = table_.regions.at(one.region->name);
        if (!done.insert(region.name).second) continue;
        Status status;
        if (!region.points_file.empty()) {
            std::string text;
            status = ranks_.read(region.points_file, text);
            if (status.ok()) status = read_points(region.points_file, text, region);
        }
        if (!region.list_file.empty()) status = read_list(ranks_, region);
        if (!status.ok()) {
            status.text = fmt::format("region '{}': {}", region.name, status.text);
            return status;
        }
        if (!region.names.empty())
            station_names_.emplace(region.name, names_of_stations(region.names));
    }
    return {};
}

static Status find_centres(const RegionPick& one, const std::set<std::int64_t>& land,
                           std::vector<Centre>& found) {
    const Field& field = *one.field;
    Choice surface;
    for (const std::string& dim : field.dims)
        if (place_of(dim, one.pick.dims) < 0) surface.along[dim] = {0};
    const Part part = choose(field.part, surface).part;
    std::array<std::vector<double>, 2> degrees;
    for (const int i : {0, 1}) {
        const Coordinate& c = *(i == 0 ? one.centres.longitude : one.centres.latitude);
        if (!find_numbers(c, {}, part, degrees[i]))
            return failure(TW_ESETTING,
                           "region '{}': a rank does not hold '{}' of all elements that it holds "
                           "of field '{}'",
                           one.region->name, c.name, field.name);
    }
    const Integers own = steps_along(part.dims, one.pick.dims, one.shape);
    for_elements(part, [&](std::int64_t i, const Integers& at) {
        const std::int64_t place = dot(at, own);
        if (is_place(degrees[0][i], degrees[1][i]) && !land.contains(place))
            found.push_back(centre_of(degrees[0][i], degrees[1][i], place));
    });
    return {};
}

/// Finds the elements that are nearest to the regions' points among the elements of all ranks.
/// @param lowest  receives the indices of all picks of `land`, one after another
/// @note Collective
Status RegionPicks::find_nearest(const Status& mine, const Land& land, Integers& lowest) {
    std::map<std::size_t, std::vector<Centre>> centres;
    // Squares of distances. They are not negative, so their bits have the same order.
    Integers words;
    const Status found = detail::catch_errors([&]() -> Status {
        for (const auto& [number, missing] : land) {
            const auto& points = picks_[number].region->points;
            std::vector<Centre>& own = centres[number];
            if (points.empty()) continue;
            if (Status s = find_centres(picks_[number], missing, own); !s.ok()) return s;
            for (const double square : nearest_squares(points, own))
                words.push_back(std::bit_cast<std::int64_t>(square));
        }
        return {};
    });
    Status status = ranks_.agree(mine.ok() ? found : mine, 0, {});
    if (!status.ok() || words.empty()) return status;
    if (status = ranks_.reduce(words, detail::Reduce::min); !status.ok()) return status;
    auto square = words.begin();
    for (const auto& [number, own] : centres) {
        const auto& points = picks_[number].region->points;
        std::vector<double> squares;
        for (std::size_t i = 0; i < points.size(); ++i)
            squares.push_back(std::bit_cast<double>(*square++));
        const Integers indices = lowest_nearest(points, own, squares);
        lowest.insert(lowest.end(), indices.begin(), indices.end());
    }
    return ranks_.reduce(lowest, detail::Reduce::min);
}

Status RegionPicks::find() {
    if (picks_.empty()) return {};
    if (Status status = read_regions(); !status.ok()) return status;
    Land all;
    for (const RegionPick& pick : picks_) all[pick.number];
    Status status = find({}, all);
    for (RegionPick& pick : picks_) pick.nearest = pick.pick.at;
    return status;
}

Status RegionPicks::find(const Status& mine, const Land& land) {
    Integers lowest;
    if (Status status = find_nearest(mine, land, lowest); !status.ok()) return status;
    auto next = lowest.begin();
    for (const auto& [number, missing] : land) {
        RegionPick& one = picks_[number];
        const RegionTable& region = *one.region;
        const std::string& name = one.field->name;
        const Integers& lengths = one.shape;
        const Integers dense = dense_steps(lengths);
        const auto end = next + std::ssize(region.points);
        Integers indices(next, end);
        next = end;
        for (const std::int64_t index : region.list) indices.push_back(index - region.base);
        one.pick.at.clear();
        for (const std::int64_t index : indices) {
            if (index == std::numeric_limits<std::int64_t>::max())
                return failure(TW_ESETTING, "region '{}': field '{}' has no valid elements",
                               region.name, name);
            if (index < 0 || index >= volume(lengths))
                return failure(
                    TW_ESETTING,
                    "region '{}': {}: '{}' has the index {}; those of field '{}' are {} to {}",
                    region.name, region.list_file, region.list_var, index + region.base, name,
                    region.base, volume(lengths) - 1 + region.base);
            for (std::size_t d = 0; d < lengths.size(); ++d)
                one.pick.at.push_back(index / dense[d] % lengths[d]);
        }
    }
    return {};
}

Status RegionPicks::skip_land(const Status& mine, const Land& land) {
    if (Status status = find(mine, land); !status.ok()) return status;
    for (const auto& [number, missing] : land) picks_[number].state = RegionPick::State::settled;
    return {};
}

static std::string name_of(const RegionPick& one) {
    return one.region->name + " " + one.field->name + " " + one.owner;
}

RegionPicks::Settled RegionPicks::settled() const {
    Settled found;
    for (const RegionPick& pick : picks_)
        if (pick.state == RegionPick::State::settled)
            found[name_of(pick)] = {pick.nearest, pick.pick.at};
    return found;
}

std::set<const RegionPick*> RegionPicks::restore(
    const Settled& settled, const std::function<bool(const std::string&)>& continues) {
    std::set<const RegionPick*> found;
    for (RegionPick& pick : picks_) {
        const auto kept = settled.find(name_of(pick));
        if (kept == settled.end() || kept->second.first != pick.nearest || !continues(pick.owner))
            continue;
        found.insert(&pick);
        pick.pick.at = kept->second.second;
        pick.state = RegionPick::State::settled;
    }
    return found;
}

const Coordinate* RegionPicks::station_names(const std::string& region) const {
    const auto found = station_names_.find(region);
    return found == station_names_.end() ? nullptr : &found->second;
}

Names RegionPicks::names_beside(const RegionPick& one) const {
    Names names;
    const auto add = [&](const std::string& name) {
        if (place_of(name, names) < 0) names.push_back(name);
    };
    if (one.centres.complete()) {
        add(one.centres.longitude->name);
        add(one.centres.latitude->name);
    }
    for (const std::string& dim : one.pick.dims)
        if (const auto found = declared_.coordinates().find(dim);
            found != declared_.coordinates().end() && is_subset(found->second.dims, one.pick.dims))
            add(dim);
    if (station_names_.count(one.region->name) != 0) add("station_name");
    return names;
}

}  // namespace thalweg::history
