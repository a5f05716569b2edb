// The variables and attributes of a stream's files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "history/files/output.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::history {

namespace {

bool is_quantized(const Variable* variable) {
    return variable->packing.quantize != detail::Packing::Quantize::none;
}

/// Tests if some element of a variable may get the fill value. With a time dimension this is always
/// so, as a record may have no sample; without one, if the first step had none.
bool can_fill(const Variable& variable, bool timeless) {
    const Statistic& statistic = variable.about.statistic;
    return !timeless || !variable.samples.ever() || variable.mapping != nullptr ||
           statistic.missing != Missing::none || variable.about.type != statistic.type;
}

class FileDefinition {
public:
    FileDefinition(tw_file file, const FileContents& of, Aggregation* aggregation)
        : check_(*of.context.ranks), file_(file), of_(of), aggregation_(aggregation) {}

    Status define(const std::string& path) {
        if (!of_.timeless()) define_time();
        for (const auto& [c, dims, taken, data] : of_.coordinates) {
            const Part& part = taken->chosen.part;
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
    void define_dims(const Part& part, const std::vector<std::string>& dims) {
        const Integers length = lengths_of(dims, part.dims, part.shape);
        for (std::size_t d = 0; d < dims.size(); ++d)
            check_.unless(TW_EEXISTS, tw_def_dim(file_, dims[d].c_str(), length[d]));
    }

    void put_attributes(const std::string& variable, const std::vector<Attribute>& attributes) {
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
    void define_coordinate(const std::string& name, tw_type type,
                           const std::vector<std::string>& dims, tw_decomposition target) {
        check_(tw_def_var(file_, name.c_str(), type, joined_names(dims).c_str(), target));
        check_(tw_set_var(file_, name.c_str(), "quantize=no"));
    }

    /// Defines a variable with data, or, in an aggregation file, describes which files have them.
    void define_data(const std::string& name, tw_type type, const std::vector<std::string>& dims,
                     const Integers& shape) {
        if (aggregation_ != nullptr && !dims.empty())
            check_(aggregation_->define(file_, name, type, dims, shape,
                                        dims.front() == of_.context.table->time));
        else
            define_coordinate(name, type, dims, nullptr);
    }

    void define_variable(const Variable& variable) {
        std::vector<std::string> dims = variable.dims();
        const Part& part = variable.written().chosen.part;
        define_dims(part, dims);
        Integers shape = lengths_of(dims, part.dims, part.shape);
        if (!of_.timeless()) {
            dims.insert(dims.begin(), of_.context.table->time);
            shape.insert(shape.begin(), 0);
        }
        const tw_type type = variable.about.type;
        const char* name = variable.about.name.c_str();
        if (aggregation_ != nullptr)
            define_data(variable.about.name, type, dims, shape);
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
            variable.about.name,
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

Status define_file(tw_file file, const FileContents& contents, const std::string& path,
                   Aggregation* aggregation) {
    return FileDefinition(file, contents, aggregation).define(path);
}

}  // namespace thalweg::history
