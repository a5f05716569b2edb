// SPDX-License-Identifier: Apache-2.0
#include "dataset/variable_files.hpp"

#include "zarr/shards.hpp"

namespace thalweg::detail {

Status VariableFiles::against(const char* other) const {
    return failure(TW_ESETTING, "{}: {} is not possible with files={}", file_.path, other,
                   file_.options.shards ? "zarr" : "variable");
}

Status VariableFiles::check() const {
    const FileOptions& o = file_.options;
    if (!o.by_variable) return {};
    if (o.append) return against("mode=append");
    if (o.references != "no") return against("zarr_references");
    if (!o.stream.empty()) return against("zarr_stream");
    if (o.stripe_count >= 0 || o.stripe_size >= 0) return against("stripes");
    if (o.storage != "auto" && o.storage != "posix")
        return against(fmt::format("storage={}", o.storage).c_str());
    if (is_netcdf4(format_of(o.format))) return against(fmt::format("format={}", o.format).c_str());
    return {};
}

Status VariableFiles::check_definitions() const {
    if (!file_.options.by_variable || !file_.definitions.variables.empty()) return {};
    return failure(TW_ESETTING, "{}: files=variable needs a variable, but none is defined",
                   file_.path);
}

Status VariableFiles::make_shards() const {
    if (!file_.options.shards) return {};
    return file_.team.agree(alone([&]() -> Status {
        return file_.team.rank() == 0
                   ? make_zarr_store(file_.data_path, file_.definitions, file_.options.durable)
                   : Status{};
    }));
}

}  // namespace thalweg::detail
