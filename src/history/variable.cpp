// SPDX-License-Identifier: Apache-2.0
#include "history/variable.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "history/places.hpp"
#include "index/types.hpp"

namespace thalweg::history {

namespace {

template <class T>
Value typed_value(double number) {
    const T typed = static_cast<T>(number);
    Value value{};
    std::memcpy(value.data(), &typed, sizeof typed);
    return value;
}

template <class T>
double number_at(const char* data) {
    T value;
    std::memcpy(&value, data, sizeof value);
    return static_cast<double>(value);
}

}  // namespace

double number_of(tw_type type, const char* data) {
    switch (type) {
        case TW_BYTE: return number_at<std::int8_t>(data);
        case TW_UBYTE: return number_at<std::uint8_t>(data);
        case TW_SHORT: return number_at<std::int16_t>(data);
        case TW_USHORT: return number_at<std::uint16_t>(data);
        case TW_INT: return number_at<std::int32_t>(data);
        case TW_UINT: return number_at<std::uint32_t>(data);
        case TW_INT64: return number_at<std::int64_t>(data);
        case TW_UINT64: return number_at<std::uint64_t>(data);
        case TW_FLOAT: return number_at<float>(data);
        default: return number_at<double>(data);
    }
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
    switch (type) {
        case TW_BYTE: return typed_value<std::int8_t>(number);
        case TW_UBYTE: return typed_value<std::uint8_t>(number);
        case TW_SHORT: return typed_value<std::int16_t>(number);
        case TW_USHORT: return typed_value<std::uint16_t>(number);
        case TW_INT: return typed_value<std::int32_t>(number);
        case TW_UINT: return typed_value<std::uint32_t>(number);
        case TW_INT64: return typed_value<std::int64_t>(number);
        case TW_UINT64: return typed_value<std::uint64_t>(number);
        case TW_FLOAT: return typed_value<float>(number);
        default: return typed_value<double>(number);
    }
}

Value fill_of(tw_type type) {
    if (type == TW_FLOAT || type == TW_DOUBLE) return value_of(type, 1e20);
    Value value{};
    detail::default_fill(type, value.data());
    return value;
}

}  // namespace thalweg::history
