// SPDX-License-Identifier: Apache-2.0
#include "definitions/adopt.hpp"

#include "definitions/fill.hpp"

namespace thalweg::detail {

namespace {

std::string length_of(const Dimension& dim) {
    return dim.unlimited() ? "is unlimited" : fmt::format("has length {}", dim.length);
}

/// Formats a variable as in its definition, for example "float T(time, lat, lon)".
std::string declared(const Definitions& d, const Variable& v, IndexConvention wording) {
    std::vector<std::string> names;
    for (const int dim : v.dims) names.push_back(d.dims[dim].name);
    return fmt::format("{} {}({})", name_of(v.type), v.name, wording.list(names));
}

bool same(const Attribute& a, const Attribute& b) {
    return a.type == b.type && a.n == b.n && a.values == b.values;
}

Status compare_dimensions(const Definitions& model, const Definitions& file) {
    for (const Dimension& dim : model.dims) {
        const int at = file.find_dim(dim.name);
        if (at < 0)
            return failure(
                TW_EDIFFERENT,
                "the model defines dimension '{}', which {}, but the file does not have it",
                dim.name, length_of(dim));
        const Dimension& its = file.dims[at];
        if (its.length != dim.length)
            return failure(TW_EDIFFERENT, "dimension '{}' {} in the file, but {} in the model",
                           dim.name, length_of(its), length_of(dim));
    }
    return {};
}

Status compare_variables(const Definitions& model, const Definitions& file,
                         IndexConvention wording) {
    for (const Variable& v : model.variables) {
        const int at = file.find_variable(v.name);
        if (at < 0)
            return failure(TW_EDIFFERENT,
                           "the model defines variable '{}', but the file does not have it",
                           OfVariable{v.name});
        const std::string its = declared(file, file.variables[at], wording);
        if (const std::string own = declared(model, v, wording); own != its)
            return failure(TW_EDIFFERENT, "variable '{}' is {} in the file, but {} in the model",
                           OfVariable{v.name}, its, own);
    }
    for (const Variable& v : file.variables)
        if (model.find_variable(v.name) < 0)
            return failure(TW_EDIFFERENT,
                           "the file has variable '{}', but the model does not define it",
                           OfVariable{v.name});
    return {};
}

Status compare_fill_value(const Variable& model, const Variable& file) {
    const Attribute* own = model.attributes.get("_FillValue");
    const Attribute* its = file.attributes.get("_FillValue");
    if (its != nullptr && !check_fill(model, *its).ok())
        return failure(TW_EDIFFERENT, "setting fill={} of '{}' in the model, but {} in the file",
                       model.settings.at("fill"), model.name, describe(model.name, *its));
    if (its == nullptr && file.fill && model.fill && *file.fill != *model.fill)
        return failure(TW_EDIFFERENT,
                       "setting fill={} of '{}' in the model, but the file has another fill value",
                       model.settings.at("fill"), model.name);
    if (own == nullptr || (its != nullptr && same(*own, *its))) return {};
    return failure(TW_EDIFFERENT, "{} in the model, but {} in the file", describe(model.name, *own),
                   its == nullptr ? "none" : describe(model.name, *its));
}

void add_late(const NamedList<Attribute>& model, const NamedList<Attribute>& file, int variable,
              LateAttributes& late) {
    for (const Attribute& a : model) {
        const Attribute* its = file.get(a.name);
        if (its == nullptr || !same(a, *its)) late.emplace_back(variable, a);
    }
}

}  // namespace

Status adopt(const Definitions& model, Definitions& file, LateAttributes& late,
             IndexConvention wording) {
    if (Status s = compare_dimensions(model, file); !s.ok()) return s;
    if (Status s = compare_variables(model, file, wording); !s.ok()) return s;
    for (std::size_t i = 0; i < file.variables.size(); ++i) {
        Variable& its = file.variables[i];
        const Variable& own = model.variables[model.find_variable(its.name)];
        if (Status s = compare_fill_value(own, its); !s.ok()) return s;
        its.settings = own.settings;
        if (own.fill) its.fill = own.fill;
        add_late(own.attributes, its.attributes, i, late);
    }
    add_late(model.attributes, file.attributes, -1, late);
    return {};
}

}  // namespace thalweg::detail
