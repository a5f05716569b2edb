// Adds dimensions, variables and attributes to definitions, and compares the definitions of all
// ranks.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <sstream>

#include "base/hash.hpp"
#include "base/text/nearest.hpp"
#include "base/text/normal_form.hpp"
#include "base/text/text.hpp"
#include "comm/team.hpp"
#include "definitions/definitions.hpp"
#include "definitions/fill.hpp"
#include "definitions/wire.hpp"

namespace thalweg::detail {

namespace {

/// Returns the length of a variable's dimension according to the variable's decomposition; -1 if
/// the decomposition lacks it.
std::int64_t length_in(const GivenDimensions& given, const std::vector<std::string>& names,
                       std::size_t dim) {
    if (given.by_position) {
        // If there is one more name than there are lengths, the first name may be the record
        // dimension.
        const std::size_t lead = names.size() > given.lengths.size() ? 1 : 0;
        return dim < lead || dim - lead >= given.lengths.size() ? -1 : given.lengths[dim - lead];
    }
    std::int64_t length = -1;
    for (std::size_t m = 0; m < given.names.size(); ++m)
        if (given.names[m] == names[dim]) length = given.lengths[m];
    return length;
}

}  // namespace

std::int64_t hash_of_lines(const std::vector<std::string>& lines) {
    std::uint64_t h = hash_of_nothing;
    for (const std::string& line : lines) {
        // Hash the length of the line, too, as it may contain newlines.
        const std::uint64_t bytes = line.size();
        h = hash_of(line, hash_of({reinterpret_cast<const char*>(&bytes), sizeof bytes}, h));
    }
    return static_cast<std::int64_t>(h);
}

Status no_dimension(const Definitions& definitions, const std::string& path,
                    const std::string& variable, const std::string& dim,
                    const GivenDimensions* given, bool may_be_record) {
    std::vector<std::string> known = definitions.dims.first_names();
    if (given != nullptr && !given->by_position)
        known.insert(known.end(), given->names.begin(), given->names.end());
    std::string hint = did_you_mean(dim, known);
    if (hint.empty()) hint = "; define it with tw_def_dim";
    if (may_be_record) hint += " (a record dimension with length TW_UNLIMITED)";
    return failure(TW_ENOTFOUND, "{}: variable '{}': no dimension '{}'{}", path,
                   OfVariable{variable}, dim, hint);
}

Status define_dimension(Definitions& definitions, const std::string& path, const std::string& given,
                        std::int64_t length) {
    const std::string name = normal_form(given);
    if (Status s = check_name("a dimension", name); !s.ok()) return s;
    if (definitions.find_dim(name) >= 0)
        return failure(TW_EEXISTS, "{}: dimension '{}' is already defined", path, name);
    if (length < 0)
        return failure(TW_ESHAPE, "{}: dimension '{}' has length {}", path, name, length);
    if (length == TW_UNLIMITED && definitions.record_dim() >= 0)
        return failure(
            TW_EFORMAT,
            "{}: dimension '{}' would be a second unlimited dimension, besides '{}'; a file can "
            "have only one",
            path, name, definitions.dims[definitions.record_dim()].name);
    definitions.dims.push_back({name, length});
    return {};
}

Status define_variable(
    Definitions& definitions, const std::string& path, const std::string& called, int type,
    const std::string& dims, const GivenDimensions* given, const FindLength& find_length,
    const std::function<Status(const Variable&, std::span<const std::string>)>& accept) {
    const std::string name = normal_form(called);
    if (Status s = check_name("a variable", name); !s.ok()) return s;
    if (definitions.find_variable(name) >= 0)
        return failure(TW_EEXISTS, "{}: variable '{}' is already defined", path, OfVariable{name});
    if (!valid_type(type))
        return failure(TW_ETYPE, "{}: variable '{}': {}", path, OfVariable{name}, no_type(type));
    const std::vector<std::string> names = split_names(dims);
    if (names.size() > static_cast<std::size_t>(max_dims))
        return failure(TW_EARG, "{}: variable '{}' has {} dimensions; the maximum is {}", path,
                       OfVariable{name}, names.size(), max_dims);

    Variable v;
    v.name = name;
    v.type = static_cast<tw_type>(type);
    // Dimensions that are added to the definitions if there is no error.
    std::vector<Dimension> added;
    auto find = [&](const std::string& dim) -> const Dimension* {
        for (const Dimension& d : added)
            if (d.name == dim) return &d;
        const int i = definitions.find_dim(dim);
        return i < 0 ? nullptr : &definitions.dims[i];
    };
    std::vector<std::string> fixed_names;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string& dim = names[i];
        std::int64_t held = given != nullptr ? length_in(*given, names, i) : -1;
        const Dimension* known = find(dim);
        if (known == nullptr) {
            if (given == nullptr)
                if (Status s = find_length(dim, held); !s.ok()) {
                    reword(s, "{}: variable '{}': {}", path, OfVariable{name}, s.text);
                    return s;
                }
            // An undefined dimension becomes the record dimension if it can be nothing else: it is
            // the first dimension of a variable with a decomposition, and the file has no record
            // dimension yet.
            if (held < 0 && (i > 0 || given == nullptr || definitions.record_dim() >= 0))
                return no_dimension(definitions, path, name, dim, given,
                                    i == 0 && definitions.record_dim() < 0);
            if (Status s = check_name("a dimension", dim); !s.ok()) return s;
            added.push_back({dim, held < 0 ? TW_UNLIMITED : held});
            known = &added.back();
        } else if (held >= 0 && known->length != held) {
            return failure(
                TW_ESHAPE,
                "{}: variable '{}': dimension '{}' has length {}, but {} in the decomposition",
                path, OfVariable{name}, dim,
                known->unlimited() ? std::string("unlimited") : std::to_string(known->length),
                held);
        }
        if (known->unlimited()) {
            if (i > 0)
                return failure(
                    TW_EFORMAT,
                    "{}: variable '{}': the unlimited dimension '{}' must be the slowest one", path,
                    OfVariable{name}, dim);
            v.record = true;
        } else {
            fixed_names.push_back(dim);
            v.shape.push_back(known->length);
        }
    }
    std::int64_t total = v.element();
    for (std::int64_t length : v.shape)
        if (__builtin_mul_overflow(total, length, &total))
            return failure(TW_EFORMAT, "{}: variable '{}' is too large for any format", path,
                           OfVariable{name});
    if (Status s = accept(v, fixed_names); !s.ok()) return s;
    for (Dimension& dim : added) definitions.dims.push_back(std::move(dim));
    for (const std::string& dim : names) v.dims.push_back(definitions.find_dim(dim));
    definitions.variables.push_back(std::move(v));
    return {};
}

Status set_variable(Definitions& definitions, const std::string& path, const std::string& name,
                    const std::string& settings) {
    const int at = definitions.find_variable(name);
    if (at < 0) return no_variable(definitions, path, name);
    Variable v = definitions.variables[at];
    Status status = add_settings(settings, v.settings);
    if (status.ok()) status = choose_fill(v);
    if (status.ok()) status = choose_packing(definitions, {}, v);
    if (!status.ok()) {
        status.text = path + ": " + status.text;
        return status;
    }
    definitions.variables[at].settings = std::move(v.settings);
    definitions.variables[at].fill = v.fill;
    return {};
}

Status check_attribute(const Definitions& definitions, const std::string& path,
                       const std::string& variable, const Attribute& attribute, int& at) {
    if (Status s = check_name("an attribute", attribute.name); !s.ok()) return s;
    at = -1;
    if (variable.empty()) return {};
    at = definitions.find_variable(variable);
    if (at < 0)
        return no_variable(definitions, fmt::format("{}: attribute '{}'", path, attribute.name),
                           variable);
    const Variable& v = definitions.variables[at];
    if (attribute.name == "_FillValue" && (attribute.type != v.type || attribute.n != 1))
        return failure(TW_ETYPE,
                       "{}: _FillValue of '{}' must be 1 value of type {}, not {} of type {}", path,
                       variable, name_of(v.type), attribute.n, name_of(attribute.type));
    Status status = check_fill(v, attribute);
    if (!status.ok()) status.text = path + ": " + status.text;
    return status;
}

namespace {

/// Tests if a line that describe() has returned describes an attribute.
bool is_attribute(const std::string& line) {
    return line.rfind("attribute of '", 0) == 0 || line.rfind("global attribute '", 0) == 0;
}

}  // namespace

Status check_alike(Team& team, const std::string& path, const std::vector<std::string>& lines) {
    const std::int64_t mine = hash_of_lines(lines);
    std::int64_t range[2] = {mine, ~mine};
    team.all_reduce(range, Reduce::max);
    if (range[0] == ~range[1]) return {};

    const auto differ = [&](const std::string& first, const std::string&) -> Status {
        std::istringstream theirs(first);
        std::string line;
        for (std::size_t i = 0;; ++i) {
            const bool more = static_cast<bool>(std::getline(theirs, line));
            if (!more && i >= lines.size()) return {};
            const std::string here = i < lines.size() ? lines[i] : "no more definitions";
            const std::string there = more ? line : "no more definitions";
            if (here != there)
                return failure(TW_EMISMATCH,
                               "{}: the definitions differ: {} on rank 0, {} on rank {}{}", path,
                               there, here, OfRank{team.rank()},
                               is_attribute(here) || is_attribute(there)
                                   ? " (to write the attributes of rank 0, use attributes=first)"
                                   : "");
        }
    };
    Status status = compare_with_first(
        team.world(), [&] { return joined(lines, "\n"); }, differ);
    if (status.ok())
        status = failure(TW_EMISMATCH, "{}: the definitions differ between ranks", path);
    return status;
}

void take_first_attributes(Team& team, Definitions& definitions, LateAttributes* late) {
    std::vector<char> bytes;
    LateAttributes none;
    LateAttributes& put_late = late != nullptr ? *late : none;
    if (team.rank() == 0)
        bytes = message_of(definitions.attributes, definitions.variables, put_late);
    team.world().broadcast(bytes, 0);
    if (team.rank() == 0) return;
    NamedList<Variable> theirs;
    WireReader in(bytes);
    in(definitions.attributes, theirs, put_late);
    // Skip variables that this rank lacks; a later check will report them.
    for (Variable& v : theirs)
        if (const int at = definitions.find_variable(v.name); at >= 0)
            definitions.variables[at].attributes = std::move(v.attributes);
}

}  // namespace thalweg::detail
