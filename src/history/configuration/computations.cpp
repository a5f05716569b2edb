// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/computations.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace thalweg::history {

Computations::Computations(std::vector<DeclaredField>& fields, std::vector<Problem>& problems,
                           Miss miss)
    : fields_(fields), problems_(problems), miss_(std::move(miss)) {
    for (std::size_t i = 0; i < fields.size(); ++i)
        positions_.emplace(fields[i].name, static_cast<int>(i));
}

int Computations::find(const std::string& name) const {
    const auto found = positions_.find(name);
    return found == positions_.end() ? -1 : found->second;
}

int Computations::add(DeclaredField field) {
    const auto [place, fresh] = computed_.try_emplace(field.name, static_cast<int>(fields_.size()));
    if (fresh) fields_.push_back(std::move(field));
    return place->second;
}

/// Returns a field with the elements of another, whose values are computed.
static DeclaredField computed_like(const DeclaredField& other, std::string name, Missing missing) {
    DeclaredField field = other;
    field.name = std::move(name);
    field.type = TW_DOUBLE;
    field.missing = missing;
    field.missing_value = value_of(TW_DOUBLE, std::numeric_limits<double>::lowest());
    return field;
}

int Computations::add(const FieldKeys& keys, const std::string& where) {
    const Expression& expression = *keys.expression;
    Computation how;
    how.expression = expression;
    how.line = keys.of_line;
    bool good = true;
    Missing missing = expression.can_miss() ? Missing::varying : Missing::none;
    std::size_t widest = 0;
    for (const Expression::Name& name : expression.names()) {
        const int index = find(name.text);
        how.inputs.push_back(index);
        good = good && index >= 0;
        if (index < 0) miss_(keys.of_line, keys.column_of(name.at), name.text);
        if (!good) continue;
        missing = std::max(missing, fields_[index].missing);
        if (fields_[index].dims.size() > fields_[how.inputs[widest]].dims.size())
            widest = how.inputs.size() - 1;
    }
    if (!good) return -1;
    how.like = static_cast<int>(widest);
    const DeclaredField& like = fields_[how.inputs[widest]];
    for (std::size_t i = 0; i < how.inputs.size(); ++i)
        for (const std::string& dim : fields_[how.inputs[i]].dims) {
            if (std::ranges::find(like.dims, dim) != like.dims.end()) continue;
            const Expression::Name& name = expression.names()[i];
            problems_.push_back({keys.of_line,
                                 fmt::format("{}: '{}' has the dimension '{}', which '{}' lacks",
                                             where, name.text, dim, like.name),
                                 keys.column_of(name.at)});
            return -1;
        }
    DeclaredField field = computed_like(like, expression.text(), missing);
    field.condition = expression.condition();
    field.computation = std::make_shared<const Computation>(std::move(how));
    return add(std::move(field));
}

/// Describes an interpolation: interpolations with the same text are the same.
static std::string text_of(const Levels& levels, const std::string& field) {
    std::string text = fmt::format("{} on {} =", field, levels.coordinate);
    for (const double value : levels.values) text += fmt::format(" {}", value);
    return text +
           fmt::format(" ({}, {}, {})", levels.name, levels.log ? "log" : "linear", levels.dim);
}

int Computations::interpolate(const StreamTable& stream, int field) {
    const Levels& levels = *stream.levels;
    const int found = find(levels.coordinate);
    Computation how;
    how.inputs = {field, found};
    how.levels = levels;
    how.line = stream.line_of("levels");
    if (found < 0) miss_(how.line, 0, levels.coordinate);
    if (found < 0) return -1;
    const DeclaredField &from = fields_[field], &coordinate = fields_[found];
    const auto refuse = [&](const std::string& text) {
        problems_.push_back({how.line, fmt::format("stream '{}': levels: {}", stream.name, text)});
        return -1;
    };
    const auto along = std::ranges::find(from.dims, levels.dim);
    bool fits = std::ranges::find(coordinate.dims, levels.dim) != coordinate.dims.end();
    for (const std::string& dim : coordinate.dims)
        fits = fits && std::ranges::find(from.dims, dim) != from.dims.end();
    if (!fits)
        return refuse(fmt::format("'{}' needs the dimension '{}', and no other than '{}' has",
                                  levels.coordinate, levels.dim, from.name));
    const std::size_t place = along - from.dims.begin();
    if (from.shape[place] < 2) return refuse(fmt::format("'{}' has a single level", from.name));
    for (const DeclaredField& other : fields_) {
        const auto& by = other.computation;
        const bool same = by && by->levels && by->levels->values == levels.values &&
                          by->levels->coordinate == levels.coordinate;
        if (!same && (std::ranges::count(other.dims, levels.name) > 0 || other.name == levels.name))
            return refuse(
                fmt::format("there is another '{0}': choose another 'name'", levels.name));
    }
    DeclaredField made = computed_like(from, text_of(levels, from.name), Missing::varying);
    made.dims[place] = levels.name;
    made.shape[place] = std::ssize(levels.values);
    made.terms.clear();
    made.computation = std::make_shared<const Computation>(std::move(how));
    return add(std::move(made));
}

}  // namespace thalweg::history
