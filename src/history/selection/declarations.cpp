// SPDX-License-Identifier: Apache-2.0
#include "history/selection/declarations.hpp"

#include <algorithm>
#include <array>

#include "base/hash.hpp"
#include "history/selection/ranks.hpp"
#include "index/types.hpp"

namespace thalweg::history {

using detail::failure;

static bool is_degree(const std::string& units, const char* word, const char* letter) {
    return units.starts_with("degree") &&
           (units.find(word) != std::string::npos || units.find(letter) != std::string::npos);
}
bool is_east(const std::string& units) { return is_degree(units, "east", "_E"); }
bool is_north(const std::string& units) { return is_degree(units, "north", "_N"); }

/// Tests if all of some names are among others.
static bool is_subset(const std::vector<std::string>& some, const std::vector<std::string>& all) {
    return std::ranges::all_of(some, [&](const auto& name) { return place_of(name, all) >= 0; });
}

namespace {

/// Finds the index of an attribute's value in a list of allowed words; 0 if there is no such
/// attribute.
Status take_word(const std::vector<Attribute>& attributes, std::string_view name,
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

/// Takes the attributes that are not written out of the list.
Status take_special(std::vector<Attribute>& attributes, DeclaredField& field) {
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
    std::erase_if(attributes, [](const Attribute& a) {
        return a.name == "missing" || a.name == "missing_value" || a.name == "kind";
    });
    return status;
}

}  // namespace

Status Declarations::check(const Declaration& declaration) const {
    if (ended_) return failure(TW_ESTATE, "tw_history_ready has been called");
    if (declaration.name == nullptr || *declaration.name == '\0')
        return failure(TW_EARG, "the name is missing");
    if (!detail::valid_type(declaration.type))
        return failure(TW_ETYPE, "{}", detail::no_type(declaration.type));
    const std::string name = declaration.name;
    const bool field =
        std::ranges::any_of(fields_, [&](const Field& f) { return f.declared.name == name; });
    if (field || coordinates_.count(name) != 0)
        return failure(TW_EEXISTS, "the name has been declared before");
    return {};
}

Status Declarations::find_part(const Declaration& declaration, std::int64_t n, Part& part) const {
    if (Status status = check(declaration); !status.ok()) return status;
    const std::vector<std::string> dims = split_dims(declaration.dims);
    if (declaration.decomposition != nullptr) {
        if (Status status = part_of(declaration.decomposition, part); !status.ok()) return status;
        if (!part.dims.empty() && part.dims.front() == "*" && part.nd() == std::ssize(dims))
            part.dims = dims;
        std::vector<std::string> a = dims, b = part.dims;
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        if (a != b)
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
    made.declared.name = declaration.name;
    made.declared.type = declaration.type;
    made.declared.dims = split_dims(declaration.dims);
    if (declaration.type == TW_CHAR) return failure(TW_ETYPE, "a field cannot be text");
    Status status = parse_attributes(declaration.attributes, made.attributes);
    if (status.ok()) status = take_special(made.attributes, made.declared);
    if (!status.ok()) return status;
    for (int d = 0; d < part.nd(); ++d) lengths_[part.dims[d]] = part.shape[d];
    for (const std::string& dim : made.declared.dims)
        made.declared.shape.push_back(lengths_.at(dim));
    made.sent_boxes.resize(std::max(part.boxes, 1));
    made.part = std::move(part);
    made.serial = declaration.serial;
    fields_.push_back(std::move(made));
    field = &fields_.back();
    return {};
}

std::deque<Field> Declarations::release_fields() {
    for (Field& field : fields_) {
        Field closed;
        closed.declared.name = field.declared.name;
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
        add(fmt::format("{} {} {} {} {} {}", f.declared.name, static_cast<int>(f.declared.type),
                        joined_names(f.declared.dims), static_cast<int>(f.declared.missing),
                        f.serial, text_of(f.attributes, "coordinates")));
    return static_cast<std::int64_t>(hash);
}

bool Declarations::has_axes(const std::vector<std::string>& dims) const {
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
    std::vector<std::string> names = split_dims(text_of(field.attributes, "coordinates").c_str());
    names.insert(names.end(), field.declared.dims.begin(), field.declared.dims.end());
    for (const std::string& name : names) {
        const auto declared = coordinates_.find(name);
        if (declared == coordinates_.end()) continue;
        const Coordinate& c = declared->second;
        if (c.type == TW_CHAR || c.dims.empty() || !is_subset(c.dims, field.declared.dims))
            continue;
        const std::string units = text_of(c.attributes, "units");
        if (is_east(units) && found.longitude == nullptr) found.longitude = &c;
        if (is_north(units) && found.latitude == nullptr) found.latitude = &c;
    }
    if (!found.complete()) return {};
    for (const std::string& dim : field.declared.dims)
        if (place_of(dim, found.longitude->dims) >= 0 || place_of(dim, found.latitude->dims) >= 0)
            found.dims.push_back(dim);
    return found;
}

}  // namespace thalweg::history
