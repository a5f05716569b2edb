// The variables and attributes of a stream's files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "history/files/output.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::history {

namespace {

bool is_quantized(const Variable* variable) {
    return variable->packing().quantize != detail::Packing::Quantize::none;
}

/// Tests if some element of a variable may get the fill value. With a time dimension this is always
/// so, as a record may have no sample; without one, if the first step had none.
bool can_fill(const Variable& variable, bool timeless) {
    const Statistic& statistic = variable.about().statistic;
    return !timeless || !variable.samples().ever() || variable.mapping() != nullptr ||
           statistic.missing != Missing::none || variable.about().type != statistic.type;
}

class FileDefinition {
public:
    FileDefinition(tw_file file, const FileContext& context, const StreamTable& stream,
                   const WindowRules& rules, const std::vector<Variable*>& variables,
                   Aggregation* aggregation)
        : file_(file),
          context_(context),
          stream_(stream),
          rules_(rules),
          variables_(variables),
          aggregation_(aggregation) {}

    Status define(const std::vector<WrittenCoordinate>& coordinates, const std::string& path) {
        Status status = timeless() ? Status{} : define_time();
        for (const auto& [c, dims, taken, data] : coordinates) {
            keep_first(status, define_dims(taken->chosen.part, dims));
            // Every rank has all of a coordinate without a decomposition, so it is small.
            if (aggregation_ != nullptr && !taken->chosen.part.replicated)
                keep_first(status, define_data(c->name, c->type, dims,
                                               lengths_of(dims, taken->chosen.part.dims,
                                                          taken->chosen.part.shape),
                                               nullptr));
            else
                keep_first(status, define_coordinate(c->name, c->type, dims, taken->target));
            keep_first(status, put_attributes(c->name, c->attributes));
        }
        for (const Variable* variable : variables_)
            if (variable->is_first()) keep_first(status, define_variable(*variable));
        const bool quantized = std::ranges::any_of(variables_, is_quantized);
        const bool series =
            !timeless() && std::ranges::all_of(variables_, [](const Variable* variable) {
                return variable->pick().dim == "station" && variable->dims().size() == 1;
            });
        keep_first(status,
                   put_attributes("", file_attributes(context_, stream_, path, quantized, series)));
        if (aggregation_ != nullptr)
            keep_first(status, put_attributes("", {{"Conventions", "CF-1.13"}}));
        return status;
    }

private:
    Status define_dims(const Part& part, const std::vector<std::string>& dims) {
        Status status;
        const Integers length = lengths_of(dims, part.dims, part.shape);
        for (std::size_t d = 0; d < dims.size(); ++d) {
            const tw_status code = tw_def_dim(file_, dims[d].c_str(), length[d]);
            if (code != TW_EEXISTS) keep_first(status, check(code));
        }
        return status;
    }

    Status put_attributes(const std::string& variable, const std::vector<Attribute>& attributes) {
        Status status;
        for (const Attribute& attribute : attributes) {
            const char* var = variable.c_str();
            const char* name = attribute.name.c_str();
            if (const auto* text = std::get_if<std::string>(&attribute.value))
                keep_first(status, check(tw_put_att_text(file_, var, name, text->c_str())));
            else if (const auto* reals = std::get_if<std::vector<double>>(&attribute.value))
                keep_first(status, check(tw_put_att(file_, var, name, TW_DOUBLE, std::ssize(*reals),
                                                    reals->data())));
            else if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
                // The classic formats have no 64-bit integers.
                const std::vector<std::int32_t> small(whole->begin(), whole->end());
                const bool fits = std::equal(whole->begin(), whole->end(), small.begin());
                keep_first(status, fits ? check(tw_put_att(file_, var, name, TW_INT,
                                                           std::ssize(small), small.data()))
                                        : check(tw_put_att(file_, var, name, TW_INT64,
                                                           std::ssize(*whole), whole->data())));
            }
        }
        return status;
    }

    Status define_time() {
        const std::string& time = context_.table->time;
        const bool bounds = !rules_.instant;
        const std::int64_t length = aggregation_ ? aggregation_->records() : TW_UNLIMITED;
        Status status = check(tw_def_dim(file_, time.c_str(), length));
        if (bounds)
            keep_first(status, check(tw_def_dim(file_, context_.table->bounds_dim.c_str(), 2)));
        keep_first(status, define_data(time, TW_DOUBLE, {time}, {length}, nullptr));
        keep_first(status, put_attributes(time, time_attributes(context_, !bounds ? ""
                                                                          : stream_.timing.cycle
                                                                              ? "climatology"
                                                                              : "bounds")));
        if (!bounds) return status;
        keep_first(status, define_data(context_.table->bounds, TW_DOUBLE,
                                       {time, context_.table->bounds_dim}, {length, 2}, nullptr));
        return status;
    }

    /// Defines a variable that is not quantized, also if the file's settings quantize all
    /// variables.
    Status define_coordinate(const std::string& name, tw_type type,
                             const std::vector<std::string>& dims, tw_decomposition target) {
        Status status =
            check(tw_def_var(file_, name.c_str(), type, joined_names(dims).c_str(), target));
        keep_first(status, check(tw_set_var(file_, name.c_str(), "quantize=no")));
        return status;
    }

    /// Defines a variable with data, or, in an aggregation file, describes which files have them.
    Status define_data(const std::string& name, tw_type type, const std::vector<std::string>& dims,
                       const Integers& shape, tw_decomposition target) {
        if (aggregation_ != nullptr && !dims.empty())
            return aggregation_->define(file_, name, type, dims, shape,
                                        dims.front() == context_.table->time);
        return define_coordinate(name, type, dims, target);
    }

    Status define_variable(const Variable& variable) {
        std::vector<std::string> dims = variable.dims();
        Status status = define_dims(variable.written().chosen.part, dims);
        const Part& part = variable.written().chosen.part;
        Integers shape = lengths_of(dims, part.dims, part.shape);
        if (!timeless()) {
            dims.insert(dims.begin(), context_.table->time);
            shape.insert(shape.begin(), 0);
        }
        const tw_type type = variable.about().type;
        const char* name = variable.name().c_str();
        if (aggregation_ != nullptr)
            keep_first(status, define_data(variable.name(), type, dims, shape, nullptr));
        else
            keep_first(status, check(tw_def_var(file_, name, type, joined_names(dims).c_str(),
                                                variable.written().target)));
        keep_first(status, put_attributes(name, variable_attributes(context_, stream_, variable)));
        if (can_fill(variable, timeless()))
            for (const char* attribute : {"_FillValue", "missing_value"})
                keep_first(status, check(tw_put_att(file_, name, attribute, type, 1,
                                                    variable.fill().data())));
        const std::string settings = aggregation_ ? std::string() : variable_settings(variable);
        if (!settings.empty()) keep_first(status, check(tw_set_var(file_, name, settings.c_str())));
        keep_first(status, define_quantization(variable));
        return status;
    }

    /// Describes how a variable is quantized, as CF demands: with its own digits, and with a
    /// variable for each method in the file, whose type has no meaning: not char, which Zarr lacks.
    Status define_quantization(const Variable& variable) {
        using Quantize = detail::Packing::Quantize;
        const Quantize method = variable.packing().quantize;
        if (method == Quantize::none) return {};
        const std::string algorithm = method == Quantize::bitgroom     ? "bitgroom"
                                      : method == Quantize::granularbr ? "granular_bitround"
                                                                       : "bitround";
        const bool alike = std::ranges::all_of(variables_, [&](const Variable* other) {
            return !is_quantized(other) || other->packing().quantize == method;
        });
        const std::string info = alike ? "quantization_info" : "quantization_info_" + algorithm;
        const std::string digits =
            method == Quantize::bitround ? "quantization_nsb" : "quantization_nsd";
        Status status = put_attributes(
            variable.name(), {{"quantization", info},
                              {digits, std::vector<std::int64_t>{variable.packing().digits}}});
        const tw_status code = tw_def_var(file_, info.c_str(), TW_INT, "", nullptr);
        if (code == TW_EEXISTS) return status;
        keep_first(status, check(code));
        keep_first(status,
                   put_attributes(info, {{"algorithm", algorithm},
                                         {"implementation",
                                          fmt::format("Thalweg {}.{}.{}", TW_VERSION_MAJOR,
                                                      TW_VERSION_MINOR, TW_VERSION_PATCH)}}));
        return status;
    }

    Status check(tw_status code) const { return context_.ranks->status(code); }
    bool timeless() const { return rules_.every == Every::once; }

    tw_file file_;
    const FileContext& context_;
    const StreamTable& stream_;
    const WindowRules& rules_;
    const std::vector<Variable*>& variables_;
    Aggregation* const aggregation_;
};

}  // namespace

Status define_file(tw_file file, const FileContext& context, const StreamTable& stream,
                   const WindowRules& rules, const std::vector<Variable*>& variables,
                   const std::vector<WrittenCoordinate>& coordinates, const std::string& path,
                   Aggregation* aggregation) {
    return FileDefinition(file, context, stream, rules, variables, aggregation)
        .define(coordinates, path);
}

}  // namespace thalweg::history
