// SPDX-License-Identifier: Apache-2.0
#include "history/selection/declarations.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.hpp"
#include "history/selection/ranks.hpp"
#include "history/selection/step_values.hpp"
#include "index/types.hpp"

namespace thalweg::history {

static bool is_degree(const std::string& units, const char* word, const char* letter) {
    return units.starts_with("degree") &&
           (units.find(word) != std::string::npos || units.find(letter) != std::string::npos);
}
bool is_east(const std::string& units) { return is_degree(units, "east", "_E"); }
bool is_north(const std::string& units) { return is_degree(units, "north", "_N"); }

/// Finds the index of an attribute's value among allowed words; 0 if there is no attribute.
static Status take_word(const Attributes& attributes, std::string_view name,
                        std::span<const std::string_view> words, std::size_t& place) {
    const auto found = std::ranges::find(attributes, name, &Attribute::name);
    place = 0;
    if (found == attributes.end()) return {};
    const auto* const text = std::get_if<std::string>(&found->value);
    const std::string given = text == nullptr ? "a number" : "'" + *text + "'";
    while (place < words.size() && given != fmt::format("'{}'", words[place])) ++place;
    if (place < words.size()) return {};
    return failure(TW_EARG, "{} is {}; it must be one of: {}", name, given,
                   detail::joined(words, ", "));
}

static Status take_special(Attributes& attributes, DeclaredField& field) {
    constexpr std::array<std::string_view, 3> missing{"none", "fixed", "varying"};
    constexpr std::array<std::string_view, 2> kinds{"intensive", "flux"};
    std::size_t place = 0, ignored = 0;
    Status status = take_word(attributes, "missing", missing, place);
    keep_first(status, take_word(attributes, "kind", kinds, ignored));
    field.missing = std::array{Missing::none, Missing::fixed, Missing::varying}[place % 3];
    field.missing_value = fill_of(field.type);
    for (const Attribute& attribute : attributes)
        if (attribute.name == "missing_value") {
            if (const auto* numbers = std::get_if<std::vector<double>>(&attribute.value))
                field.missing_value = value_of(field.type, numbers->front());
            else
                keep_first(status, failure(TW_EARG, "missing_value is not a number"));
        }
    erase_attributes(attributes, "missing missing_value kind");
    return status;
}

Status Declarations::find_part(const Declaration& declaration, std::int64_t n, Part& part) const {
    if (ended_) return failure(TW_ESTATE, "tw_history_ready has been called");
    if (declaration.name == nullptr || *declaration.name == '\0')
        return failure(TW_EARG, "the name is missing");
    if (!detail::valid_type(declaration.type))
        return failure(TW_ETYPE, "{}", detail::no_type(declaration.type));
    const std::string name = declaration.name;
    const bool field = std::ranges::any_of(fields_, [&](const Field& f) { return f.name == name; });
    if (field || coordinates_.count(name) != 0)
        return failure(TW_EEXISTS, "the name has been declared before");
    const Names dims = split_dims(declaration.dims);
    if (declaration.decomposition != nullptr) {
        if (Status status = part_of(declaration.decomposition, part); !status.ok()) return status;
        if (!part.dims.empty() && part.dims.front() == "*" && part.nd() == std::ssize(dims))
            part.dims = dims;
        if (!std::ranges::is_permutation(dims, part.dims))
            return failure(TW_ESHAPE, "its dimensions are ({}), those of the decomposition ({})",
                           joined_names(dims), joined_names(part.dims));
    } else {
        Integers shape;
        std::int64_t known = 1;
        int unknown = -1;
        for (const std::string& dim : dims) {
            const auto found = lengths_.find(dim);
            shape.push_back(found == lengths_.end() ? 1 : found->second);
            known *= shape.back();
            if (found != lengths_.end()) continue;
            if (unknown >= 0 || n < 0)
                return failure(TW_ENOTFOUND,
                               "dimension '{}' is not known: declare its coordinate, or a "
                               "decomposition with it, before",
                               dim);
            unknown = static_cast<int>(shape.size()) - 1;
        }
        if (unknown >= 0 && known > 0) shape[unknown] = n / known;
        part = replicated_part(dims, shape);
    }
    for (int d = 0; d < part.nd(); ++d)
        if (const auto found = lengths_.find(part.dims[d]);
            found != lengths_.end() && found->second != part.shape[d])
            return failure(TW_ESHAPE, "dimension '{}' has length {}, but {} elsewhere",
                           part.dims[d], part.shape[d], found->second);
    return {};
}

Status Declarations::add_coordinate(const Declaration& declaration, Part part,
                                    std::span<const SentBox> boxes) {
    Coordinate c;
    c.name = declaration.name;
    c.type = declaration.type;
    c.dims = split_dims(declaration.dims);
    c.size = detail::size_of(c.type);
    if (Status status = parse_attributes(declaration.attributes, c.attributes); !status.ok())
        return status;
    for (int d = 0; d < part.nd(); ++d) lengths_[part.dims[d]] = part.shape[d];
    Chosen all = choose(part, {});
    c.data.resize(all.elements * c.size);
    for (const SentBox& box : boxes) copy_elements(all, box, c.size, c.data.data());
    c.part = std::move(all.part);
    c.serial = declaration.serial;
    const std::string name = c.name;
    coordinates_.emplace(name, std::move(c));
    return {};
}

Status Declarations::add_field(const Declaration& declaration, Part part, Field*& field) {
    Field made;
    made.name = declaration.name;
    made.type = declaration.type;
    made.dims = split_dims(declaration.dims);
    if (declaration.type == TW_CHAR) return failure(TW_ETYPE, "a field cannot be text");
    Status status = parse_attributes(declaration.attributes, made.attributes);
    if (status.ok()) status = take_special(made.attributes, made);
    if (!status.ok()) return status;
    for (int d = 0; d < part.nd(); ++d) lengths_[part.dims[d]] = part.shape[d];
    for (const std::string& dim : made.dims) made.shape.push_back(lengths_.at(dim));
    made.sent_boxes.resize(std::max(part.boxes, 1));
    made.part = std::move(part);
    made.serial = declaration.serial;
    fields_.push_back(std::move(made));
    field = &fields_.back();
    return {};
}

/// Returns the attributes of an expression. They include the units only if they are known.
static Attributes attributes_of(const Expression& expression, const Field& first,
                                const Field& like) {
    if (!expression.condition().empty()) return first.attributes;
    Attributes attributes{{"long_name", expression.text()}};
    if (expression.is_condition()) attributes.push_back({"units", "1"});
    for (const char* name : {"coordinates", "grid_mapping", "cell_measures", "mesh", "location"})
        if (const std::string text = text_of(like.attributes, name); !text.empty())
            attributes.push_back({name, text});
    return attributes;
}

static Attributes level_attributes(const Field& field) {
    Attributes attributes{{"axis", "Z"}};
    for (const char* name : {"standard_name", "long_name", "units", "positive"})
        if (const std::string text = text_of(field.attributes, name); !text.empty())
            attributes.push_back({name, text});
    const std::string is = text_of(attributes, "standard_name");
    const auto says = [&](const char* word) { return is.find(word) != std::string::npos; };
    const bool down = says("pressure") || says("depth"), up = says("height") || says("altitude");
    if ((down || up) && text_of(attributes, "positive").empty())
        attributes.push_back({"positive", down ? "down" : "up"});
    return attributes;
}

/// Completes a field that is interpolated to levels, and adds their coordinate.
Status Declarations::add_levels(const Computation& how, Field& made) {
    const Field &from = fields_[how.inputs[0]], &coordinate = fields_[how.inputs[1]];
    const Levels& levels = *how.levels;
    const auto refuse = [](const std::string& text) { return failure(TW_ESETTING, "{}", text); };
    if (!replace_dim(made.part, levels.dim, levels.name, levels.size()))
        return refuse(fmt::format("no rank may hold only a part of dimension '{}' of '{}'",
                                  levels.dim, from.name));
    // Coordinates along the levels of the model do not describe those of the file.
    const auto along = [&](const std::string& name) {
        const auto found = coordinates_.find(name);
        return found != coordinates_.end() && place_of(levels.dim, found->second.dims) >= 0;
    };
    made.attributes = from.attributes;
    erase_attributes(made.attributes, "coordinates cell_measures");
    Names names = words_of(from.attributes, "coordinates");
    std::erase_if(names, along);
    if (!names.empty()) set_attribute(made.attributes, {"coordinates", joined_names(names)});
    const std::string measures = text_of(from.attributes, "cell_measures");
    if (!measures.empty() && std::ranges::none_of(split_dims(measures.c_str()), along))
        set_attribute(made.attributes, {"cell_measures", measures});
    if (place_of(levels.name, levels_) >= 0) return {};
    const auto add = [&](const std::string& name, const Names& dims,
                         const std::vector<double>& values, Attributes attributes) {
        const Integers shape{levels.size(), 2};
        const Part part = replicated_part(dims, {shape.begin(), shape.begin() + std::ssize(dims)});
        if (!coordinates_.emplace(name, make_coordinate(name, part, values, attributes)).second)
            return refuse(fmt::format("there is another '{}': choose another 'name'", name));
        levels_.push_back(name);
        return Status{};
    };
    Attributes attributes = level_attributes(coordinate);
    lengths_[levels.name] = levels.size();
    if (!levels.conserves()) return add(levels.name, {levels.name}, levels.values, attributes);
    std::vector<double> middles, bounds;
    for (std::int64_t i = 0; i < levels.size(); ++i) {
        bounds.insert(bounds.end(), {levels.values[i], levels.values[i + 1]});
        middles.push_back((levels.values[i] + levels.values[i + 1]) / 2);
    }
    attributes.push_back({"bounds", levels.name + "_bnds"});
    Status status = add(levels.name, {levels.name}, middles, attributes);
    return status.ok() ? add(levels.name + "_bnds", {levels.name, "bnds"}, bounds, {}) : status;
}

Status Declarations::add_computed(const std::vector<DeclaredField>& all) {
    while (!fields_.empty() && fields_.back().computed) fields_.pop_back();
    for (Field& field : fields_) field.feeds.clear();
    for (const std::string& name : std::exchange(levels_, {})) {
        coordinates_.erase(name);
        lengths_.erase(name);
    }
    for (std::size_t i = fields_.size(); i < all.size(); ++i) {
        const Computation& how = *all[i].computation;
        std::vector<Field*> inputs;
        for (const int input : how.inputs) inputs.push_back(&fields_[input]);
        const Field& like = *inputs[how.like];
        Field& made = fields_.emplace_back();
        static_cast<DeclaredField&>(made) = all[i];
        // Boxes keep their numbers, which choose() changes if some are empty.
        made.part = like.part.listed > 0 ? choose(like.part, {}).part : like.part;
        // The array has no holes, so positions can differ from those in the model's.
        made.serial = like.part.listed > 0 ? -1 - like.serial : like.serial;
        Status status;
        if (how.expression)
            made.attributes = attributes_of(*how.expression, *inputs.front(), like);
        else
            status = add_levels(how, made);
        if (!status.ok()) {
            fields_.pop_back();
            return status;
        }
        made.sent_boxes.resize(std::max(made.part.boxes, 1));
        for (Field* input : inputs) {
            if (!input->step) input->step = std::make_shared<StepValues>(input->part);
            input->feeds.push_back(&made);
        }
        made.computed = std::make_shared<Computed>(how, std::move(inputs), made);
    }
    return {};
}

std::deque<Field> Declarations::release_fields() {
    for (Field& field : fields_) {
        Field closed;
        closed.name = field.name;
        field = std::move(closed);
    }
    return std::move(fields_);
}

std::int64_t Declarations::hash() const {
    std::uint64_t hash = detail::hash_of_nothing;
    const auto add = [&](const std::string& text) { hash = detail::hash_of(text + "\n", hash); };
    for (const auto& [name, c] : coordinates_)
        add(fmt::format("{} {} {} {} {}", name, static_cast<int>(c.type), joined_names(c.dims),
                        c.serial, text_of(c.attributes, "units")));
    for (const Field& f : fields_)
        add(fmt::format("{} {} {} {} {} {}", f.name, static_cast<int>(f.type), joined_names(f.dims),
                        static_cast<int>(f.missing), f.serial,
                        text_of(f.attributes, "coordinates")));
    return static_cast<std::int64_t>(hash);
}

bool Declarations::has_axes(const Names& dims) const {
    bool east = false, north = false;
    for (const std::string& dim : dims)
        if (const Coordinate* c = axis(dim)) {
            east |= is_east(text_of(c->attributes, "units"));
            north |= is_north(text_of(c->attributes, "units"));
        }
    return east && north;
}

const Coordinate* Declarations::axis(const std::string& dim) const {
    const auto found = coordinates_.find(dim);
    if (found == coordinates_.end() || found->second.dims != std::vector{dim} ||
        !found->second.part.replicated)
        return nullptr;
    return &found->second;
}

Centres Declarations::centres(const Field& field) const {
    Centres found;
    Names names = words_of(field.attributes, "coordinates");
    names.insert(names.end(), field.dims.begin(), field.dims.end());
    for (const std::string& name : names) {
        const auto declared = coordinates_.find(name);
        if (declared == coordinates_.end()) continue;
        const Coordinate& c = declared->second;
        if (c.type == TW_CHAR || c.dims.empty() || !is_subset(c.dims, field.dims)) continue;
        const std::string units = text_of(c.attributes, "units");
        if (is_east(units) && found.longitude == nullptr) found.longitude = &c;
        if (is_north(units) && found.latitude == nullptr) found.latitude = &c;
    }
    if (!found.complete()) return {};
    for (const std::string& dim : field.dims)
        if (place_of(dim, found.longitude->dims) >= 0 || place_of(dim, found.latitude->dims) >= 0)
            found.dims.push_back(dim);
    return found;
}

}  // namespace thalweg::history
