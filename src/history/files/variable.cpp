// SPDX-License-Identifier: Apache-2.0
#include "history/files/variable.hpp"

#include <algorithm>

namespace thalweg::history {

void Variable::set_pick(const Pick& pick, const std::vector<std::string>& names) {
    pick_ = pick;
    std::string list = text_of(attributes_, "coordinates");
    const std::vector<std::string> listed = split_dims(list.c_str());
    for (const std::string& name : names)
        if (place_of(name, listed) < 0) list += (list.empty() ? "" : " ") + name;
    if (!list.empty()) set_attribute(attributes_, {"coordinates", list});
    std::erase_if(attributes_,
                  [](const Attribute& a) { return a.name == "mesh" || a.name == "location"; });
}

void Variable::set_reduced(const std::map<std::string, Coordinate>& declared,
                           std::vector<std::string> units) {
    weight_units_ = std::move(units);
    const std::vector<std::string> dims = this->dims();
    std::string kept;
    for (const std::string& name : split_dims(text_of(attributes_, "coordinates").c_str())) {
        const auto found = declared.find(name);
        if (found != declared.end() &&
            std::ranges::any_of(found->second.dims, [&](const auto& dim) {
                return place_of(dim, dims) < 0 ||
                       (mapping() != nullptr && place_of(dim, mapping()->replaced()) >= 0);
            }))
            continue;
        kept += (kept.empty() ? "" : " ") + name;
    }
    std::erase_if(attributes_, [](const Attribute& a) {
        return a.name == "coordinates" || a.name == "mesh" || a.name == "location" ||
               a.name == "cell_measures" || a.name == "grid_mapping" ||
               a.name == "ancillary_variables";
    });
    if (!kept.empty()) set_attribute(attributes_, {"coordinates", kept});
    if (mapping() == nullptr) return;
    for (Attribute attribute : mapping()->map().attributes) {
        if (attribute.name == "coordinates" && !kept.empty())
            attribute.value = kept + " " + std::get<std::string>(attribute.value);
        set_attribute(attributes_, std::move(attribute));
    }
}

std::vector<std::string> Variable::dims() const {
    const std::vector<std::string>& own = field().declared.dims;
    if (mapping() != nullptr) return mapping()->dims();
    return sampled_.reduction
               ? reduced_dims(own, sampled_.about.reduced, sampled_.reduction->region_dim())
               : picked_dims(own, pick_);
}

}  // namespace thalweg::history
