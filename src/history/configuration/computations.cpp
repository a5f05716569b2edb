// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/resolve.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace thalweg::history {

Computations::Computations(std::vector<DeclaredField>& fields, Problems& problems, Miss miss)
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
        if (index < 0) miss_(keys.of_line, name.text, keys.column_of(name.at));
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
            if (has(like.dims, dim)) continue;
            const Expression::Name& name = expression.names()[i];
            problems_.push_back({keys.of_line,
                                 fmt::format("{}: '{}' has the dimension '{}', which '{}' lacks",
                                             where, name.text, dim, like.name),
                                 keys.column_of(name.at)});
            return -1;
        }
    DeclaredField field = computed_like(like, expression.text(), missing);
    field.condition = expression.condition();
    const DeclaredField& first = fields_[how.inputs.front()];
    field.standard_name = field.condition.empty() ? "" : first.standard_name;
    field.units = field.condition.empty() ? "" : first.units;
    field.computation = std::make_shared<const Computation>(std::move(how));
    return add(std::move(field));
}

/// Interpolations with the same text are the same.
static std::string text_of(const Levels& levels, const std::string& field) {
    std::string text = fmt::format("{} on {} =", field, levels.coordinate);
    for (const double value : levels.values) text += fmt::format(" {}", value);
    constexpr std::array<std::string_view, 3> methods{"linear", "log", "conservative"};
    text += fmt::format(" ({}, {}, {}", levels.name, methods[static_cast<int>(levels.method)],
                        levels.dim);
    if (levels.below != Below::missing)
        text +=
            fmt::format(", extrapolated {} {} {} {}", static_cast<int>(levels.below),
                        levels.surface_pressure, levels.surface_geopotential, levels.temperature);
    return text + ")";
}

/// @return an error; empty if there is none
static std::string find_below(const std::string& name, const std::string& standard_name,
                              const DeclaredField& coordinate, Levels& levels) {
    const bool is_temperature = standard_name == "air_temperature";
    const bool is_height = standard_name == "geopotential_height";
    if (is_temperature || is_height || standard_name == "geopotential")
        levels.below = is_temperature ? Below::temperature
                       : is_height    ? Below::height
                                      : Below::geopotential;
    const bool needs = levels.below != Below::constant;
    if (needs && (levels.surface_pressure.empty() || levels.surface_geopotential.empty() ||
                  (!is_temperature && levels.temperature.empty())))
        return fmt::format(
            "below: to extrapolate the {} '{}', 'surface_pressure', "
            "'surface_geopotential'{} are needed",
            standard_name, name, is_temperature ? "" : " and 'temperature'");
    constexpr std::array<std::string_view, 7> pressures{"Pa",       "hPa",       "kPa", "bar",
                                                        "millibar", "millibars", "mbar"};
    const bool is_pressure = std::ranges::find(pressures, coordinate.units) != pressures.end();
    if (needs && !is_pressure)
        return fmt::format("below: to extrapolate the {} '{}', 'coordinate' has to be a pressure",
                           standard_name, name);
    levels.up = coordinate.positive == "up";
    if (!is_pressure && !levels.up && coordinate.positive != "down")
        return fmt::format("below: '{}' has to have the attribute positive, \"up\" or \"down\"",
                           coordinate.name);
    return {};
}

/// @return an error; empty if there is none, or if it was reported
std::string Computations::find_inputs(const DeclaredField& from, Computation& how) {
    const Levels& levels = *how.levels;
    Names names{levels.coordinate};
    if (levels.below > Below::constant)
        names.insert(names.end(), {levels.surface_pressure, levels.surface_geopotential});
    if (levels.below > Below::temperature) names.push_back(levels.temperature);
    const auto place = std::ranges::find(from.dims, levels.dim) - from.dims.begin();
    for (const std::string& name : names) {
        how.inputs.push_back(find(name));
        if (how.inputs.back() < 0) {
            miss_(how.line, name, 0);
            return {};
        }
        const DeclaredField& input = fields_[how.inputs.back()];
        const bool is_surface =
            name == levels.surface_pressure || name == levels.surface_geopotential;
        const bool is_interface = levels.conserves() && name == levels.coordinate;
        int own = 0;  // levels, or interfaces
        for (std::size_t d = 0; d < input.dims.size(); ++d) {
            if (is_interface
                    ? input.shape[d] == from.shape[place] + 1 && !has(from.dims, input.dims[d])
                    : input.dims[d] == levels.dim)
                ++own;
            else if (!has(from.dims, input.dims[d]) || input.dims[d] == levels.dim)
                own = 2;
        }
        if (own == (is_surface ? 0 : 1)) continue;
        return fmt::format("'{}' has to have {}, and otherwise dimensions of '{}' only", name,
                           is_surface     ? fmt::format("no dimension '{}'", levels.dim)
                           : is_interface ? fmt::format("a dimension of length {} in place of '{}'",
                                                        from.shape[place] + 1, levels.dim)
                                          : fmt::format("the dimension '{}'", levels.dim),
                           from.name);
    }
    return {};
}

/// Checks the units of the fields from which a temperature or geopotential is extrapolated.
/// @param units  of the extrapolated field
/// @return an error; empty if there is none
std::string Computations::check_units(const Computation& how, const std::string& units) const {
    const Below below = how.levels->below;
    if (below <= Below::constant) return {};
    const Names kelvin{"K"}, geopotential{"m2 s-2", "m2/s2", "m^2/s^2", "m**2 s**-2"};
    const Names pressure{fields_[how.inputs[1]].units};
    const std::array<Names, 5> needed{below == Below::temperature ? kelvin
                                      : below == Below::height    ? Names{"m"}
                                                                  : geopotential,
                                      pressure, pressure, geopotential, kelvin};
    for (std::size_t i = 0; i < how.inputs.size(); ++i) {
        const DeclaredField& input = fields_[how.inputs[i]];
        const std::string& own = i == 0 ? units : input.units;
        if (std::ranges::find(needed[i], own) == needed[i].end())
            return fmt::format("below: '{}' has the units '{}', but needs '{}'", input.name, own,
                               needed[i].front());
    }
    return {};
}

int Computations::interpolate(const StreamTable& stream, int field, const FieldKeys& keys) {
    Computation how;
    how.inputs = {field};
    Levels& levels = how.levels.emplace(*stream.levels);
    how.line = stream.line_of("levels");
    const DeclaredField& from = fields_[field];
    const auto refuse = [&](const std::string& text) {
        if (!text.empty())
            problems_.push_back(
                {how.line, fmt::format("stream '{}': levels: {}", stream.name, text)});
        return -1;
    };
    std::string why;
    if (const int found = find(levels.coordinate); found >= 0 && levels.below != Below::missing)
        why = find_below(from.name, keys.standard_name.value_or(from.standard_name), fields_[found],
                         levels);
    if (why.empty()) why = find_inputs(from, how);
    // The units of an expression are given in the stream.
    if (why.empty() && how.inputs.back() >= 0)
        why = check_units(how, from.units.empty() ? keys.units.value_or("") : from.units);
    if (!why.empty() || how.inputs.back() < 0) return refuse(why);
    const auto place = std::ranges::find(from.dims, levels.dim) - from.dims.begin();
    if (from.shape[place] < 2 && !levels.conserves())
        return refuse(fmt::format("'{}' has a single level", from.name));
    for (const DeclaredField& other : fields_) {
        const auto& by = other.computation;
        const bool same = by && by->levels && by->levels->values == levels.values &&
                          by->levels->conserves() == levels.conserves() &&
                          by->levels->coordinate == levels.coordinate;
        if (!same && (has(other.dims, levels.name) || other.name == levels.name))
            return refuse(
                fmt::format("there is another '{0}': choose another 'name'", levels.name));
    }
    DeclaredField made = computed_like(from, text_of(levels, from.name), Missing::varying);
    made.dims[place] = levels.name;
    made.shape[place] = levels.size();
    made.terms.clear();
    made.computation = std::make_shared<const Computation>(std::move(how));
    return add(std::move(made));
}

}  // namespace thalweg::history
