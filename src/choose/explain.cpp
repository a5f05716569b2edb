// SPDX-License-Identifier: Apache-2.0
#include "choose/explain.hpp"

#include "storage/storage.hpp"

namespace thalweg::detail {

namespace {

std::string size_text(std::int64_t bytes) { return bytes < 0 ? "auto" : fmt::format("{}", bytes); }

/// Describes the location of a file, for example "file system ext4, 2 nodes".
std::string place_of(const Surroundings& around) {
    return fmt::format("file system {}, {} node{}", around.file_system.name, around.nodes,
                       around.nodes == 1 ? "" : "s");
}

/// Returns the last remark on a setting, or an empty text.
std::string remark_on(const Choice& choice, const std::string& setting, const std::string& chosen) {
    std::string found;
    for (const Remark& r : choice.remarks)
        if (r.text.starts_with(setting + "=") || r.text.starts_with(setting + " ") ||
            r.text.ends_with(" " + setting + "=" + chosen))
            found = r.text;
    return found;
}

std::string why_format(const FileOptions& asked, bool appended, Format format) {
    if (appended) return "the format of the file that is appended to";
    if (asked.storage == "netcdf4") return "setting storage is netcdf4";
    if (format == Format::cdf2) return "every netCDF library reads it, and it can hold the file";
    return "CDF-2 cannot hold the file: it has too large variables or new types";
}

std::string why_writers(Format format, const Surroundings& around, const Choice& choice) {
    if (const std::string said = remark_on(choice, "writers", choice.writers); !said.empty())
        return said;
    if (choice.method == "rows" || choice.method == "columns")
        return fmt::format("at most one for each process {}",
                           choice.method == "rows" ? "row" : "column");
    if (is_netcdf4(format) && choice.writers == fmt::format("{}/node", around.ranks))
        return "the writers compress, so all ranks do";
    return fmt::format("{}: {}", place_of(around),
                       around.file_system.sharing == Sharing::parallel
                           ? "a parallel file system serves several writers of a node"
                           : "one writer of a node reaches the speed of a local disk");
}

std::string why_alignment(const Surroundings& around) {
    if (around.file_system.sharing != Sharing::parallel) return place_of(around);
    return place_of(around) + (around.stripe_size > 0 ? ": its stripe size" : ": its block size");
}

}  // namespace

std::vector<ChosenSetting> explain(const FileOptions& asked, bool appended, Format format,
                                   const Surroundings& around, const Choice& choice) {
    std::vector<ChosenSetting> rows;
    const auto add = [&](const char* name, const std::string& was, const std::string& is,
                         const std::string& reason) {
        rows.push_back({name, was, is, was == is ? "" : reason});
    };
    const std::string method = remark_on(choice, "method", choice.method);
    const std::string storage = remark_on(choice, "storage", choice.storage);
    add("format", asked.format, name_of(format), why_format(asked, appended, format));
    add("storage", asked.storage, choice.storage,
        is_netcdf4(format) ? "the format is netCDF-4"
        : !storage.empty() ? storage
                           : place_of(around) + ": plain writes to disjoint ranges");
    add("method", asked.method, choice.method,
        method.empty() ? "each writer writes contiguous bytes of a record" : method);
    if (choice.service != "servers" && choice.method != "direct" && choice.method != "serial")
        add("writers", asked.writers, choice.writers, why_writers(format, around, choice));
    add("service", asked.service, choice.service, choice.why_service);
    add("alignment", size_text(asked.alignment), size_text(choice.alignment),
        why_alignment(around));
    return rows;
}

}  // namespace thalweg::detail
