// Checks if files can be joined along their record dimension.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "zarr/arrays.hpp"

namespace thalweg::detail {

namespace {

/// Attributes that determine what values mean; they must be equal in all joined files. Other
/// attributes are taken from the first file.
constexpr const char* decisive[] = {"units",        "calendar",  "scale_factor",  "add_offset",
                                    "_FillValue",   "_Unsigned", "missing_value", "valid_range",
                                    "valid_min",    "valid_max", "flag_values",   "flag_masks",
                                    "flag_meanings"};

std::string shape_text(const Places& places, const Variable& v) {
    std::string text = std::string(valid_type(v.type) ? name_of(v.type) : "unknown") + "(";
    for (std::size_t d = 0; d < v.dims.size(); ++d) {
        const Dimension& dim = places.definitions().dims[v.dims[d]];
        const bool record = v.dims[d] == places.definitions().record_dim();
        text += d > 0 ? ", " : "";
        text += dim.name;
        if (!record) text += fmt::format("={}", dim.length);
    }
    return text + ")";
}

DecisiveOfAll decisive_of_all(const Places& places) {
    DecisiveOfAll all;
    const auto& variables = places.definitions().variables;
    for (std::size_t i = 0; i < variables.size(); ++i)
        all[variables[i].name] = decisive_of(places, static_cast<int>(i));
    return all;
}

/// Describes how a variable differs from the same variable in the first file, `path`. Returns an
/// empty text if it does not differ.
std::string difference(const Decisive& first, const Decisive& other, const std::string& path) {
    const auto text_of = [](const Decisive& all, const std::string& name) {
        const auto at = all.find(name);
        return at == all.end() ? "none" : at->second;
    };
    Decisive names = first;
    names.insert(other.begin(), other.end());
    for (const auto& [name, text] : names) {
        const std::string a = text_of(first, name), b = text_of(other, name);
        if (a == b) continue;
        if (name.empty()) return fmt::format("it is {}, but in {} it is {}", b, path, a);
        return fmt::format("attribute {}: {}, but in {}: {}", name, b, path, a);
    }
    return {};
}

/// Checks that a file can be joined to the first one, and finds its variables.
Status join(const OpenFile& first, OpenFile& other) {
    const Definitions& theirs = other.places->definitions();
    if (theirs.record_dim() < 0)
        return failure(TW_EDIFFERENT,
                       "{}: it has no record dimension along which to join it; {} differs",
                       other.file->path, first.file->path);
    for (const Variable& v : first.places->definitions().variables)
        other.variable.push_back(theirs.find_variable(v.name));
    return check_alike(decisive_of_all(*first.places), first.file->path,
                       decisive_of_all(*other.places), other.file->path);
}

}  // namespace

Decisive decisive_of(const Places& places, int variable) {
    const Variable& v = places.variable(variable);
    Decisive all{{"", shape_text(places, v)}};
    if (v.element() > 1 && places.source().order(variable) == Order::big_endian)
        all[""] += " in big-endian byte order";
    for (const char* name : decisive)
        if (const Attribute* a = v.attributes.get(name)) all[name] = describe(v.name, *a);
    return all;
}

Status check_alike(const DecisiveOfAll& first, const std::string& first_path,
                   const DecisiveOfAll& other, const std::string& path) {
    for (const auto& [name, mine] : first) {
        const auto its = other.find(name);
        if (its == other.end())
            return failure(TW_EDIFFERENT, "{}: it has no variable '{}'; {} differs", path,
                           OfVariable{name}, first_path);
        const std::string how = difference(mine, its->second, first_path);
        if (!how.empty())
            return failure(TW_EDIFFERENT, "{}: variable '{}': {}", path, OfVariable{name}, how);
    }
    for (const auto& [name, its] : other)
        if (!first.contains(name))
            return failure(TW_EDIFFERENT, "{}: it has a variable '{}', which {} does not have",
                           path, OfVariable{name}, first_path);
    return {};
}

Status check_record_first(const OpenFile& file) {
    const Definitions& d = file.places->definitions();
    if (d.record_dim() < 0)
        return failure(TW_EDIFFERENT, "{}: it has no record dimension along which to join files",
                       file.file->path);
    for (const Variable& v : d.variables)
        for (std::size_t k = v.record ? 1 : 0; k < v.dims.size(); ++k)
            if (v.dims[k] == d.record_dim())
                return failure(TW_EUNSUPPORTED,
                               "{}: variable '{}': the record dimension is not its first one only: "
                               "files cannot be joined along it",
                               file.file->path, OfVariable{v.name});
    return {};
}

Status open_files(std::span<const ReferencedFile> files, std::vector<OpenFile>& open) {
    for (const ReferencedFile& file : files) {
        OpenFile next;
        next.file = &file;
        Status status;
        next.places = open_places(file.data, status);
        if (!status.ok()) return status;
        if (open.empty()) {
            for (std::size_t i = 0; i < next.places->definitions().variables.size(); ++i)
                next.variable.push_back(i);
            if (files.size() > 1) status = check_record_first(next);
        } else {
            status = join(open.front(), next);
        }
        if (!status.ok()) return status;
        next.places->forget();
        open.push_back(std::move(next));
    }
    return {};
}

}  // namespace thalweg::detail
