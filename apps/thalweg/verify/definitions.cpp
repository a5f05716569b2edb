// SPDX-License-Identifier: Apache-2.0
#include "verify/definitions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "inspect/inquiry.hpp"

namespace thalweg::app {

namespace {

/// Returns the names that are in either list: those of the first list, followed by the others.
Names united(Names a, const Names& b) {
    for (const std::string& name : b)
        if (!has(a, name)) a.push_back(name);
    return a;
}

std::string joined(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text.empty() ? "no dimensions" : text;
}

class DefinitionComparison {
public:
    DefinitionComparison(const Pair& files, const VerifyOptions& options, Findings& found)
        : files_(files),
          options_(options),
          found_(found),
          dims_a_(dims_of(files.a)),
          dims_b_(dims_of(files.b)),
          variables_a_(variables_of(files.a)),
          variables_b_(variables_of(files.b)),
          unlimited_a_(unlimited_of(files.a, files.inspected_a)),
          unlimited_b_(unlimited_of(files.b, files.inspected_b)) {}

    std::vector<CommonVariable> run() {
        check_choice();
        compare_dims();
        if (options_.variables.empty()) {
            compare_attributes("");
            look_for_groups(files_.a, files_.name_a);
            look_for_groups(files_.b, files_.name_b);
        }
        std::vector<CommonVariable> common;
        for (const std::string& name : united(variables_a_, variables_b_)) {
            if (!chosen(name) || is_unlisted(name, "")) continue;
            ++found_.variables;
            if (!in_both("variable", name, has(variables_a_, name), has(variables_b_, name)))
                continue;
            compare_variable(name, common);
        }
        compare_unlisted();
        return common;
    }

private:
    bool chosen(const std::string& variable) const {
        return options_.variables.empty() || has(options_.variables, variable);
    }

    void check_choice() const {
        for (const std::string& name : options_.variables)
            if (!has(variables_a_, name) && !has(variables_b_, name) && !is_unlisted(name, ""))
                throw Error(TW_ENOTFOUND, fmt::format("neither {} nor {} has a variable '{}'",
                                                      files_.name_a, files_.name_b, name));
    }

    void add(const char* kind, const std::string& name, const std::string& text,
             const nlohmann::ordered_json& more) {
        nlohmann::ordered_json json{{"kind", kind}, {"name", name}};
        json.update(more);
        found_.differences.push_back({text, std::move(json)});
    }

    bool in_both(const char* kind, const std::string& name, bool in_a, bool in_b) {
        if (in_a && in_b) return true;
        const std::string& only = in_a ? files_.name_a : files_.name_b;
        add(kind, name, fmt::format("{} '{}': only in {}", kind, name, only),
            {{"only_in", in_a ? "a" : "b"}});
        return false;
    }

    void compare_dims() {
        Names names = united(dims_a_, dims_b_);
        if (!options_.variables.empty()) names = dims_of_choice();
        for (const std::string& name : names) {
            if (!in_both("dimension", name, has(dims_a_, name), has(dims_b_, name))) continue;
            const std::int64_t n = files_.a.dim(name), m = files_.b.dim(name);
            if (n != m)
                add("dimension", name, fmt::format("dimension '{}': length {} and {}", name, n, m),
                    {{"length", {n, m}}});
            const bool open_a = has(unlimited_a_, name), open_b = has(unlimited_b_, name);
            if (open_a != open_b)
                add("dimension", name,
                    fmt::format("dimension '{}': unlimited only in {}", name,
                                open_a ? files_.name_a : files_.name_b),
                    {{"unlimited", {open_a, open_b}}});
        }
    }

    void look_for_groups(const Reader& file, const std::string& name) {
        if (file.inq().groups > 0)
            found_.not_compared.push_back(fmt::format(
                "{} groups of {}: only the root group can be read", file.inq().groups, name));
    }

    static const UnlistedObject* find(const Inspection& in, const std::string& variable,
                                      const std::string& attribute) {
        for (const UnlistedObject& o : in.unlisted)
            if (o.variable == variable && o.attribute == attribute) return &o;
        return nullptr;
    }

    /// Tests if a variable or attribute is one that netCDF-C does not list, in either of the files.
    bool is_unlisted(const std::string& variable, const std::string& attribute) const {
        return find(files_.inspected_a, variable, attribute) != nullptr ||
               find(files_.inspected_b, variable, attribute) != nullptr;
    }

    /// Compares objects that netCDF-C does not list.
    void compare_unlisted() {
        for (const UnlistedObject& o : files_.inspected_a.unlisted)
            compare_unlisted(o, find(files_.inspected_b, o.variable, o.attribute), true);
        for (const UnlistedObject& o : files_.inspected_b.unlisted)
            if (find(files_.inspected_a, o.variable, o.attribute) == nullptr)
                compare_unlisted(o, nullptr, false);
    }

    /// Tests if another file has an object of this name with a type that netCDF-C lists.
    static bool is_listed(const UnlistedObject& o, const Reader& there) {
        const bool owner = o.variable.empty() || has(variables_of(there), o.variable);
        return owner && (o.attribute.empty() || has(attributes_of(there, o.variable), o.attribute));
    }

    void compare_unlisted(const UnlistedObject& o, const UnlistedObject* other, bool in_a) {
        if (!(o.variable.empty() ? options_.variables.empty() : chosen(o.variable))) return;
        if (!o.attribute.empty() && ignored(o.variable, o.attribute)) return;
        const char* const kind = o.attribute.empty() ? "variable" : "attribute";
        const std::string name = o.attribute.empty() ? o.variable : o.variable + ":" + o.attribute;
        if (o.attribute.empty()) ++found_.variables;
        if (other == nullptr && !is_listed(o, in_a ? files_.b : files_.a)) {
            (void)in_both(kind, name, in_a, !in_a);
        } else if (other == nullptr) {
            const std::string& only = in_a ? files_.name_a : files_.name_b;
            add(kind, name,
                fmt::format("{}: has the HDF5 type {} only in {}", name_of(o), o.type, only),
                {{"only_in", in_a ? "a" : "b"}});
        } else if (o.type != other->type) {
            add(kind, name, fmt::format("{}: {} and {}", name_of(o), o.type, other->type),
                {{"type", {o.type, other->type}}});
        } else if (o.content.empty() || other->content.empty()) {
            found_.not_compared.push_back(
                fmt::format("{}: values of the HDF5 type {} cannot be read", name_of(o), o.type));
        } else if (o.content != other->content) {
            add(kind, name,
                fmt::format("{}: values of the HDF5 type {} differ", name_of(o), o.type),
                {{"type", {o.type, o.type}}});
        }
    }

    Names dims_of_choice() const {
        Names names;
        for (const std::string& name : options_.variables) {
            if (has(variables_a_, name)) names = united(std::move(names), files_.a.var(name).dims);
            if (has(variables_b_, name)) names = united(std::move(names), files_.b.var(name).dims);
        }
        return names;
    }

    bool ignored(const std::string& variable, const std::string& attribute) const {
        return has(options_.ignored, attribute) ||
               has(options_.ignored, variable + ":" + attribute);
    }

    void compare_attributes(const std::string& variable) {
        const Names a = attributes_of(files_.a, variable), b = attributes_of(files_.b, variable);
        for (const std::string& name : united(a, b))
            if (!ignored(variable, name) && !is_unlisted(variable, name))
                compare_attribute(variable, name, has(a, name), has(b, name));
    }

    void compare_attribute(const std::string& variable, const std::string& name, bool in_a,
                           bool in_b) {
        const std::string full = variable + ":" + name;
        if (!in_both("attribute", full, in_a, in_b)) return;
        const AttributeValue a = attribute_of(files_.a, variable, name),
                             b = attribute_of(files_.b, variable, name);
        if (a.type == Type::none && b.type == Type::none) {
            found_.not_compared.push_back(
                fmt::format("attribute '{}': strings and user-defined types cannot be read", full));
            return;
        }
        if (a == b) return;
        std::string text;
        if (a.type != b.type)
            text = fmt::format("type {} and {}", name_of(a.type), name_of(b.type));
        else
            text = fmt::format("{} and {}", text_of(a.type, a.values), text_of(b.type, b.values));
        add("attribute", full, fmt::format("attribute '{}': {}", full, text),
            {{"type", {name_of(a.type), name_of(b.type)}},
             {"values", {text_of(a.type, a.values), text_of(b.type, b.values)}}});
    }

    void compare_variable(const std::string& name, std::vector<CommonVariable>& common) {
        const Variable a = files_.a.var(name), b = files_.b.var(name);
        compare_attributes(name);
        if (a.type != b.type)
            add("variable", name,
                fmt::format("variable '{}': type {} and {}", name, name_of(a.type),
                            name_of(b.type)),
                {{"type", {name_of(a.type), name_of(b.type)}}});
        if (a.dims != b.dims)
            add("variable", name,
                fmt::format("variable '{}': dimensions {} and {}", name, joined(a.dims),
                            joined(b.dims)),
                {{"dimensions", {a.dims, b.dims}}});
        if (a.type != b.type || a.dims != b.dims) return;
        if (a.type == Type::none) {
            found_.not_compared.push_back(
                fmt::format("variable '{}': strings and user-defined types cannot be read", name));
            return;
        }
        CommonVariable v{name, a, a.shape, false};
        const auto of_record = [&](const Reader& file) {
            return !a.dims.empty() && a.dims.front() == file.inq().unlimited;
        };
        v.record = of_record(files_.a) || of_record(files_.b);
        if (v.record) v.shape.front() = std::min(a.shape.front(), b.shape.front());
        for (std::size_t d = v.record ? 1 : 0; d < a.shape.size(); ++d)
            if (a.shape[d] != b.shape[d]) return;  // already reported for the dimension
        common.push_back(std::move(v));
    }

    const Pair& files_;
    const VerifyOptions& options_;
    Findings& found_;
    const Names dims_a_, dims_b_, variables_a_, variables_b_, unlimited_a_, unlimited_b_;
};

}  // namespace

std::vector<CommonVariable> compare_definitions(const Pair& files, const VerifyOptions& options,
                                                Findings& found) {
    return DefinitionComparison(files, options, found).run();
}

}  // namespace thalweg::app
