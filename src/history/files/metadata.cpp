// The variables and attributes of a history's files, and the coordinates that they need.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ctime>
#include <set>

#include "base/hash.hpp"
#include "definitions/definitions.hpp"
#include "definitions/packing.hpp"
#include "history/files/output.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::history {

namespace {

constexpr char naming_attributes[] =
    "coordinates bounds climatology cell_measures grid_mapping ancillary_variables formula_terms "
    "mesh node_coordinates face_coordinates edge_coordinates face_node_connectivity "
    "edge_node_connectivity face_edge_connectivity face_face_connectivity edge_face_connectivity";

/// Adds a declared variable to the coordinates, and then the variables that it needs itself.
void add_needed(const Coordinates& declared, const std::string& name, std::set<std::string>& names);

void add_named(const Coordinates& declared, const Names& dims, const Attributes& attributes,
               std::set<std::string>& names) {
    for (const std::string& dim : dims) add_needed(declared, dim, names);
    for (const std::string& attribute : split_dims(naming_attributes))
        for (const std::string& word : words_of(attributes, attribute))
            add_needed(declared, word, names);
}

void add_needed(const Coordinates& declared, const std::string& name,
                std::set<std::string>& names) {
    const auto found = declared.find(name);
    if (found == declared.end() || !names.insert(name).second) return;
    add_named(declared, found->second.dims, found->second.attributes, names);
}

std::string squared(const std::string& units) {
    if (units.empty() || units == "1") return units;
    const bool plain = std::all_of(units.begin(), units.end(),
                                   [](unsigned char c) { return std::isalpha(c) != 0; });
    return plain ? units + "2" : "(" + units + ")2";
}

/// Returns the product of two units.
std::string times(const std::string& units, const std::string& others) {
    return units.empty() || units == "1" ? others : units + " " + others;
}

std::string reduce_method(const StreamTable& stream, const Variable& variable) {
    if (variable.reduced.empty()) return {};
    constexpr std::array<std::string_view, 4> methods{"mean", "sum", "minimum", "maximum"};
    return fmt::format("{}: {}",
                       stream.reduce.over.empty() ? "area" : detail::joined(variable.reduced, ": "),
                       methods[static_cast<std::size_t>(*stream.reduce.op)]);
}

std::string all_cell_methods(const FileContext& context, const StreamTable& stream,
                             const Variable& variable) {
    if (variable.keys.cell_methods) return *variable.keys.cell_methods;
    const std::string own = text_of(variable.field.attributes, "cell_methods");
    Names methods{own};
    if (const std::string reduced = reduce_method(stream, variable); reduced != own)
        methods.push_back(reduced);
    const Field* const weight = variable.samples.weights.field;
    std::string interval;
    if (stream.interval && context.run.step > 0 && !variable.instant())
        interval = fmt::format("{} s", static_cast<double>(context.run.step) / one_second);
    Names comments;
    if (weight != nullptr) comments.push_back("weighted by " + weight->name);
    if (const std::string& condition = variable.field.condition; !condition.empty())
        comments.push_back("where " + condition);
    for (const Time& local : stream.timing.local_times)
        comments.push_back(fmt::format(
            "{}{} h", &local == stream.timing.local_times.data() ? "local solar time " : "",
            static_cast<double>(local) / one_hour));
    const std::string comment = detail::joined(comments, ", ");
    const Op op = variable.statistic.op;
    const bool day = stream.timing.cycle.kind() == Cycle::Kind::day;
    const auto over_time = std::ssize(methods);
    methods.push_back(
        stream.timing.cycle
            ? cell_methods(context.table->time, op, op, day ? "days" : "years", comment, "")
            : cell_methods(
                  context.table->time, op, variable.statistic.inner,
                  variable.inner ? duration_text({2, variable.inner->every.unit}).substr(2) : "",
                  comment, interval));
    if (variable.mapping && variable.mapping->map().conserves &&
        own.find("area: mean") == std::string::npos)
        methods.insert(variable.reduces_samples ? methods.begin() + over_time : methods.end(),
                       "area: mean");
    std::erase(methods, "");
    return detail::joined(methods, " ");
}

/// Returns a UUID of version 4.
std::string uuid(std::int64_t first, std::int64_t second, const std::string& path) {
    const std::uint64_t a = detail::hash_of(path, static_cast<std::uint64_t>(first));
    const std::uint64_t b = detail::hash_of(path, static_cast<std::uint64_t>(second));
    return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, a >> 16 & 0xffff, a & 0xfff,
                       (b >> 48 & 0x3fff) | 0x8000, b & 0xffffffffffff);
}

Attributes variable_attributes(const FileContext& context, const StreamTable& stream,
                               const Variable& variable) {
    Attributes attributes = variable.attributes;
    const auto set = [&](const char* name, const std::string& text) {
        if (!text.empty()) set_attribute(attributes, {name, text});
    };
    const Names temperatures =
        split_dims("K kelvin Kelvin degC Celsius celsius degrees_Celsius degF");
    for (const std::optional<Op> op :
         {variable.statistic.inner, std::optional(variable.statistic.op)}) {
        const bool differs = op == Op::std || op == Op::range || op == Op::difference;
        if (differs && has(temperatures, text_of(attributes, "units")))
            set("units_metadata", "temperature: difference");
        if (op && counts_valid(*op)) {
            const std::string standard_name = text_of(attributes, "standard_name");
            erase_attributes(attributes, "standard_name units_metadata");
            set("units", "1");
            if (op == Op::count && !standard_name.empty())
                set("standard_name", standard_name + " number_of_observations");
        }
        if (op != Op::mean_square && op != Op::rate) continue;
        const std::string units = text_of(attributes, "units");
        set("units", op == Op::mean_square ? squared(units)
                     : units.empty()       ? ""
                                           : times(units, "s-1"));
        erase_attributes(attributes, "standard_name units_metadata");
    }
    if (!variable.reduced.empty() && stream.reduce.op == ReduceOp::sum &&
        !counts_valid(variable.statistic.op))
        for (const std::string& weight : variable.weight_units) {
            const std::string units = text_of(attributes, "units");
            if (!weight.empty()) set("units", times(units, weight));
            erase_attributes(attributes, "standard_name");
        }
    set("cell_methods", all_cell_methods(context, stream, variable));
    if (variable.keys.units) set("units", *variable.keys.units);
    if (variable.keys.long_name) set("long_name", *variable.keys.long_name);
    if (variable.keys.standard_name) set("standard_name", *variable.keys.standard_name);
    for (const Attribute& attribute : variable.keys.attributes)
        set_attribute(attributes, attribute);
    return attributes;
}

/// @param bounds  attribute that names its bounds; empty: there are none
Attributes time_attributes(const FileContext& context, const std::string& bounds) {
    Attributes attributes{{"standard_name", "time"},
                          {"long_name", "time"},
                          {"units", context.table->time_units.text},
                          {"calendar", std::string(calendar_name(context.run.calendar))},
                          {"axis", "T"}};
    const Calendar calendar = context.run.calendar;
    if (calendar == Calendar::standard || calendar == Calendar::proleptic_gregorian ||
        calendar == Calendar::julian)
        attributes.push_back({"units_metadata", "leap_seconds: none"});
    if (!bounds.empty()) attributes.push_back({bounds, context.table->bounds});
    return attributes;
}

/// @param quantized  some of its variables are quantized
/// @param series  its variables are time series at stations
Attributes file_attributes(const FileContext& context, const StreamTable& stream,
                           const std::string& path, bool quantized, bool series) {
    Attributes attributes{{"Conventions", stream.reduce.zoom >= 0 ? "CF-1.13"
                                          : quantized             ? "CF-1.12"
                                                                  : "CF-1.11"}};
    if (series) attributes.push_back({"featureType", "timeSeries"});
    for (const auto* list : {&context.table->attributes, &stream.attributes})
        for (const Attribute& attribute : *list) set_attribute(attributes, attribute);
    if (!context.table->stamp_files) return attributes;
    char date[32];
    const auto seconds = static_cast<std::time_t>(context.stamp[0]);
    std::tm parts{};
    (void)std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &parts));
    set_attribute(attributes, {"creation_date", std::string(date)});
    set_attribute(attributes, {"history", std::string(date) + " written by Thalweg"});
    set_attribute(attributes, {"tracking_id", context.table->tracking_prefix +
                                                  uuid(context.stamp[1], context.stamp[2], path)});
    return attributes;
}

std::string variable_settings(const Variable& variable) {
    const FieldKeys& keys = variable.keys;
    std::string settings;
    if (keys.chunks) settings += "chunks=" + *keys.chunks + ";";
    // CF does not allow that terms of formulas are quantized.
    if (variable.term)
        settings += "quantize=no;";
    else if (keys.quantize)
        settings += "quantize=" + *keys.quantize + ";";
    return settings;
}

bool is_quantized(const Variable* variable) {
    return variable->packing.quantize != detail::Packing::Quantize::none;
}

/// Tests if some element of a variable may get the fill value. With a time dimension this is always
/// so, as a record may have no sample; without one, if the first step had none.
bool can_fill(const Variable& variable, bool timeless) {
    const Statistic& statistic = variable.statistic;
    return !timeless || !variable.samples.ever() || variable.mapping != nullptr ||
           statistic.missing != Missing::none || variable.type != statistic.type;
}

class FileDefinition {
public:
    FileDefinition(tw_file file, const FileContents& of, Aggregation* aggregation)
        : check_(*of.context.ranks), file_(file), of_(of), aggregation_(aggregation) {}

    Status define(const std::string& path) {
        if (!of_.timeless()) define_time();
        for (const auto& [c, dims, taken, data] : of_.coordinates) {
            const Part& part = taken->part;
            define_dims(part, dims);
            // Every rank has all of a coordinate without a decomposition, so it is small.
            if (aggregation_ != nullptr && !part.replicated)
                define_data(c->name, c->type, dims, lengths_of(dims, part.dims, part.shape));
            else
                define_coordinate(c->name, c->type, dims, taken->target);
            put_attributes(c->name, c->attributes);
        }
        for (const Variable* variable : of_.variables)
            if (variable->is_first()) define_variable(*variable);
        const bool quantized = std::ranges::any_of(of_.variables, is_quantized);
        const bool series =
            !of_.timeless() && std::ranges::all_of(of_.variables, [](const Variable* variable) {
                return variable->pick.dim == "station" && variable->dims().size() == 1;
            });
        put_attributes("", file_attributes(of_.context, of_.stream, path, quantized, series));
        if (aggregation_ != nullptr) put_attributes("", {{"Conventions", "CF-1.13"}});
        return check_.status;
    }

private:
    void define_dims(const Part& part, const Names& dims) {
        const Integers length = lengths_of(dims, part.dims, part.shape);
        for (std::size_t d = 0; d < dims.size(); ++d)
            check_.unless(TW_EEXISTS, tw_def_dim(file_, dims[d].c_str(), length[d]));
    }

    void put_attributes(const std::string& variable, const Attributes& attributes) {
        const auto put = [&](const std::string& name, tw_type type, const auto& values) {
            check_(tw_put_att(file_, variable.c_str(), name.c_str(), type, std::ssize(values),
                              values.data()));
        };
        for (const auto& [name, value] : attributes)
            if (const auto* text = std::get_if<std::string>(&value)) {
                check_(tw_put_att_text(file_, variable.c_str(), name.c_str(), text->c_str()));
            } else if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
                put(name, TW_DOUBLE, *reals);
            } else if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&value)) {
                // The classic formats have no 64-bit integers.
                const std::vector<std::int32_t> small(whole->begin(), whole->end());
                if (std::ranges::equal(*whole, small))
                    put(name, TW_INT, small);
                else
                    put(name, TW_INT64, *whole);
            }
    }

    void define_time() {
        const std::string& time = of_.context.table->time;
        const std::string& bounds_dim = of_.context.table->bounds_dim;
        const std::int64_t length = aggregation_ ? aggregation_->records() : TW_UNLIMITED;
        check_(tw_def_dim(file_, time.c_str(), length));
        if (!of_.rules.instant) check_(tw_def_dim(file_, bounds_dim.c_str(), 2));
        define_data(time, TW_DOUBLE, {time}, {length});
        put_attributes(time, time_attributes(of_.context, of_.rules.instant         ? ""
                                                          : of_.stream.timing.cycle ? "climatology"
                                                                                    : "bounds"));
        if (!of_.rules.instant)
            define_data(of_.context.table->bounds, TW_DOUBLE, {time, bounds_dim}, {length, 2});
    }

    /// Defines a variable that is not quantized, whatever the file's settings.
    void define_coordinate(const std::string& name, tw_type type, const Names& dims,
                           tw_decomposition target) {
        check_(tw_def_var(file_, name.c_str(), type, joined_names(dims).c_str(), target));
        check_(tw_set_var(file_, name.c_str(), "quantize=no"));
    }

    /// Defines a variable with data, or, in an aggregation file, describes which files have them.
    void define_data(const std::string& name, tw_type type, const Names& dims,
                     const Integers& shape) {
        if (aggregation_ != nullptr && !dims.empty())
            check_(aggregation_->define(file_, name, type, dims, shape,
                                        dims.front() == of_.context.table->time));
        else
            define_coordinate(name, type, dims, nullptr);
    }

    void define_variable(const Variable& variable) {
        Names dims = variable.dims();
        const Part& part = variable.written().part;
        define_dims(part, dims);
        Integers shape = lengths_of(dims, part.dims, part.shape);
        if (!of_.timeless()) {
            dims.insert(dims.begin(), of_.context.table->time);
            shape.insert(shape.begin(), 0);
        }
        const tw_type type = variable.type;
        const char* name = variable.name.c_str();
        if (aggregation_ != nullptr)
            define_data(variable.name, type, dims, shape);
        else
            check_(tw_def_var(file_, name, type, joined_names(dims).c_str(),
                              variable.written().target));
        put_attributes(name, variable_attributes(of_.context, of_.stream, variable));
        if (can_fill(variable, of_.timeless()))
            for (const char* attribute : {"_FillValue", "missing_value"})
                check_(tw_put_att(file_, name, attribute, type, 1, variable.fill.data()));
        const std::string settings = aggregation_ ? std::string() : variable_settings(variable);
        if (!settings.empty()) check_(tw_set_var(file_, name, settings.c_str()));
        define_quantization(variable);
    }

    /// Describes how a variable is quantized, as CF demands: with its own digits, and with a
    /// variable for each method in the file, whose type has no meaning.
    void define_quantization(const Variable& variable) {
        using Quantize = detail::Packing::Quantize;
        const Quantize method = variable.packing.quantize;
        if (method == Quantize::none) return;
        const std::string algorithm = method == Quantize::bitgroom     ? "bitgroom"
                                      : method == Quantize::granularbr ? "granular_bitround"
                                                                       : "bitround";
        const bool alike = std::ranges::all_of(of_.variables, [&](const Variable* other) {
            return !is_quantized(other) || other->packing.quantize == method;
        });
        const std::string info = alike ? "quantization_info" : "quantization_info_" + algorithm;
        const std::string digits =
            method == Quantize::bitround ? "quantization_nsb" : "quantization_nsd";
        put_attributes(
            variable.name,
            {{"quantization", info}, {digits, std::vector<std::int64_t>{variable.packing.digits}}});
        if (!check_.unless(TW_EEXISTS, tw_def_var(file_, info.c_str(), TW_INT, "", nullptr)))
            return;
        const std::string version =
            fmt::format("{}.{}.{}", TW_VERSION_MAJOR, TW_VERSION_MINOR, TW_VERSION_PATCH);
        put_attributes(info, {{"algorithm", algorithm}, {"implementation", "Thalweg " + version}});
    }

    Checks check_;
    tw_file file_;
    const FileContents& of_;
    Aggregation* const aggregation_;
};

}  // namespace

std::vector<const Coordinate*> needed_coordinates(const Coordinates& declared,
                                                  const std::vector<Variable*>& variables,
                                                  const std::set<std::string>& others) {
    std::set<std::string> names = others;
    for (const Variable* variable : variables) {
        Names dims = variable->dims();
        if (const Mapping* const mapping = variable->mapping.get())
            std::erase_if(dims,
                          [&](const auto& dim) { return place_of(dim, mapping->map().dims) >= 0; });
        add_named(declared, dims, variable->attributes, names);
    }
    for (const Variable* variable : variables) names.erase(variable->name);
    for (const std::string& other : others) names.erase(other);
    std::vector<const Coordinate*> needed;
    for (const std::string& name : names) needed.push_back(&declared.at(name));
    return needed;
}

Names formula_terms(const Coordinates& declared, const Names& dims, const Attributes& attributes) {
    std::set<std::string> names;
    add_named(declared, dims, attributes, names);
    Names terms;
    for (const std::string& name : names)
        for (const std::string& word : words_of(declared.at(name).attributes, "formula_terms"))
            terms.push_back(word);
    return terms;
}

Status choose_packing(const Table& table, const StreamTable& stream, const Names& dims,
                      const Part& part, Variable& variable) {
    const detail::VariableSettings of_files{{"quantize", stream.quantize.value_or("no")}};
    detail::Definitions file;
    detail::Variable v;
    v.name = variable.name;
    v.type = variable.type;
    v.record = !variable.once();
    if (v.record) file.dims.push_back({table.time, 0});
    v.shape = lengths_of(dims, part.dims, part.shape);
    for (std::size_t d = 0; d < dims.size(); ++d) file.dims.push_back({dims[d], v.shape[d]});
    for (int d = 0; d < static_cast<int>(file.dims.size()); ++d) v.dims.push_back(d);
    Status status = detail::add_settings(variable_settings(variable), v.settings);
    if (status.ok()) status = detail::choose_packing(file, of_files, v);
    if (stream.packs()) variable.packing = v.packing;
    return status;
}

void Variable::set_pick(const Pick& of, const Names& names) {
    pick = of;
    Names listed = words_of(attributes, "coordinates");
    for (const std::string& each : names)
        if (place_of(each, listed) < 0) listed.push_back(each);
    if (!listed.empty()) set_attribute(attributes, {"coordinates", joined_names(listed)});
    erase_attributes(attributes, "mesh location");
}

void Variable::set_reduced(const Coordinates& coordinates, Names units) {
    weight_units = std::move(units);
    const Names dims = this->dims();
    Names names = words_of(attributes, "coordinates");
    std::erase_if(names, [&](const std::string& each) {
        const auto found = coordinates.find(each);
        return found != coordinates.end() &&
               std::ranges::any_of(found->second.dims, [&](const auto& dim) {
                   return place_of(dim, dims) < 0 ||
                          (mapping != nullptr && place_of(dim, mapping->replaced()) >= 0);
               });
    });
    const std::string kept = joined_names(names);
    erase_attributes(attributes,
                     "coordinates mesh location cell_measures grid_mapping ancillary_variables");
    if (!kept.empty()) set_attribute(attributes, {"coordinates", kept});
    if (mapping == nullptr) return;
    for (Attribute attribute : mapping->map().attributes) {
        if (attribute.name == "coordinates" && !kept.empty())
            attribute.value = kept + " " + std::get<std::string>(attribute.value);
        set_attribute(attributes, std::move(attribute));
    }
}

Names Variable::dims() const {
    const Names& own = field.dims;
    if (mapping != nullptr) return mapping->dims();
    return reduction ? reduced_dims(own, reduced, reduction->grouping->region_dim)
                     : picked_dims(own, pick);
}

Status define_file(tw_file file, const FileContents& contents, const std::string& path,
                   Aggregation* aggregation) {
    return FileDefinition(file, contents, aggregation).define(path);
}

}  // namespace thalweg::history
