// SPDX-License-Identifier: Apache-2.0
#include "storage/file_sections.hpp"

#include <algorithm>

namespace thalweg::detail {

FileSection make_space(const Definitions& d, const FileMap& map, bool record, std::int64_t& base) {
    FileSection space;
    for (std::size_t i = 0; i < d.variables.size(); ++i) {
        const Variable& v = d.variables[i];
        if (v.record != record) continue;
        VariableSlot place;
        place.variable = i;
        place.offset = map.offset[i];
        place.element = v.element();
        place.bytes = v.elements() * place.element;
        place.padded = map.padded[i];
        place.shape = v.shape;
        place.dims.assign(v.dims.begin() + (v.record ? 1 : 0), v.dims.end());
        if (!map.grain.empty()) place.grain = map.grain[i];
        space.places.push_back(std::move(place));
    }
    std::stable_sort(
        space.places.begin(), space.places.end(),
        [](const VariableSlot& a, const VariableSlot& b) { return a.offset < b.offset; });
    space.places_of.resize(d.variables.size());
    for (std::size_t i = 0; i < space.places.size(); ++i)
        space.places_of[space.places[i].variable] = i;
    // If a file has only one record variable, its records follow each other without padding.
    space.padded = !record || space.places.size() != 1;
    base = space.places.empty() ? 0 : space.places.front().offset;
    for (VariableSlot& p : space.places) {
        p.offset -= base;
        space.bytes = std::max(space.bytes, p.offset + p.padded);
    }
    space.grain = space.largest_grain();
    return space;
}

FileSections make_spaces(const Definitions& definitions, const FileMap& map) {
    FileSections spaces;
    spaces.map = map;
    std::int64_t record_base = 0;
    spaces.fixed = make_space(definitions, map, false, spaces.fixed_base);
    spaces.record = make_space(definitions, map, true, record_base);
    return spaces;
}

}  // namespace thalweg::detail
