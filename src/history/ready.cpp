// Declarations of a history, and their end.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ctime>
#include <random>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "history/history.hpp"
#include "index/types.hpp"

namespace thalweg::history {

using detail::failure;

namespace {

/// Finds the position of an attribute's word among the possible words; 0 if there is no such
/// attribute.
Status take_word(const std::vector<Attribute>& attributes, std::string_view name,
                 std::span<const std::string_view> words, std::size_t& place) {
    const auto same = [&](const Attribute& a) { return a.name == name; };
    const auto found = std::find_if(attributes.begin(), attributes.end(), same);
    place = 0;
    if (found == attributes.end()) return {};
    const auto* const text = std::get_if<std::string>(&found->value);
    const std::string given = text == nullptr ? "a number" : "'" + *text + "'";
    while (place < words.size() && given != fmt::format("'{}'", words[place])) ++place;
    if (place < words.size()) return {};
    return failure(TW_EARG, "{} is {}; it must be one of: {}", name, given,
                   detail::joined(words, ", "));
}

/// Removes from the list the attributes that are not written, and uses them.
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

Status History::check_declaration(const Declaration& declaration) const {
    if (ready_) return failure(TW_ESTATE, "tw_history_ready has been called");
    if (declaration.name == nullptr || *declaration.name == '\0')
        return failure(TW_EARG, "the name is missing");
    if (!detail::valid_type(declaration.type))
        return failure(TW_ETYPE, "{}", detail::no_type(declaration.type));
    const std::string name = declaration.name;
    const bool field = std::any_of(fields_.begin(), fields_.end(),
                                   [&](const Field& f) { return f.declared.name == name; });
    if (field || context_.coordinates.count(name) != 0)
        return failure(TW_EEXISTS, "the name has been declared before");
    return {};
}

Status History::find_part(const Declaration& declaration, std::int64_t n, Part& part) const {
    if (Status status = check_declaration(declaration); !status.ok()) return status;
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

Status History::add_coordinate(const Declaration& declaration, Part part,
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
    context_.coordinates.emplace(name, std::move(c));
    return {};
}

Status History::add_field(const Declaration& declaration, Part part, Field*& field) {
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
    made.history = this;
    fields_.push_back(std::move(made));
    field = &fields_.back();
    return {};
}

std::int64_t History::declarations_hash() const {
    std::uint64_t hash = detail::hash_of_nothing;
    const auto add = [&](const std::string& text) { hash = detail::hash_of(text + "\n", hash); };
    for (const auto& [name, c] : context_.coordinates)
        add(fmt::format("{} {} {} {} {}", name, static_cast<int>(c.type), joined_names(c.dims),
                        c.serial, text_of(c.attributes, "units")));
    for (const Field& f : fields_)
        add(fmt::format("{} {} {} {} {} {}", f.declared.name, static_cast<int>(f.declared.type),
                        joined_names(f.declared.dims), static_cast<int>(f.declared.missing),
                        f.serial, text_of(f.attributes, "coordinates")));
    return static_cast<std::int64_t>(hash);
}

Status History::resolve_all(std::vector<ResolvedStream>& resolved) {
    std::vector<DeclaredField> declared;
    for (Field& field : fields_) {
        DeclaredField& f = field.declared;
        f.has_axes = has_axes(f.dims);
        f.has_centres = centres(field).complete();
        declared.push_back(f);
    }
    std::vector<std::string> warnings;
    const std::vector<Problem> problems = resolve(table_, declared, resolved, warnings);
    for (const std::string& warning : warnings)
        if (ranks_.rank() == 0) detail::log::warn("history: {}", warning);
    return problem_status(problems, table_.name);
}

History::Taken& History::taken(int serial, const Part& part, const Choice& choice) {
    const auto same = [&](const Taken& t) {
        return t.serial == serial && t.dims == part.dims && t.shape == part.shape &&
               t.choice == choice;
    };
    const auto found = std::find_if(taken_.begin(), taken_.end(), same);
    if (found != taken_.end()) return *found;
    taken_.push_back({serial,
                      part.dims,
                      part.shape,
                      choice,
                      std::make_shared<const Chosen>(choose(part, choice)),
                      {},
                      {}});
    return taken_.back();
}

Status History::make_variables(const std::vector<ResolvedStream>& resolved) {
    streams_.clear();  // an earlier attempt has failed
    taken_.clear();
    taken_of_.clear();
    coordinate_data_.clear();
    for (Field& field : fields_) {
        field.users.clear();
        field.weighed.clear();
    }
    for (const ResolvedStream& one : resolved) {
        streams_.push_back(std::make_unique<Stream>(context_, table_.streams[one.table]));
        const RegionPick* first = nullptr;
        for (const StreamField& about : one.fields) {
            const RegionPick* own = pick_of(streams_.back()->table(), fields_[about.declared]);
            if (first == nullptr) first = own;
            if (own != nullptr)
                if (Status s = check_picks(streams_.back()->table(), *own, *first); !s.ok())
                    return s;
            if (Status s = make_variable(*streams_.back(), about); !s.ok()) return s;
        }
    }
    return {};
}

Status History::make_variable(Stream& stream, const StreamField& about) {
    Field& field = fields_[about.declared];
    const RegionPick* const picked = pick_of(stream.table(), field);
    const Pick pick = picked == nullptr ? Pick{} : picked->pick;
    Choice choice;
    if (Status s = find_choice(stream.table(), field.declared.dims, pick, choice); !s.ok())
        return s;
    Weights weights;
    if (about.weight >= 0) {
        weights.field = &fields_[about.weight];
        Choice own;
        if (Status s = find_choice(stream.table(), weights.field->declared.dims, pick, own);
            !s.ok())
            return s;
        weights.chosen = taken(weights.field->serial, weights.field->part, own).chosen;
    }
    Taken& t = taken(field.serial, field.part, choice);
    if (weights.field != nullptr)
        if (Status s = match_weights(*t.chosen, weights); !s.ok()) return s;
    const WindowRules rules = window_rules(table_, stream.table(), context_.run, about.inner);
    auto made = std::make_unique<Variable>(about, field, weights, rules, t.chosen);
    if (picked != nullptr) made->set_pick(pick, names_beside(*picked));
    const tw_type type = about.type;
    made->set_fill(about.keys.fill ? value_of(type, *about.keys.fill) : fill_of(type));
    taken_of_[made.get()] = &t;
    field.users.push_back(made.get());
    if (weights.field != nullptr) weights.field->weighed.push_back(made.get());
    Status fits =
        check_settings(*made, stream.table().every == Every::once ? std::string() : table_.time);
    if (!fits.ok()) return failure(fits.code, "stream '{}': {}", stream.table().name, fits.text);
    stream.variables().push_back(std::move(made));
    return {};
}

/// Declares the decompositions of the elements that are written.
/// @note Collective
Status History::declare_all() {
    Status status;
    for (Taken& t : taken_)
        keep_first(status, ranks_.status(declare(ranks_.session(), t.chosen->part, &t.target)));
    for (Variable* variable : all_variables()) variable->set_target(taken_of_.at(variable)->target);
    return status;
}

/// Checks that all ranks made the same declarations, and agrees on the stamp (time and random
/// numbers) for the files.
/// @note Collective
Status History::agree_on_declarations(const Status& mine) {
    const std::int64_t hash = declarations_hash();
    std::array<std::int64_t, 5> words{hash, ~hash, 0, 0, 0};
    if (ranks_.rank() == 0) {
        std::random_device random;
        words[2] = std::time(nullptr);
        for (const int i : {3, 4}) words[i] = std::int64_t{random()} << 32 | random();
    }
    if (Status status = ranks_.meet(mine, 0, words); !status.ok()) return status;
    std::copy(words.begin() + 2, words.end(), context_.stamp.begin());
    if ((words[0] & words[1]) != 0)
        return failure(TW_EMISMATCH,
                       "history: the declared coordinates or fields differ between ranks");
    return {};
}

Status History::ready() {
    std::vector<ResolvedStream> resolved;
    Status mine = detail::alone([&]() -> Status {
        if (ready_) return failure(TW_ESTATE, "tw_history_ready has been called before");
        if (Status status = resolve_all(resolved); !status.ok()) return status;
        return list_picks(resolved);
    });
    if (Status status = agree_on_declarations(mine); !status.ok()) return status;
    if (Status status = find_picks(); !status.ok()) return status;
    mine = detail::alone([&]() -> Status {
        if (Status status = make_variables(resolved); !status.ok()) return status;
        for (const auto& stream : streams_)
            stream->make_outputs([&](const std::vector<Variable*>& variables) {
                return coordinates_of(stream->table(), variables);
            });
        std::int64_t most = 0;
        for (const Variable* variable : all_variables())
            most = std::max(most,
                            variable->chosen().elements * detail::size_of(variable->about().type));
        values_.reserve(most);
        return {};
    });
    if (Status status = ranks_.meet(mine, 0, {}); !status.ok()) return status;
    Status status = declare_all();
    ready_ = status.ok();
    return status;
}

}  // namespace thalweg::history
