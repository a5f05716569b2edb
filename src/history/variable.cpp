// SPDX-License-Identifier: Apache-2.0
#include "history/variable.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "history/places.hpp"
#include "history/values.hpp"
#include "index/types.hpp"

namespace thalweg::history {

double number_of(tw_type type, const char* data) {
    return with_type(type, [&](auto named) {
        typename decltype(named)::type value;
        std::memcpy(&value, data, sizeof value);
        return static_cast<double>(value);
    });
}

Variable::Variable(const StreamField& about, Field& field, Weights weights,
                   const WindowRules& rules, std::shared_ptr<const Chosen> chosen)
    : about_(about),
      field_(field),
      rules_(rules),
      chosen_(std::move(chosen)),
      attributes_(field.attributes),
      samples_(*this, std::move(weights)) {}

void Variable::set_pick(const Pick& pick, std::vector<std::string> names) {
    pick_ = pick;
    std::string list = text_of(attributes_, "coordinates");
    const std::vector<std::string> listed = split_dims(list.c_str());
    for (const std::string& name : names)
        if (std::find(listed.begin(), listed.end(), name) == listed.end())
            list += (list.empty() ? "" : " ") + name;
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

Value value_of(tw_type type, double number) {
    Value value{};
    with_type(type, [&](auto named) {
        const auto typed = static_cast<typename decltype(named)::type>(number);
        std::memcpy(value.data(), &typed, sizeof typed);
    });
    return value;
}

Value fill_of(tw_type type) {
    if (type == TW_FLOAT || type == TW_DOUBLE) return value_of(type, 1e20);
    Value value{};
    detail::default_fill(type, value.data());
    return value;
}

}  // namespace thalweg::history
