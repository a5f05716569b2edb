// SPDX-License-Identifier: Apache-2.0
#include "history/files/groupings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/hash.hpp"
#include "base/text/nearest.hpp"

namespace thalweg::history {

using detail::failure;

/// Largest number of a region.
static constexpr std::int64_t most_regions = 65535;

void Groupings::check(std::vector<Problem>& problems) const {
    for (const StreamTable& stream : table_.streams)
        for (const auto& [key, name] :
             {std::pair{"by", &stream.reduce.by}, std::pair{"area", &stream.reduce.area}}) {
            if (name->empty()) continue;
            std::vector<std::string> names;
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
    if (!stream.reduce.by.empty() || about.reduced.size() == field.declared.dims.size())
        return true;
    Choice choice;
    // An error is reported when the variable is made.
    (void)choices_.find(stream, field.declared.dims, {}, choice);
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
    Status status = sums.empty() ? Status{} : ranks_.combine({}, sums);
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
        c.name = name;
        c.type = TW_INT;
        c.size = sizeof(std::int32_t);
        c.dims = {name};
        c.attributes = declared_.coordinates().at(name).attributes;
        std::erase_if(c.attributes, [](const Attribute& a) {
            return a.name == "coordinates" || a.name == "_FillValue" || a.name == "missing_value";
        });
        c.part = replicated_part(c.dims, {std::ssize(numbers)});
        c.data.resize(numbers.size() * sizeof numbers[0]);
        std::memcpy(c.data.data(), numbers.data(), c.data.size());
    }
    return {};
}

const Coordinate* Groupings::numbers(const StreamTable& stream) const {
    const auto found = regions_.find(stream.reduce.by);
    return found == regions_.end() ? nullptr : &found->second;
}

/// Finds the values that a coordinate has for the elements of a variable.
Status Groupings::values_of(const StreamTable& stream, const std::string& name,
                            const Chosen& chosen, std::vector<double>& values) const {
    const Coordinate& c = declared_.coordinates().at(name);
    Choice choice;
    if (Status s = choices_.find(stream, c.part.dims, {}, choice); !s.ok()) return s;
    const bool has_dims = std::ranges::all_of(
        c.part.dims, [&](const auto& dim) { return place_of(dim, chosen.part.dims) >= 0; });
    if (!has_dims || !find_numbers(c, choice, chosen.part, values))
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
    const Part& part = taken.chosen.part;
    result.joins_ranks = joins_.at({stream.name, about.name});
    const std::string& by = stream.reduce.by;
    result.region_dim = by;
    Integers group;
    if (result.joins_ranks) {
        const std::vector<std::string> dims = reduced_dims(field.declared.dims, about.reduced, by);
        Integers shape;
        for (const std::string& dim : dims)
            shape.push_back(dim == by ? regions_.at(by).part.shape[0]
                                      : part.shape[place_of(dim, part.dims)]);
        result.results = &choices_.take(0, replicated_part(dims, shape), {});
        std::vector<double> numbers;
        Integers regions;
        if (!by.empty()) {
            for (const std::string& dim : declared_.coordinates().at(by).dims)
                if (place_of(dim, about.reduced) < 0)
                    return failure(TW_ESETTING,
                                   "stream '{}': by: '{}' has the dimension '{}', over which field "
                                   "'{}' is not reduced",
                                   stream.name, by, dim, field.declared.name);
            if (Status s = values_of(stream, by, taken.chosen, numbers); !s.ok()) return s;
            regions.assign(most_regions + 1, -1);
            const std::vector<char>& data = regions_.at(by).data;
            for (std::int64_t r = 0; r < regions_.at(by).part.shape[0]; ++r)
                regions[static_cast<std::int64_t>(number_of(TW_INT, data.data() + r * 4))] = r;
        }
        const Integers steps = steps_along(part.dims, dims, shape);
        const std::int64_t step = by.empty() ? 0 : steps_along({by}, dims, shape).front();
        for_elements(part, [&](std::int64_t i, const Integers& at) {
            const std::int64_t region = by.empty() ? 0
                                        : numbers[i] <= 0
                                            ? -1
                                            : regions[static_cast<std::int64_t>(numbers[i])];
            group.push_back(region < 0 ? -1 : dot(at, steps) + region * step);
        });
        // Every rank has all elements of a replicated field, and only one of them counts these.
        if (part.replicated && ranks_.rank() > 0) std::ranges::fill(group, -1);
    } else {
        // No other decomposition has these elements, so it needs a number of its own.
        const int serial = std::numeric_limits<int>::min() + static_cast<int>(made_.size());
        result.results = &choices_.take(serial, without(part, about.reduced), {});
        if (!find_places(part, result.results->chosen.part, group))
            return failure(TW_EINTERNAL, "stream '{}': a group is not there", stream.name);
    }
    sort_groups(group, result.results->chosen.elements, result);
    if (!stream.reduce.area.empty()) {
        std::vector<double> weights;
        if (Status s = values_of(stream, stream.reduce.area, taken.chosen, weights); !s.ok())
            return s;
        for (std::int64_t i = 0; i < result.begin.back(); ++i)
            result.weights.push_back(weights[result.order.empty() ? i : result.order[i]]);
    }
    made = made_[{&stream, &taken, about.reduced}] =
        std::make_shared<const Grouping>(std::move(result));
    return {};
}

}  // namespace thalweg::history
