// SPDX-License-Identifier: Apache-2.0
#include "dataset/define_mode.hpp"

#include <unistd.h>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "definitions/adopt.hpp"
#include "storage/netcdf4/index/undo.hpp"
#include "storage/tiles/tiles.hpp"
#include "storage/zarr/metadata.hpp"

namespace thalweg::detail {

namespace {

Status take_back(const std::string& path) {
    bool undone = false;
    Status status = undo(path, undone);
    if (undone)
        log::warn(
            "{}: a run was killed while it changed its definitions; they are again as they "
            "were before",
            path);
    return status;
}

}  // namespace

Status DefineMode::open_existing() {
    // Revert a change of the file that a killed run has left incomplete.
    Status status;
    if (file_.team.rank() == 0 && !file_.in_files())
        status = take_back(file_.path);
    else if (file_.team.rank() == 0)
        for (int k = 0; status.ok() && access(tile_path(file_.path, k).c_str(), F_OK) == 0; ++k)
            status = take_back(tile_path(file_.path, k));
    if (status = file_.team.agree(status); !status.ok()) return status;
    source_ = open_source(file_.team.world(), file_.path, false, status);
    if (!status.ok()) return status;
    file_.existing.is = true;
    file_.existing.first = file_.existing.kept = source_->records();
    return file_.team.agree(check_existing());
}

Status DefineMode::check_existing() {
    const std::string& format = file_.options.format;
    if (Status s = find_writable(source_->contents(), writable_); !s.ok()) {
        s.text = fmt::format("{}: {}", file_.path, s.text);
        return s;
    }
    if (format != "auto" && format != name_of(source_->contents().format))
        return failure(TW_ESETTING, "{}: setting format is {}, but the file has format {}",
                       file_.path, format, name_of(source_->contents().format));
    if (source_->contents().format == Format::zarr && format != "zarr")
        return failure(TW_ESETTING, "{}: to append to a Zarr store, set format=zarr", file_.path);
    return check_whole();
}

/// Checks that the file contains all data that its header describes. Otherwise missing data would
/// appear to exist once the file grows.
Status DefineMode::check_whole() const {
    const std::int64_t records = source_->records();
    for (const Variable& v : writable_.variables) {
        if (v.record && records == 0) continue;
        const int at = source_->definitions().find_variable(v.name);
        Status status = source_->check(at, v.record ? records - 1 : 0);
        if (status.ok()) continue;
        reword(status, "{}: variable '{}': {}", file_.path, OfVariable{v.name}, status.text);
        return status;
    }
    return {};
}

/// Checks that define mode has not ended. @param what  what the program does
Status DefineMode::check(const char* what) const {
    if (Status status = file_.usable(); !status.ok()) return status;
    if (ended_)
        return failure(TW_ESTATE,
                       "{}: {} after the definitions had ended (with tw_enddef or the first "
                       "tw_put, tw_end_step or tw_sync)",
                       file_.path, what);
    return {};
}

Status DefineMode::define(Definitions definitions, Holdings holdings) {
    if (Status s = check("definitions were given"); !s.ok()) return s;
    file_.definitions = std::move(definitions);
    file_.holdings = std::move(holdings);
    return {};
}

Status DefineMode::set_variable(const std::string& variable, const std::string& settings) {
    if (Status s = check("tw_set_var was called"); !s.ok()) return s;
    if (!variable.empty())
        return detail::set_variable(file_.definitions, file_.path, variable, settings);
    HeaderPadding spacing = file_.options.spacing;
    Status s = set_spacing(settings, spacing);
    if (s.ok())
        file_.options.spacing = spacing;
    else
        s.text = file_.path + ": " + s.text;
    return s;
}

Status DefineMode::define_dimension(const std::string& name, std::int64_t length) {
    if (Status s = check("a dimension was defined"); !s.ok()) return s;
    return detail::define_dimension(file_.definitions, file_.path, name, length);
}

Status DefineMode::define_variable(const std::string& name, int type, const std::string& dims,
                                   std::shared_ptr<const Decomposition> decomposition) {
    if (Status s = check("a variable was defined"); !s.ok()) return s;
    if (source_) {
        // An existing file determines the name of the record dimension.
        const Definitions& its = source_->definitions();
        const std::vector<std::string> names = split_names(dims);
        const int dim = names.empty() ? -1 : its.find_dim(names.front());
        if (dim >= 0 && its.is_record_dim(dim) && file_.definitions.find_dim(names.front()) < 0 &&
            file_.definitions.record_dim() < 0)
            if (Status s = define_dimension(names.front(), TW_UNLIMITED); !s.ok()) return s;
    }
    const auto find_length = [this](const std::string& dim, std::int64_t& length) {
        return file_.session.find_length(dim, length);
    };
    return define_held_variable(file_.definitions, file_.holdings, file_.path, file_.team.rank(),
                                name, type, dims, std::move(decomposition), find_length,
                                file_.options.wording);
}

Status DefineMode::put_attribute(const std::string& variable, Attribute attribute) {
    if (Status s = file_.usable(); !s.ok()) return s;
    if (ended_) return put_late_attribute(variable, std::move(attribute));
    Definitions& definitions = file_.definitions;
    int at = -1;
    if (Status s = check_attribute(definitions, file_.path, variable, attribute, at); !s.ok())
        return s;
    (at < 0 ? definitions.attributes : definitions.variables[at].attributes)
        .set(std::move(attribute));
    return {};
}

/// Sets an attribute after define mode has ended.
Status DefineMode::put_late_attribute(const std::string& variable, Attribute attribute) {
    int at = -1;
    if (Status s = check_attribute(file_.definitions, file_.path, variable, attribute, at); !s.ok())
        return s;
    if (at >= 0 && attribute.name == "_FillValue")
        return failure(TW_ESTATE, "{}: _FillValue of '{}' must be set before the definitions end",
                       file_.path, variable);
    if (!has_new_types(file_.format) && attribute.type > TW_DOUBLE)
        return failure(TW_EFORMAT,
                       "{}: attribute '{}' has type {}, which format {} does not support; use {}",
                       file_.path, attribute.name, name_of(attribute.type), name_of(file_.format),
                       is_netcdf4(file_.format) ? "netcdf4" : "cdf5");
    if (file_.format == Format::zarr && !is_json(attribute, nullptr))
        return failure(TW_EFORMAT,
                       "{}: attribute '{}': format zarr permits only texts of UTF-8 without NUL",
                       file_.path, attribute.name);
    file_.late.emplace_back(at, std::move(attribute));
    return {};
}

Status DefineMode::set_record(std::int64_t record, int later) {
    if (Status s = check("tw_set_record was called"); !s.ok()) return s;
    const IndexConvention& wording = file_.options.wording;
    if (!source_)
        return failure(
            TW_ESTATE,
            "{}: tw_set_record is only for mode=append; the first record of a new file is {}",
            file_.path, wording.index(0));
    if (record < 0 || record > source_->records())
        return failure(
            TW_EBOUNDS,
            "{}: tw_set_record: the first step cannot write record {}; the file has {} records",
            file_.path, OfRecord{wording.index(record)}, source_->records());
    if (later != TW_KEEP_LATER && later != TW_DROP_LATER)
        return failure(TW_EARG, "{}: tw_set_record: invalid value {} for argument 'later'",
                       file_.path, later);
    file_.existing.first = record;
    file_.existing.kept = later == TW_DROP_LATER ? record : source_->records();
    return {};
}

/// Returns lines of text that describe everything that must be defined alike on all ranks.
std::vector<std::string> DefineMode::lines() const {
    const IndexConvention& wording = file_.options.wording;
    std::vector<std::string> lines = describe(file_.definitions, file_.holdings, wording);
    if (source_)
        lines.push_back(fmt::format("first record {}, {} kept", wording.index(file_.existing.first),
                                    file_.existing.kept));
    if (const HeaderPadding& s = file_.options.spacing; s != HeaderPadding{})
        lines.push_back(
            fmt::format("{} bytes after the header, variables at {}, {} bytes after "
                        "them, records at {}",
                        s.header_pad, s.var_align, s.var_pad, s.record_align));
    for (const auto& [variable, attribute] : file_.late)
        lines.push_back(describe(variable < 0 ? "" : file_.variable(variable).name, attribute));
    return lines;
}

std::int64_t DefineMode::hash() const { return hash_of_lines(lines()); }

Status DefineMode::compare() {
    if (file_.options.first_attributes)
        take_first_attributes(file_.team, file_.definitions, &file_.late);
    return check_alike(file_.team, file_.path, lines());
}

namespace {

bool same(const Packing& a, const Packing& b) {
    return a.codec == b.codec && a.level == b.level && a.shuffle == b.shuffle &&
           a.quantize == b.quantize && a.digits == b.digits;
}

}  // namespace

/// Replaces the definitions by those of the existing file, with its order and numbers, on all
/// ranks.
Status DefineMode::adopt_existing(std::vector<Remark>& remarks) {
    const Definitions& its = source_->definitions();
    for (const Variable& v : file_.definitions.variables) {
        const int at = its.find_variable(v.name);
        if (at < 0 || writable_.find_variable(v.name) >= 0) continue;
        return failure(TW_EDIFFERENT,
                       "the model defines variable '{}', which cannot be written: {}",
                       OfVariable{v.name}, source_->check(at, 0).text);
    }
    Definitions all = writable_;
    if (Status s = adopt(file_.definitions, all, file_.late, file_.options.wording); !s.ok())
        return s;
    if (file_.existing.kept < source_->records())
        if (const std::string& other = source_->contents().other_records; !other.empty())
            return failure(TW_EUNSUPPORTED,
                           "records cannot be dropped: variable '{}', which the library does not "
                           "write, has records",
                           OfVariable{other});
    file_.options.format = name_of(source_->contents().format);
    if (Status s = choose_format(file_.options, file_.definitions, file_.format, remarks); !s.ok())
        return s;
    std::vector<std::string> otherwise;
    for (const Variable& v : file_.definitions.variables) {
        const Packing& stored = all.variables[all.find_variable(v.name)].packing;
        if (v.packing.filtered() && !same(v.packing, stored)) otherwise.push_back(v.name);
    }
    if (!otherwise.empty())
        remarks.push_back({Remark::Level::info,
                           fmt::format("variables whose filters are those of the file, not those "
                                       "of their settings: {}",
                                       joined(otherwise, ", "))});
    Holdings holdings;  // holdings, in the order of the file's variables
    for (const Variable& v : all.variables)
        holdings.push_back(file_.holdings[file_.definitions.find_variable(v.name)]);
    file_.holdings = std::move(holdings);
    file_.definitions = std::move(all);
    return {};
}

Status DefineMode::settle() {
    std::vector<Remark> remarks;
    Status status;
    if (source_)
        status = file_.team.agree(adopt_existing(remarks));
    else  // depends only on values that are the same on all ranks
        status = choose_format(file_.options, file_.definitions, file_.format, remarks);
    if (!status.ok()) status.text = file_.path + ": " + status.text;
    if (status.ok() && file_.team.rank() == 0) report(remarks, file_.path);
    return status;
}

}  // namespace thalweg::detail
