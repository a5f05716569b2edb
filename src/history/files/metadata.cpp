// The attributes of CF that a history writes, and the coordinates that its files need.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ctime>
#include <set>

#include "base/hash.hpp"
#include "definitions/definitions.hpp"
#include "definitions/packing.hpp"
#include "history/files/output.hpp"

namespace thalweg::history {

namespace {

constexpr char naming_attributes[] =
    "coordinates bounds climatology cell_measures grid_mapping ancillary_variables formula_terms "
    "mesh node_coordinates face_coordinates edge_coordinates face_node_connectivity "
    "edge_node_connectivity face_edge_connectivity face_face_connectivity edge_face_connectivity";

using Declared = std::map<std::string, Coordinate>;

/// Adds a declared variable to the coordinates, and then the variables that it needs itself.
void add_needed(const Declared& declared, const std::string& name, std::set<std::string>& names);

void add_named(const Declared& declared, const std::vector<std::string>& dims,
               const std::vector<Attribute>& attributes, std::set<std::string>& names) {
    for (const std::string& dim : dims) add_needed(declared, dim, names);
    for (const std::string& attribute : split_dims(naming_attributes))
        for (const std::string& word : words_of(attributes, attribute))
            add_needed(declared, word, names);
}

void add_needed(const Declared& declared, const std::string& name, std::set<std::string>& names) {
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

bool is_temperature(const std::string& units) {
    return place_of(units,
                    split_dims("K kelvin Kelvin degC Celsius celsius degrees_Celsius degF")) >= 0;
}

std::string plural_unit(const Duration& duration) {
    const std::string text = duration_text({2, duration.unit});
    return text.substr(text.find(' ') + 1);
}

std::string reduce_method(const StreamTable& stream, const Variable& variable) {
    const std::vector<std::string>& dims = variable.about.reduced;
    if (dims.empty()) return {};
    constexpr std::array<std::string_view, 4> methods{"mean", "sum", "minimum", "maximum"};
    const std::string over = stream.reduce.over.empty() ? "area" : detail::joined(dims, ": ");
    return (over + ": ").append(methods[static_cast<std::size_t>(*stream.reduce.op)]);
}

void set_units_of_sum(const std::string& weight_units, std::vector<Attribute>& attributes) {
    const std::string units = text_of(attributes, "units");
    const std::string before = units.empty() || units == "1" ? "" : units + " ";
    if (!weight_units.empty()) set_attribute(attributes, {"units", before + weight_units});
    erase_attributes(attributes, "standard_name");
}

std::string all_cell_methods(const FileContext& context, const StreamTable& stream,
                             const Variable& variable) {
    const StreamField& about = variable.about;
    if (about.keys.cell_methods) return *about.keys.cell_methods;
    const std::string own = text_of(variable.field.attributes, "cell_methods");
    std::vector<std::string> methods{own};
    if (const std::string reduced = reduce_method(stream, variable); reduced != own)
        methods.push_back(reduced);
    const Field* const weight = variable.samples.weights().field();
    std::string interval;
    if (stream.interval && context.run.step > 0 && !variable.instant())
        interval = fmt::format("{} s", static_cast<double>(context.run.step) / one_second);
    std::vector<std::string> comments;
    if (weight != nullptr) comments.push_back("weighted by " + weight->declared.name);
    if (const std::string& condition = variable.field.declared.condition; !condition.empty())
        comments.push_back("where " + condition);
    for (const Time& local : stream.timing.local_times)
        comments.push_back(fmt::format(
            "{}{} h", &local == stream.timing.local_times.data() ? "local solar time " : "",
            static_cast<double>(local) / one_hour));
    const std::string comment = detail::joined(comments, ", ");
    const Op op = about.statistic.op;
    const bool day = stream.timing.cycle.kind() == Cycle::Kind::day;
    const auto over_time = std::ssize(methods);
    methods.push_back(
        stream.timing.cycle
            ? cell_methods(context.table->time, op, op, day ? "days" : "years", comment, "")
            : cell_methods(context.table->time, op, about.statistic.inner,
                           about.inner ? plural_unit(about.inner->every) : "", comment, interval));
    if (variable.mapping && variable.mapping->map().conserves &&
        own.find("area: mean") == std::string::npos)
        methods.insert(about.reduces_samples ? methods.begin() + over_time : methods.end(),
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

}  // namespace

std::vector<const Coordinate*> needed_coordinates(const Declared& declared,
                                                  const std::vector<Variable*>& variables,
                                                  const std::set<std::string>& others) {
    std::set<std::string> names = others;
    for (const Variable* variable : variables) {
        std::vector<std::string> dims = variable->dims();
        if (const Mapping* const mapping = variable->mapping.get())
            std::erase_if(dims,
                          [&](const auto& dim) { return place_of(dim, mapping->map().dims) >= 0; });
        add_named(declared, dims, variable->attributes, names);
    }
    for (const Variable* variable : variables) names.erase(variable->about.name);
    for (const std::string& other : others) names.erase(other);
    std::vector<const Coordinate*> needed;
    for (const std::string& name : names) needed.push_back(&declared.at(name));
    return needed;
}

std::vector<std::string> formula_terms(const Declared& declared,
                                       const std::vector<std::string>& dims,
                                       const std::vector<Attribute>& attributes) {
    std::set<std::string> names;
    add_named(declared, dims, attributes, names);
    std::vector<std::string> terms;
    for (const std::string& name : names)
        for (const std::string& word : words_of(declared.at(name).attributes, "formula_terms"))
            terms.push_back(word);
    return terms;
}

std::vector<Attribute> variable_attributes(const FileContext& context, const StreamTable& stream,
                                           const Variable& variable) {
    const StreamField& about = variable.about;
    std::vector<Attribute> attributes = variable.attributes;
    const auto set = [&](const char* name, const std::string& text) {
        if (!text.empty()) set_attribute(attributes, {name, text});
    };
    for (const std::optional<Op> op : {about.statistic.inner, std::optional(about.statistic.op)}) {
        const bool differs = op == Op::std || op == Op::range || op == Op::difference;
        if (differs && is_temperature(text_of(attributes, "units")))
            set("units_metadata", "temperature: difference");
        if (counts_valid(*op)) {
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
                                           : (units == "1" ? "" : units + " ") + "s-1");
        erase_attributes(attributes, "standard_name units_metadata");
    }
    if (!about.reduced.empty() && stream.reduce.op == ReduceOp::sum &&
        !counts_valid(about.statistic.op))
        for (const std::string& weight : variable.weight_units)
            set_units_of_sum(weight, attributes);
    set("cell_methods", all_cell_methods(context, stream, variable));
    if (about.keys.units) set("units", *about.keys.units);
    if (about.keys.long_name) set("long_name", *about.keys.long_name);
    if (about.keys.standard_name) set("standard_name", *about.keys.standard_name);
    for (const Attribute& attribute : about.keys.attributes) set_attribute(attributes, attribute);
    return attributes;
}

std::vector<Attribute> time_attributes(const FileContext& context, const std::string& bounds) {
    std::vector<Attribute> attributes{
        {"standard_name", "time"},
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

std::vector<Attribute> file_attributes(const FileContext& context, const StreamTable& stream,
                                       const std::string& path, bool quantized, bool series) {
    std::vector<Attribute> attributes{{"Conventions", stream.reduce.zoom >= 0 ? "CF-1.13"
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
    const FieldKeys& keys = variable.about.keys;
    std::string settings;
    if (keys.chunks) settings += "chunks=" + *keys.chunks + ";";
    // CF does not allow that terms of formulas are quantized.
    if (variable.about.term)
        settings += "quantize=no;";
    else if (keys.quantize)
        settings += "quantize=" + *keys.quantize + ";";
    return settings;
}

Status choose_packing(const FileContext& context, const std::string& files,
                      const std::vector<std::string>& dims, const Part& part, Variable& variable) {
    const std::string all = context.settings + ";" + files;
    detail::VariableSettings of_files{{"quantize", context.ranks->setting(all, "quantize")}};
    detail::Definitions file;
    detail::Variable v;
    v.name = variable.about.name;
    v.type = variable.about.type;
    v.record = !variable.once();
    if (v.record) file.dims.push_back({context.table->time, 0});
    v.shape = lengths_of(dims, part.dims, part.shape);
    for (std::size_t d = 0; d < dims.size(); ++d) file.dims.push_back({dims[d], v.shape[d]});
    for (int d = 0; d < static_cast<int>(file.dims.size()); ++d) v.dims.push_back(d);
    Status status = detail::add_settings(variable_settings(variable), v.settings);
    if (status.ok()) status = detail::choose_packing(file, of_files, v);
    const std::string format = context.ranks->setting(all, "format");
    if (format.starts_with("netcdf4") || format == "zarr" ||
        (format == "auto" && context.ranks->setting(all, "storage") == "netcdf4"))
        variable.packing = v.packing;
    return status;
}

void Variable::set_pick(const Pick& of, const std::vector<std::string>& names) {
    pick = of;
    std::vector<std::string> listed = words_of(attributes, "coordinates");
    for (const std::string& name : names)
        if (place_of(name, listed) < 0) listed.push_back(name);
    if (!listed.empty()) set_attribute(attributes, {"coordinates", joined_names(listed)});
    erase_attributes(attributes, "mesh location");
}

void Variable::set_reduced(const std::map<std::string, Coordinate>& declared,
                           std::vector<std::string> units) {
    weight_units = std::move(units);
    const std::vector<std::string> dims = this->dims();
    std::vector<std::string> names = words_of(attributes, "coordinates");
    std::erase_if(names, [&](const std::string& name) {
        const auto found = declared.find(name);
        return found != declared.end() &&
               std::ranges::any_of(found->second.dims, [&](const auto& dim) {
                   return place_of(dim, dims) < 0 ||
                          (mapping != nullptr && place_of(dim, mapping->replaced()) >= 0);
               });
    });
    const std::string kept = joined_names(names);
    erase_attributes(attributes,
                     "coordinates mesh location cell_measures grid_mapping "
                     "ancillary_variables");
    if (!kept.empty()) set_attribute(attributes, {"coordinates", kept});
    if (mapping == nullptr) return;
    for (Attribute attribute : mapping->map().attributes) {
        if (attribute.name == "coordinates" && !kept.empty())
            attribute.value = kept + " " + std::get<std::string>(attribute.value);
        set_attribute(attributes, std::move(attribute));
    }
}

std::vector<std::string> Variable::dims() const {
    const std::vector<std::string>& own = field.declared.dims;
    if (mapping != nullptr) return mapping->dims();
    return reduction ? reduced_dims(own, about.reduced, reduction->region_dim())
                     : picked_dims(own, pick);
}

}  // namespace thalweg::history
