// SPDX-License-Identifier: Apache-2.0
#include "history/files/variable.hpp"

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

Status match_weights(const Chosen& chosen, Weights& weights) {
    if (same_part(chosen.part, weights.chosen->part) ||
        find_places(chosen.part, weights.chosen->part, weights.places))
        return {};
    return detail::failure(TW_ESETTING, "a rank does not hold the same elements of the weight '{}'",
                           weights.field->declared.name);
}

}  // namespace thalweg::history
