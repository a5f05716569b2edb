// SPDX-License-Identifier: Apache-2.0
#include "repack_definitions.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "choose/choose.hpp"
#include "inquiry.hpp"

namespace thalweg::app {

using detail::failure;
using detail::Status;

namespace {

constexpr int deflate_id = 1, shuffle_id = 2, zstd_id = 32015;

class Planner {
public:
    Planner(const Reader& in, const RepackOptions& options, RepackPlan& plan)
        : in_(in), options_(options), plan_(plan), record_(in.unlimited()) {}

    Status run() {
        if (in_.groups() > 0)
            return failure(TW_EUNSUPPORTED, "it has {} groups; only the root group can be read",
                           in_.groups());
        const std::string format = options_.format.empty() ? in_.inq().format : options_.format;
        plan_.format = detail::format_of(format);
        plan_.records = options_.fixed ? 0 : in_.inq().records;
        Status status = add_dims();
        if (status.ok()) status = add_attributes("", plan_.definitions.attributes);
        for (const std::string& name : variables_of(in_))
            if (status.ok()) status = add_variable(name);
        return status.ok() ? choose_storage(format) : status;
    }

private:
    Status add_dims() {
        for (const std::string& name : dims_of(in_)) {
            const bool record = name == record_ && !options_.fixed;
            const std::int64_t length = in_.dim(name);
            if (!record && length == 0)
                return failure(TW_EFORMAT, "dimension '{}' has length 0 and cannot be written",
                               name);
            plan_.definitions.dims.push_back({name, record ? 0 : length});
        }
        return {};
    }

    Status add_attributes(const std::string& variable, std::vector<detail::Attribute>& to) {
        for (const std::string& name : attributes_of(in_, variable)) {
            AttributeValue value = attribute_of(in_, variable, name);
            if (value.type == Type::none)
                return failure(TW_EUNSUPPORTED,
                               "attribute '{}:{}' has several strings, or a user-defined type; "
                               "it cannot be read",
                               variable, name);
            detail::Attribute a;
            a.name = name;
            a.type = static_cast<tw_type>(value.type);
            a.n = static_cast<std::int64_t>(value.values.size() / detail::size_of(a.type));
            a.values = std::move(value.values);
            to.push_back(std::move(a));
        }
        return {};
    }

    Status add_variable(const std::string& name) {
        const Variable has = in_.var(name);
        if (has.type == Type::none)
            return failure(TW_EUNSUPPORTED,
                           "variable '{}' has strings or a user-defined type; it cannot be read",
                           name);
        detail::Variable v;
        v.name = name;
        v.type = static_cast<tw_type>(has.type);
        for (std::size_t d = 0; d < has.dims.size(); ++d) {
            const int dim = plan_.definitions.find_dim(has.dims[d]);
            const bool record = dim == plan_.definitions.record_dim();
            if (record && d > 0)
                return failure(TW_EUNSUPPORTED,
                               "variable '{}': its unlimited dimension '{}' is not the first one; "
                               "use --fixed",
                               name, has.dims[d]);
            v.dims.push_back(dim);
            if (record)
                v.record = true;
            else
                v.shape.push_back(has.shape[d]);
        }
        Status status = add_attributes(name, v.attributes);
        if (status.ok()) plan_.definitions.variables.push_back(std::move(v));
        return status;
    }

    /// Settings that hold for all variables.
    detail::VariableSettings of_all() const {
        detail::VariableSettings settings;
        const auto add = [&](const char* name, const std::string& value) {
            if (!value.empty()) settings[name] = value;
        };
        add("chunks", options_.chunks);
        add("deflate", options_.deflate);
        add("zstd", options_.zstd);
        add("shuffle", options_.shuffle);
        add("quantize", options_.quantize);
        return settings;
    }

    Status choose_storage(const std::string& format) {
        detail::FileOptions file;
        file.format = format;
        file.packing = of_all();
        if (!detail::is_netcdf4(plan_.format) &&
            (!file.packing.empty() || !options_.variables.empty()))
            return failure(TW_ESETTING,
                           "format {} has no chunks or compression; use --format netcdf4", format);
        for (const std::string& setting : options_.variables) {
            const auto colon = setting.find(':');
            if (colon == std::string::npos)
                return failure(TW_ESETTING, "'{}' is not of the form VARIABLE:NAME=VALUE", setting);
            Status status =
                detail::set_variable(plan_.definitions, options_.input, setting.substr(0, colon),
                                     setting.substr(colon + 1));
            if (!status.ok()) return status;
        }
        std::vector<detail::Remark> remarks;
        Status status = detail::choose_format(file, plan_.definitions, plan_.format, remarks);
        if (!status.ok() || !detail::is_netcdf4(plan_.format)) return status;
        for (detail::Variable& v : plan_.definitions.variables) keep_storage(v, file.packing);
        return {};
    }

    /// What the input has and the options leave open.
    void keep_storage(detail::Variable& v, const detail::VariableSettings& of_all) {
        const Storage has = in_.storage(v.name);
        if (has.chunks.empty()) return;
        const auto given = [&](const char* name) {
            return of_all.count(name) + v.settings.count(name) > 0;
        };
        detail::Packing& p = v.packing;
        if (!given("chunks") && !v.shape.empty()) {
            p.chunks.assign(has.chunks.begin() + (v.record ? 1 : 0), has.chunks.end());
            for (std::size_t d = 0; d < v.shape.size(); ++d)
                p.chunks[d] = std::min(p.chunks[d], v.shape[d]);
        }
        if (v.record && has.chunks.front() > 1)
            plan_.notes.push_back(fmt::format("variable '{}': its chunks have 1 record, not {}",
                                              v.name, has.chunks.front()));
        // A record of a single element does not become smaller.
        if (v.shape.empty()) return;
        bool shuffled = false;
        for (const Storage::Filter& f : has.filters) {
            shuffled |= f.id == shuffle_id;
            const bool codec = f.id == deflate_id || f.id == zstd_id;
            if (!codec && f.id != shuffle_id)
                plan_.notes.push_back(
                    fmt::format("variable '{}': written without the filter {}", v.name, f.id));
            if (!codec || given("deflate") || given("zstd")) continue;
            p.codec =
                f.id == deflate_id ? detail::Packing::Codec::deflate : detail::Packing::Codec::zstd;
            p.level = f.level;
        }
        if (!given("shuffle") && !given("deflate") && !given("zstd")) p.shuffle = shuffled;
    }

    const Reader& in_;
    const RepackOptions& options_;
    RepackPlan& plan_;
    const std::string record_;
};

}  // namespace

Status plan_repack(const Reader& in, const RepackOptions& options, RepackPlan& plan) {
    Status status = Planner(in, options, plan).run();
    if (!status.ok()) status.text = fmt::format("{}: {}", options.input, status.text);
    return status;
}

}  // namespace thalweg::app
