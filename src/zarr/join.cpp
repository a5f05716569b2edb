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

const Attribute* find_attribute(const Variable& v, const std::string& name) {
    for (const Attribute& a : v.attributes)
        if (a.name == name) return &a;
    return nullptr;
}

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

class Joiner {
public:
    Joiner(const OpenFile& first, const OpenFile& other) : first_(first), other_(other) {}

    Status check(std::vector<int>& variable) const {
        const Definitions& theirs = other_.places->definitions();
        if (theirs.record_dim() < 0)
            return differs("it has no record dimension along which to join it");
        for (const Variable& v : first_.places->definitions().variables) {
            const int at = theirs.find_variable(v.name);
            if (at < 0) return differs("it has no variable '" + v.name + "'");
            variable.push_back(at);
            if (Status s = check_variable(v, at); !s.ok()) return s;
        }
        for (const Variable& v : theirs.variables)
            if (first_.places->definitions().find_variable(v.name) < 0)
                return failure(TW_EDIFFERENT, "{}: it has a variable '{}', which {} does not have",
                               other_.file->path, OfVariable{v.name}, first_.file->path);
        return {};
    }

private:
    Status differs(const std::string& how) const {
        return failure(TW_EDIFFERENT, "{}: {}; {} differs", other_.file->path, how,
                       first_.file->path);
    }

    Status check_variable(const Variable& mine, int at) const {
        const int i = first_.places->definitions().find_variable(mine.name);
        const std::string how = difference(decisive_of(*first_.places, i),
                                           decisive_of(*other_.places, at), first_.file->path);
        if (how.empty()) return {};
        return failure(TW_EDIFFERENT, "{}: variable '{}': {}", other_.file->path,
                       OfVariable{mine.name}, how);
    }

    const OpenFile& first_;
    const OpenFile& other_;
};

}  // namespace

Decisive decisive_of(const Places& places, int variable) {
    const Variable& v = places.variable(variable);
    Decisive all{{"", shape_text(places, v)}};
    if (v.element() > 1 && places.source().order(variable) == Order::big_endian)
        all[""] += " in big-endian byte order";
    for (const char* name : decisive)
        if (const Attribute* a = find_attribute(v, name)) all[name] = describe(v.name, *a);
    return all;
}

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
            status = Joiner(open.front(), next).check(next.variable);
            next.first_record = open.back().first_record + open.back().records();
        }
        if (!status.ok()) return status;
        next.places->forget();
        open.push_back(std::move(next));
    }
    return {};
}

}  // namespace thalweg::detail
