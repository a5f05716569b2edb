// SPDX-License-Identifier: Apache-2.0
#include "history/stream_maps.hpp"

#include <algorithm>
#include <limits>

namespace thalweg::history {

using detail::failure;

/// Returns an empty map, whose serial number the model's decompositions do not have.
static std::shared_ptr<Map> new_map(std::size_t number) {
    auto map = std::make_shared<Map>();
    map->serial = std::numeric_limits<int>::min() / 2 + static_cast<int>(number);
    return map;
}

Status Maps::read() {
    maps_.clear();
    for (const StreamTable& stream : table_.streams) {
        if (stream.reduce.map.empty() || maps_.contains({stream.reduce.map, stream.reduce.zoom}))
            continue;
        const auto map = new_map(maps_.size());
        if (Status s =
                read_map(ranks_, table_.maps.at(stream.reduce.map), stream.reduce.zoom, *map);
            !s.ok())
            return s;
        maps_[{stream.reduce.map, stream.reduce.zoom}] = map;
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
    const DeclaredField& declared = field.declared;
    const bool file = !stream.reduce.map.empty(), known = !declared.horizontal.empty();
    const Map* const given =
        file ? maps_.at({stream.reduce.map, stream.reduce.zoom}).get() : nullptr;
    const std::int64_t sources = file                     ? given->sources
                                 : declared.shape.empty() ? 1
                                                          : declared.shape.back();
    // The last dimensions are horizontal, unless it is known which ones are.
    std::vector<std::string> replaced;
    std::int64_t elements = 1;
    for (std::size_t d = declared.dims.size(); d-- > 0;) {
        const std::string& dim = declared.dims[d];
        if (known ? place_of(dim, declared.horizontal) < 0 : elements >= sources) continue;
        replaced.insert(replaced.begin(), dim);
        elements *= declared.shape[d];
    }
    const bool chosen = std::ranges::any_of(
        replaced, [&](const std::string& dim) { return taken.choice.along.contains(dim); });
    const bool fits =
        !chosen && (file ? elements == sources
                         : replaced.size() == 1 && healpix_level(elements) >= stream.reduce.zoom);
    if (!fits && !known && about.term) return {};
    const Integers shape = lengths_of(replaced, declared.dims, declared.shape);
    const Integers numbered = file ? given->source_shape : Integers{};
    const bool differs = fits && shape.size() == 2 && numbered.size() == 2 &&
                         std::ranges::min(numbered) > 1 && shape != numbered;
    if (!fits || differs)
        return failure(
            TW_ESETTING, "{}:{}: stream '{}': field '{}' has {} elements along '{}': {}",
            table_.name, stream.line_of(file ? "map" : "zoom"), stream.name, declared.name,
            elements, joined_names(replaced),
            chosen ? "a map needs all of them"
            : differs
                ? fmt::format("the source grid of map '{}' is {} x {}, but the field's {} x {}",
                              stream.reduce.map, numbered[0], numbered[1], shape[0], shape[1])
            : file ? fmt::format("map '{}' is for {}", stream.reduce.map, sources)
                   : fmt::format("no HEALPix grid of level {} or finer has as many",
                                 stream.reduce.zoom));
    const auto map = map_of(stream, elements);
    Use use{&taken, map.get(), declared.dims, replaced};
    for (const auto& [other, mapping] : made_)
        if (other == use) made = mapping;
    if (made) return {};
    auto mapping = std::make_shared<Mapping>(map, taken.chosen.part, declared.dims, replaced);
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
