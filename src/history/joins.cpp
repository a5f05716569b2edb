// SPDX-License-Identifier: Apache-2.0
#include "history/joins.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/hash.hpp"
#include "base/text/nearest.hpp"

namespace thalweg::history {

static constexpr std::int64_t most_regions = 65535;

static bool holds_whole(const Part& part, const Names& dims) {
    for (int d = 0; d < part.nd() && !part.replicated; ++d) {
        if (place_of(part.dims[d], dims) < 0) continue;
        if (part.listed > 0 && part.lists(d)) return false;
        for (int b = 0; b < part.boxes; ++b)
            if (part.count[b * part.nd() + d] != part.shape[d]) return false;
    }
    return true;
}

/// Returns a dense part without some dimensions, along which each rank holds all elements.
static Part without(const Part& part, const Names& dims) {
    Part result;
    result.replicated = part.replicated;
    result.boxes = part.boxes;
    result.listed = part.listed;
    result.indices = part.indices;
    for (int d = 0; d < part.nd(); ++d) {
        if (place_of(part.dims[d], dims) >= 0) continue;
        result.first_listed += part.listed > 0 && d < part.first_listed;
        result.dims.push_back(part.dims[d]);
        result.shape.push_back(part.shape[d]);
    }
    for (int b = 0; b < part.boxes; ++b)
        for (int d = 0; d < part.nd(); ++d) {
            if (place_of(part.dims[d], dims) >= 0) continue;
            result.start.push_back(part.start[b * part.nd() + d]);
            result.count.push_back(part.count[b * part.nd() + d]);
        }
    return result;
}

/// Sorts elements into groups. @param group  number of the group of each element; -1: it has none
static void sort_groups(const Integers& group, std::int64_t groups, Grouping& made) {
    // Elements without a group come first.
    const Lists lists(groups + 1, std::ssize(group), [&](auto i) { return group[i] + 1; });
    for (std::int64_t g = 1; g <= groups + 1; ++g)
        made.begin.push_back(lists.begin[g] - lists.begin[1]);
    if (!std::ranges::is_sorted(group) || lists.begin[1] > 0)
        made.order.assign(lists.items.begin() + lists.begin[1], lists.items.end());
}

void Groupings::check(Problems& problems) const {
    for (const StreamTable& stream : table_.streams)
        for (const auto& [key, name] :
             {std::pair{"by", &stream.reduce.by}, std::pair{"area", &stream.reduce.area}}) {
            if (name->empty()) continue;
            Names names;
            for (const auto& [each, coordinate] : declared_.coordinates()) names.push_back(each);
            const auto found = declared_.coordinates().find(*name);
            std::string why;
            if (found == declared_.coordinates().end())
                why = "the model declares no coordinate '" + *name + "'" +
                      detail::did_you_mean(*name, names);
            else if (found->second.type == TW_CHAR)
                why = "coordinate '" + *name + "' is text";
            else if (key == std::string_view("by") && is_real(found->second.type))
                why = "coordinate '" + *name + "' has no integers";
            else if (key == std::string_view("by") && declared_.lengths().contains(*name))
                why = "'" + *name + "' is a dimension of the model";
            if (!why.empty())
                problems.push_back({stream.line_of(key),
                                    fmt::format("stream '{}': {}: {}", stream.name, key, why)});
        }
}

bool Groupings::joins(const StreamTable& stream, const StreamField& about) const {
    const Field& field = declared_.fields()[about.declared];
    // A single value belongs to all ranks, as a decomposition needs a dimension.
    if (!stream.reduce.by.empty() || about.reduced.size() == field.dims.size()) return true;
    Choice choice;
    // An error is reported when the variable is made.
    (void)choices_.find(stream, field.dims, {}, choice);
    return !holds_whole(choose(field.part, choice).part, about.reduced);
}

/// Finds hashes of the coordinates that reductions use, which do not depend on the decomposition.
/// @note Collective
Status Groupings::find_hashes(std::map<std::string, std::int64_t>& hashes) {
    for (const StreamTable& stream : table_.streams)
        for (const std::string& name : {stream.reduce.by, stream.reduce.area})
            if (!name.empty()) hashes[name] = 0;
    Integers sums;
    for (const auto& [name, ignored] : hashes) {
        const Coordinate& c = declared_.coordinates().at(name);
        std::uint64_t sum = 0;
        const Integers steps =
            steps_along(c.part.dims, c.dims, lengths_of(c.dims, c.part.dims, c.part.shape));
        if (!c.part.replicated || ranks_.rank() == 0)
            for_elements(c.part, [&](std::int64_t i, const Integers& at) {
                const std::array place{dot(at, steps)};
                sum +=
                    detail::hash_of({c.data.data() + i * c.size, static_cast<std::size_t>(c.size)},
                                    detail::hash_of_words(place, 0));
            });
        sums.push_back(static_cast<std::int64_t>(sum));
    }
    Status status = ranks_.reduce(sums, detail::Reduce::sum);
    auto sum = sums.begin();
    for (auto& [name, hash] : hashes) hash = *sum++;
    return status;
}

Status Groupings::find(const std::vector<ResolvedStream>& resolved,
                       std::map<std::string, std::int64_t>& hashes) {
    if (Status status = find_hashes(hashes); !status.ok()) return status;
    Integers words;
    Status mine;
    for (const ResolvedStream& one : resolved) {
        const StreamTable& stream = table_.streams[one.table];
        if (!stream.reduce.op) continue;
        for (const StreamField& about : one.fields) words.push_back(joins(stream, about) ? 1 : 0);
        if (!stream.reduce.by.empty()) regions_[stream.reduce.by];
    }
    if (words.empty()) return {};
    const std::size_t flags = words.size(), each = most_regions / 64 + 1;
    for (const auto& [name, ignored] : regions_) {
        const Coordinate& c = declared_.coordinates().at(name);
        words.resize(words.size() + each);
        for (std::int64_t i = 0; i < std::ssize(c.data) / c.size; ++i) {
            const double number = number_of(c.type, c.data.data() + i * c.size);
            if (number <= 0 || number == number_of(c.type, fill_of(c.type))) continue;
            if (number > most_regions) {
                keep_first(mine, failure(TW_ESETTING,
                                         "by: coordinate '{}' has the number {}: regions have "
                                         "numbers from 1 to {}",
                                         name, number, most_regions));
                continue;
            }
            const auto region = static_cast<std::size_t>(number);
            words[words.size() - each + region / 64] |= std::int64_t{1} << region % 64;
        }
    }
    if (Status status = ranks_.agree(mine, 0, words); !status.ok()) return status;
    auto flag = words.begin();
    for (const ResolvedStream& one : resolved) {
        const StreamTable& stream = table_.streams[one.table];
        for (const StreamField& about : one.fields)
            if (stream.reduce.op) joins_[{stream.name, about.name}] = *flag++ != 0;
    }
    auto word = words.begin() + static_cast<std::ptrdiff_t>(flags);
    for (auto& [name, c] : regions_) {
        std::vector<std::int32_t> numbers;
        for (std::int32_t n = 1; n <= most_regions; ++n)
            if ((word[n / 64] >> n % 64 & 1) != 0) numbers.push_back(n);
        word += static_cast<std::ptrdiff_t>(each);
        if (numbers.empty())
            return failure(TW_ESETTING, "by: coordinate '{}' has no number above 0", name);
        c = make_coordinate(name, replicated_part({name}, {std::ssize(numbers)}), numbers,
                            declared_.coordinates().at(name).attributes);
        erase_attributes(c.attributes, "coordinates _FillValue missing_value");
    }
    return {};
}

const Coordinate* Groupings::numbers(const StreamTable& stream) const {
    const auto found = regions_.find(stream.reduce.by);
    return found == regions_.end() ? nullptr : &found->second;
}

Status Groupings::values_of(const StreamTable& stream, const std::string& name, const Part& part,
                            std::vector<double>& values) const {
    const Coordinate& c = declared_.coordinates().at(name);
    Choice choice;
    if (Status s = choices_.find(stream, c.part.dims, {}, choice); !s.ok()) return s;
    const bool has_dims = is_subset(c.part.dims, part.dims);
    if (!has_dims || !find_numbers(c, choice, part, values))
        return failure(TW_ESETTING, "stream '{}': {}", stream.name,
                       has_dims ? "a rank does not hold the same elements of '" + name + "'"
                                : "'" + name + "' has dimensions that a field of it lacks");
    const double fill = number_of(c.type, fill_of(c.type));
    for (double& value : values) {
        if (value == fill || std::isnan(value)) value = 0;
        if (value < 0 && name == stream.reduce.area)
            return failure(TW_ESETTING, "stream '{}': area: '{}' has the value {}, below 0",
                           stream.name, name, value);
    }
    return {};
}

Status Groupings::make(const StreamTable& stream, const StreamField& about, const Field& field,
                       const Taken& taken, std::shared_ptr<const Grouping>& made) {
    made = made_[{&stream, &taken, about.reduced}];
    if (made) return {};
    Grouping result;
    const Part& part = taken.part;
    result.joins_ranks = joins_.at({stream.name, about.name});
    const std::string& by = stream.reduce.by;
    result.region_dim = by;
    Integers group;
    if (result.joins_ranks) {
        const Names dims = reduced_dims(field.dims, about.reduced, by);
        Integers shape;
        for (const std::string& dim : dims)
            shape.push_back(dim == by ? regions_.at(by).part.shape[0]
                                      : part.shape[place_of(dim, part.dims)]);
        result.results = &choices_.take(0, replicated_part(dims, shape), {});
        std::vector<double> numbers, regions;
        if (!by.empty()) {
            for (const std::string& dim : declared_.coordinates().at(by).dims)
                if (place_of(dim, about.reduced) < 0)
                    return failure(TW_ESETTING,
                                   "stream '{}': by: '{}' has the dimension '{}', over which field "
                                   "'{}' is not reduced",
                                   stream.name, by, dim, field.name);
            if (Status s = values_of(stream, by, part, numbers); !s.ok()) return s;
            regions = numbers_of(regions_.at(by));
        }
        const Integers steps = steps_along(part.dims, dims, shape);
        const std::int64_t step = by.empty() ? 0 : steps_along({by}, dims, shape).front();
        for_elements(part, [&](std::int64_t i, const Integers& at) {
            const bool is_in = by.empty() || numbers[i] > 0;
            const auto region =
                by.empty() ? 0 : std::ranges::lower_bound(regions, numbers[i]) - regions.begin();
            group.push_back(is_in ? dot(at, steps) + region * step : -1);
        });
        // Every rank has all elements of a replicated field, and only one of them counts these.
        if (part.replicated && ranks_.rank() > 0) std::ranges::fill(group, -1);
    } else {
        // No other decomposition has these elements, so it needs a number of its own.
        const int serial = std::numeric_limits<int>::min() + static_cast<int>(made_.size());
        result.results = &choices_.take(serial, without(part, about.reduced), {});
        if (!find_places(part, result.results->part, group))
            return failure(TW_EINTERNAL, "stream '{}': a group is not there", stream.name);
    }
    sort_groups(group, result.results->elements, result);
    if (!stream.reduce.area.empty()) {
        std::vector<double> weights;
        if (Status s = values_of(stream, stream.reduce.area, part, weights); !s.ok()) return s;
        for (std::int64_t i = 0; i < result.begin.back(); ++i)
            result.weights.push_back(weights[result.order.empty() ? i : result.order[i]]);
    }
    made = made_[{&stream, &taken, about.reduced}] =
        std::make_shared<const Grouping>(std::move(result));
    return {};
}

/// Returns an empty map, whose serial number the model's decompositions do not have.
static std::shared_ptr<Map> new_map(std::size_t number) {
    auto map = std::make_shared<Map>();
    map->serial = std::numeric_limits<int>::min() / 2 + static_cast<int>(number);
    return map;
}

Status Maps::read() {
    maps_.clear();
    for (const StreamTable& stream : table_.streams) {
        const Key key{stream.reduce.map, stream.reduce.zoom};
        if (key.first.empty() || maps_.contains(key)) continue;
        const auto map = new_map(maps_.size());
        if (Status s = read_map(ranks_, table_.maps.at(key.first), key.second, *map); !s.ok())
            return s;
        maps_[key] = map;
    }
    return {};
}

/// Returns the map of a stream, and of a pyramid without a file the one from this number of
/// elements.
std::shared_ptr<const Map> Maps::map_of(const StreamTable& stream, std::int64_t sources) {
    // The names of maps without a file: the number of elements and a slash.
    const std::string name =
        stream.reduce.map.empty() ? std::to_string(sources) + "/" : stream.reduce.map;
    auto& found = maps_[{name, stream.reduce.zoom}];
    if (found) return found;
    const auto map = new_map(maps_.size());
    map->sources = sources;
    const int levels = healpix_level(sources) - stream.reduce.zoom;
    const std::int64_t rows = sources >> 2 * levels, size = ranks_.size();
    const std::int64_t children = std::int64_t{1} << 2 * levels;
    map->first = rows * ranks_.rank() / size * children;
    const std::int64_t end = rows * (ranks_.rank() + 1) / size * children;
    std::vector<MapLink> links;
    for (std::int64_t i = map->first; i < end; ++i) links.push_back({i, i, 1});
    sort_links(links, end - map->first, *map);
    coarsen(*map, levels);
    describe_healpix(*map, stream.reduce.zoom);
    return found = map;
}

Status Maps::make(const StreamTable& stream, const StreamField& about, const Field& field,
                  const Taken& taken, std::shared_ptr<const Mapping>& made) {
    const bool file = !stream.reduce.map.empty(), known = !field.horizontal.empty();
    const Map* const given =
        file ? maps_.at({stream.reduce.map, stream.reduce.zoom}).get() : nullptr;
    const std::int64_t sources = file                  ? given->sources
                                 : field.shape.empty() ? 1
                                                       : field.shape.back();
    // The last dimensions are horizontal, unless it is known which ones are.
    Names replaced;
    std::int64_t elements = 1;
    for (std::size_t d = field.dims.size(); d-- > 0;) {
        const std::string& dim = field.dims[d];
        if (known ? place_of(dim, field.horizontal) < 0 : elements >= sources) continue;
        replaced.insert(replaced.begin(), dim);
        elements *= field.shape[d];
    }
    const bool chosen = std::ranges::any_of(
        replaced, [&](const std::string& dim) { return taken.choice.along.contains(dim); });
    const bool fits =
        !chosen && (file ? elements == sources
                         : replaced.size() == 1 && healpix_level(elements) >= stream.reduce.zoom);
    if (!fits && !known && about.term) return {};
    const Integers shape = lengths_of(replaced, field.dims, field.shape);
    const Integers numbered = file ? given->source_shape : Integers{};
    const bool differs = fits && shape.size() == 2 && numbered.size() == 2 &&
                         std::ranges::min(numbered) > 1 && shape != numbered;
    if (!fits || differs)
        return failure(
            TW_ESETTING, "{}:{}: stream '{}': field '{}' has {} elements along '{}': {}",
            table_.name, stream.line_of(file ? "map" : "zoom"), stream.name, field.name, elements,
            joined_names(replaced),
            chosen ? "a map needs all of them"
            : differs
                ? fmt::format("the source grid of map '{}' is {} x {}, but the field's {} x {}",
                              stream.reduce.map, numbered[0], numbered[1], shape[0], shape[1])
            : file ? fmt::format("map '{}' is for {}", stream.reduce.map, sources)
                   : fmt::format("no HEALPix grid of level {} or finer has as many",
                                 stream.reduce.zoom));
    const auto map = map_of(stream, elements);
    Use use{&taken, map.get(), field.dims, replaced};
    for (const auto& [other, mapping] : made_)
        if (other == use) made = mapping;
    if (made) return {};
    auto mapping = std::make_shared<Mapping>(map, taken.part, field.dims, replaced);
    mapping->set_results(
        choices_.take(map->serial, target_part(*map, mapping->dims(), mapping->shape()), {}));
    made_.emplace_back(std::move(use), mapping);
    made = std::move(mapping);
    return {};
}

Status Maps::connect() {
    for (const auto& [use, mapping] : made_)
        if (Status s = mapping->connect(ranks_); !s.ok()) return s;
    return {};
}

}  // namespace thalweg::history
