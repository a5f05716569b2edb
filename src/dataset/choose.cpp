// SPDX-License-Identifier: Apache-2.0
#include "dataset/choose.hpp"

#include "comm/log.hpp"
#include "comm/text.hpp"
#include "storage/netcdf4/chunk_grid.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

namespace {

/// Programs that leave the format to their users may say how netCDF-4 is to store variables.
void remark_ignored(const Definitions& definitions, Format format, std::vector<Remark>& remarks) {
    std::vector<std::string> ignored;
    for (const Variable& v : definitions.variables) {
        std::vector<std::string> settings;
        for (const auto& [name, value] : v.settings)
            if (name != "fill") settings.push_back(name + "=" + value);
        if (!settings.empty())
            ignored.push_back(fmt::format("'{}' ({})", v.name, joined(settings, "; ")));
    }
    if (ignored.empty()) return;
    const std::size_t more = ignored.size() > 8 ? ignored.size() - 8 : 0;
    ignored.resize(ignored.size() - more);
    remarks.push_back(
        {Remark::Level::info,
         fmt::format("format {} has no chunks or filters; ignoring settings of variables: {}{}",
                     name_of(format), joined(ignored, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more))});
}

void choose_storage(const FileOptions& options, Format format, const Surroundings& around,
                    Choice& choice) {
    const std::string storage =
        options.storage == "auto" && is_netcdf4(format) ? "netcdf4" : options.storage;
    const WayOfWriting way =
        choose_way(around.file_system, around.nodes,
                   {storage, options.writers, options.alignment, around.stripe_size, ""});
    if (!way.warning.empty()) choice.remarks.push_back({Remark::Level::warning, way.warning});
    choice.storage = way.storage;
    choice.writers = way.writers;
    choice.writers_asked = options.writers != "auto" || way.writers == "1";
    choice.alignment = way.alignment;
}

/// With a reason against a service, the file is written inline.
void choose_service(const FileOptions& options, const Surroundings& around, Choice& choice) {
    choice.service = options.service;
    if (options.service == "inline") return;
    if (options.service == "auto") {
        choice.service = around.servers ? "servers" : "background";
        choice.remarks.push_back(
            {Remark::Level::info, fmt::format("service {}: {} set aside as servers", choice.service,
                                              around.servers ? "ranks are" : "no ranks are")});
    }
    std::string reason;
    if (make_storage(choice.storage)->collective())
        reason = fmt::format("storage {} writes collectively, so the model's own calls must write",
                             choice.storage);
    else if (choice.method == "direct")
        reason = "with method=direct every rank writes from its own arrays";
    else if (choice.service == "servers" && !around.servers)
        reason = "no ranks are set aside as servers (setting servers of tw_init)";
    if (reason.empty()) return;
    choice.remarks.push_back(
        {Remark::Level::info,
         fmt::format("service={} is not possible, using inline: {}", choice.service, reason)});
    choice.service = "inline";
}

/// Of chunks that have to be whole, every writer needs all parts; it has those of a file of its
/// own. They are filtered by the writers, so that there are as many as ranks; with a service, one.
void choose_packed_method(const FileOptions& options, const Definitions& definitions, Format format,
                          const Surroundings& around, Choice& choice) {
    const bool in_files = options.tile_files && choice.method == "tiles";
    if (!is_netcdf4(format) || !needs_whole_chunks(definitions) || in_files) return;
    const bool in_calls = choice.service == "inline";
    const std::string method = in_calls && choice.method != "serial" ? "record" : "serial";
    if (method != choice.method)
        choice.remarks.push_back(
            {Remark::Level::info,
             fmt::format("method={} is not possible, using {}: {}", choice.method, method,
                         in_calls ? "each writer needs whole chunks"
                                  : "with a service, one writer compresses all chunks")});
    choice.method = method;
    if (!choice.writers_asked) choice.writers = fmt::format("{}/node", around.ranks);
}

}  // namespace

void report(const std::vector<Remark>& remarks, const std::string& path) {
    for (const Remark& remark : remarks) {
        if (remark.level == Remark::Level::warning)
            log::warn("{}: {}", path, remark.text);
        else
            log::info("{}: {}", path, remark.text);
    }
}

Status choose_format(const FileOptions& options, Definitions& definitions, Format& format,
                     std::vector<Remark>& remarks) {
    const bool netcdf4 = options.format == "auto" && options.storage == "netcdf4";
    format = netcdf4                    ? Format::netcdf4
             : options.format == "auto" ? choose_format(definitions)
                                        : format_of(options.format);
    if (options.storage != "auto" && (options.storage == "netcdf4") != is_netcdf4(format))
        return failure(TW_ESETTING, "storage={} cannot write format {}", options.storage,
                       name_of(format));
    if (Status status = check_format(definitions, format); !status.ok()) return status;
    if (is_netcdf4(format)) {
        for (Variable& v : definitions.variables)
            if (Status s = choose_packing(definitions, options.packing, v); !s.ok()) return s;
        return {};
    }
    for (const auto& [name, value] : options.packing)
        if (value != "0" && value != "no" && value != "auto")
            remarks.push_back(
                {Remark::Level::warning, fmt::format("setting {}={} has no effect in format {}",
                                                     name, value, name_of(format))});
    remark_ignored(definitions, format, remarks);
    return {};
}

Choice choose(const FileOptions& options, const Definitions& definitions, Format format,
              const Surroundings& around) {
    Choice choice;
    choose_storage(options, format, around, choice);
    choice.method = options.method == "auto" ? "record" : options.method;
    choose_service(options, around, choice);
    choose_packed_method(options, definitions, format, around, choice);
    return choice;
}

}  // namespace thalweg::detail
