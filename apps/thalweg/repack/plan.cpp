// SPDX-License-Identifier: Apache-2.0
#include "repack/plan.hpp"

#include <algorithm>

#include "base/text/nearest.hpp"
#include "base/text/text.hpp"
#include "choose/choose.hpp"
#include "inspect/inquiry.hpp"
#include "storage/chunked/filters.hpp"

namespace thalweg::app {

using detail::failure;
using detail::Status;

namespace {

constexpr int deflate_id = 1, shuffle_id = 2, zstd_id = 32015;

class Planner {
public:
    Planner(const Reader& in, const Inspection& inspection, const RepackOptions& options,
            RepackPlan& plan)
        : in_(in),
          inspection_(inspection),
          options_(options),
          plan_(plan),
          record_(in.inq().unlimited),
          unlimited_(unlimited_of(in, inspection)) {}

    Status run() {
        if (in_.inq().groups > 0)
            return failure(TW_EUNSUPPORTED, "it has {} groups; only the root group can be read",
                           in_.inq().groups);
        for (const UnlistedObject& o : inspection_.unlisted)
            return failure(TW_EUNSUPPORTED,
                           "{} has the HDF5 type {}, which netCDF-C does not list; it cannot be "
                           "read",
                           name_of(o), o.type);
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
            note_unlimited(name, record);
        }
        return {};
    }

    /// Notes that a dimension is unlimited in the input, but not in the output, where only the
    /// record dimension is.
    void note_unlimited(const std::string& name, bool record) {
        if (record && !has(unlimited_, name))
            plan_.notes["unlimited, as it has length 0"].push_back(name);
        if (!record && has(unlimited_, name) && !options_.fixed)
            plan_
                .notes[fmt::format("no longer unlimited; the output has one unlimited dimension, "
                                   "'{}'",
                                   record_)]
                .push_back(name);
    }

    Status add_attributes(const std::string& variable, detail::NamedList<detail::Attribute>& to) {
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

    /// Returns the settings that apply to all variables.
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
        if (options_.packing == "cmip7")
            add("packing", fmt::format("cmip7:{}", std::max<std::int64_t>(plan_.records, 1)));
        return settings;
    }

    /// Applies an option of the form VARIABLE:SETTINGS. The name may contain colons.
    Status set_variable(const std::string& setting) {
        auto colon = setting.find(':');
        if (colon == std::string::npos)
            return failure(TW_ESETTING, "'{}' is not of the form VARIABLE:NAME=VALUE", setting);
        detail::Definitions& d = plan_.definitions;
        for (auto at = colon; at != std::string::npos; at = setting.find(':', at + 1))
            if (d.find_variable(setting.substr(0, at)) >= 0) colon = at;
        return about(detail::set_variable(d, options_.input, setting.substr(0, colon),
                                          setting.substr(colon + 1)),
                     detail::OfFile{options_.input});
    }

    /// Checks the settings of all variables, even if no variable has two dimensions and uses them.
    Status check_of_all(const detail::VariableSettings& settings) const {
        const detail::Definitions& d = plan_.definitions;
        for (const std::string& dim : detail::unknown_chunks(d, settings)) {
            Names known;
            for (const detail::Dimension& known_dim : d.dims) known.push_back(known_dim.name);
            return failure(TW_ESETTING, "--chunks: there is no dimension '{}'{}", dim,
                           detail::did_you_mean(dim, known));
        }
        detail::Variable any;
        any.type = TW_DOUBLE;
        any.shape = {1, 1};
        detail::Definitions one{d.dims, {}, {}};
        one.dims.push_back({"", 1});
        any.dims = {static_cast<int>(d.dims.size()), static_cast<int>(d.dims.size())};
        return detail::choose_packing(one, settings, any);
    }

    Status choose_storage(const std::string& format) {
        detail::FileOptions file;
        file.format = format;
        file.packing = of_all();
        if (!detail::has_chunks(plan_.format) &&
            (!file.packing.empty() || !options_.variables.empty()))
            return failure(TW_ESETTING,
                           "format {} has no chunks or compression; use --format netcdf4", format);
        for (const std::string& setting : options_.variables)
            if (Status status = set_variable(setting); !status.ok()) return status;
        if (Status status = check_of_all(file.packing); !status.ok()) return status;
        std::vector<detail::Remark> remarks;
        Status status = detail::choose_format(file, plan_.definitions, plan_.format, remarks);
        if (!status.ok() || !detail::has_chunks(plan_.format)) return status;
        for (detail::Variable& v : plan_.definitions.variables) keep_storage(v, file.packing);
        return {};
    }

    /// Keeps the storage of the input for what the options do not change.
    void keep_storage(detail::Variable& v, const detail::VariableSettings& of_all) {
        const Storage has = in_.storage(v.name);
        const bool small = v.record && v.elements() * v.element() <= detail::small_record;
        if (has.chunks.empty() || (small && v.packing.cmip7 > 0)) return;
        const auto given = [&](const char* name) {
            return of_all.count(name) + v.settings.count(name) > 0;
        };
        detail::Packing& p = v.packing;
        if (!given("chunks") && !v.shape.empty() && v.packing.cmip7 == 0) {
            p.chunks.assign(has.chunks.begin() + (v.record ? 1 : 0), has.chunks.end());
            for (std::size_t d = 0; d < v.shape.size(); ++d)
                p.chunks[d] = std::min(p.chunks[d], v.shape[d]);
        }
        // Zarr's chunks of small records hold several in any case.
        const bool chosen = in_.inq().format != detail::name_of(detail::Format::zarr) &&
                            (!small || plan_.format != detail::Format::zarr);
        if (chosen && v.record && has.chunks.front() > 1 && v.packing.cmip7 == 0)
            plan_.notes[fmt::format("chunks have 1 record, not {}", has.chunks.front())].push_back(
                v.name);
        // A record with a single element would not become smaller by compression.
        if (v.shape.empty()) return;
        bool shuffled = false;
        for (const Storage::Filter& f : has.filters) {
            shuffled |= f.id == shuffle_id;
            const bool deflate = f.id == deflate_id || f.id == detail::gzip_filter;
            const bool codec = deflate || f.id == zstd_id;
            if (f.id == detail::crc32c_filter)
                plan_.notes["written without checksums"].push_back(v.name);
            else if (!codec && f.id != shuffle_id)
                plan_.notes[fmt::format("written without the filter {}", f.id)].push_back(v.name);
            if (!codec || given("deflate") || given("zstd")) continue;
            p.codec = deflate ? detail::Packing::Codec::deflate : detail::Packing::Codec::zstd;
            p.level = f.level;
        }
        if (!given("shuffle") && !given("deflate") && !given("zstd"))
            p.shuffle = shuffled && plan_.format != detail::Format::zarr;
    }

    const Reader& in_;
    const Inspection& inspection_;
    const RepackOptions& options_;
    RepackPlan& plan_;
    const std::string record_;
    const Names unlimited_;
};

}  // namespace

Status plan_repack(const Reader& in, const Inspection& inspection, const RepackOptions& options,
                   RepackPlan& plan) {
    Status status = Planner(in, inspection, options, plan).run();
    if (!status.ok() && status.place.file.empty())
        reword(status, "{}: {}", detail::OfFile{options.input}, status.text);
    return status;
}

}  // namespace thalweg::app
